import CCurl
import Glibc
import Testing

@testable import HTTP

/// The client's decisions, without a client.
@Suite struct ClientValueTests {
    private func target(_ url: String) throws -> Destination {
        try Destination(url, schemes: ["http": 80, "https": 443, "wss": 443])
    }

    @Test func `a URL is taken apart`() throws {
        let plain = try target("HTTP://Vault.Example/a?b=c#d")
        #expect(plain.origin == "http://vault.example:80")
        #expect(plain.path == "/a?b=c")
        #expect(try target("https://[::1]:8443").origin == "https://[::1]:8443")
        #expect(try target("https://h?x").path == "/?x")
    }

    private func reason(_ kind: cc_ending, system: Int32, lacking: Int32?) -> ClientError.Reason {
        let report = cc_report(
            uploaded: 0,
            elapsed_microseconds: 0,
            system_error: Int(system)
        )
        return Ending(kind: kind, report: { report }, text: "", lack: { lacking })
            .reason(allowance: .seconds(1))
    }

    @Test func `what this host has no descriptor left for is nobody else's fault`() {
        let kinds = [
            CC_UNRESOLVABLE, CC_PROXY_UNRESOLVABLE, CC_UNREACHABLE, CC_TLS_FAILED, CC_LOCAL,
        ]
        for kind in kinds {
            #expect(reason(kind, system: 0, lacking: EMFILE) == .exhausted(code: EMFILE))
        }
        #expect(reason(CC_UNREACHABLE, system: ENFILE, lacking: nil) == .exhausted(code: ENFILE))
        #expect(reason(CC_UNRESOLVABLE, system: 0, lacking: nil) == .unresolvable(.server))
        #expect(reason(CC_UNREACHABLE, system: 0, lacking: nil) == .unreachable(code: 0))
        let refused = reason(CC_UNREACHABLE, system: ECONNREFUSED, lacking: EMFILE)
        #expect(refused == .unreachable(code: ECONNREFUSED), "Somebody has said so.")
        #expect(reason(CC_LOST, system: 0, lacking: EMFILE) == .connectionLost)
    }

    @Test func `proxies come from the environment, the dangerous variable left out`() {
        #expect(Proxies(environment: ["HTTP_PROXY": "http://evil"]).http == nil)
        #expect(Proxies(environment: ["http_proxy": "p:1"]).http == "p:1")
        #expect(Proxies(environment: ["HTTPS_PROXY": "p:1"]).https == "p:1")
        let all = Proxies(environment: ["ALL_PROXY": "a", "https_proxy": "s", "no_proxy": "x, y"])
        #expect(all == Proxies(http: "a", https: "s", exceptions: ["x", "y"]))
    }

    @Test(arguments: [
        ("http://a.example/", "a.example", true), ("http://b.a.example/", "a.example", true),
        ("http://b.a.example/", ".a.example", true), ("http://ba.example/", "a.example", false),
        ("http://a.example:81/", "a.example:80", false),
        ("http://a.example/", "A.Example:80", true),
        ("http://10.1.2.3/", "10.0.0.0/8", true), ("http://11.1.2.3/", "10.0.0.0/8", false),
        ("http://[fd00::1]/", "fd00::/8", true), ("http://[::1]/", "::1", true),
        ("http://[::1]:80/", "[::1]:80", true), ("http://x/", "*", true), ("http://x/", "", false),
    ])
    func `exceptions are reached directly`(_ url: String, _ exception: String, _ isDirect: Bool)
        throws
    {
        let proxies = Proxies(http: "proxy", https: nil, exceptions: [exception])
        #expect((proxies.proxy(for: try target(url)) == nil) == isDirect)
    }

    @Test(arguments: [
        ("https://h/a", "/b", Redirect.follow(url: "https://h/b", keepsSecrets: true)),
        ("https://h/a/", "b", .follow(url: "https://h/a/b", keepsSecrets: true)),
        ("https://h/a", "https://g/", .follow(url: "https://g/", keepsSecrets: false)),
        ("https://h/a", "https://h:444/", .follow(url: "https://h:444/", keepsSecrets: false)),
        ("http://h/a", "https://h/", .follow(url: "https://h/", keepsSecrets: false)),
        ("https://h/a", "http://h/", .refuse("it redirects from https to http")),
        ("https://h/a", "file:///etc/passwd", .refuse("it redirects to an invalid address")),
        ("https://h/a", "//u:p@g/", .refuse("it redirects to an invalid address")),
    ])
    func `a redirect is judged`(_ url: String, _ location: String, _ expected: Redirect) {
        let status = Status(rawValue: 302)
        #expect(Redirect(after: status, to: location, from: url, method: .get, left: 1) == expected)
        for method in [Method.post, .put, .delete, .patch] {
            #expect(
                Redirect(after: status, to: location, from: url, method: method, left: 1) == .stay
            )
        }
        #expect(Redirect(after: status, to: location, from: url, method: .get, left: 0) == .stay)
        #expect(Redirect(after: .ok, to: location, from: url, method: .get, left: 1) == .stay)
    }

    @Test func `places are given in order, to each origin its own`() {
        var admission = Admission(limit: 1)
        let late = Duration.seconds(100)
        var goAtOnce = [admission.arrive(1, at: "a", deadline: late)]
        goAtOnce.append(admission.arrive(2, at: "a", deadline: late))
        goAtOnce.append(admission.arrive(3, at: "a", deadline: .seconds(1)))
        goAtOnce.append(admission.arrive(4, at: "a", deadline: late))
        goAtOnce.append(admission.arrive(5, at: "b", deadline: late))
        #expect(goAtOnce == [true, false, false, false, true])
        #expect(admission.waitingCount == 3)

        let didWait = [admission.withdraw(2), admission.withdraw(1)]
        #expect(didWait == [true, false])
        #expect(admission.alarm == .seconds(1))
        let expired = [admission.expire(at: .milliseconds(999)), admission.expire(at: .seconds(1))]
        #expect(expired == [nil, 3])
        let next = ["a", "a", "b"].map { origin in
            admission.leave(origin)
            return admission.next(at: origin)
        }
        #expect(next == [4, nil, nil])
        let isFree = admission.arrive(6, at: "a", deadline: late)
        #expect(isFree)
    }

    /// An origin to which the first of three goes ahead of the others, who would share its connection.
    private func origin(limit: Int) -> Admission {
        var admission = Admission(limit: limit)
        let late = Duration.seconds(100)
        let goAtOnce = (1...3).map {
            admission.arrive($0, at: "a", deadline: late, patience: .seconds(1))
        }
        #expect(goAtOnce == [true, false, false])
        #expect(admission.isAwaited("a"))
        #expect(admission.alarm == .seconds(1))
        return admission
    }

    @Test func `whoever may share a connection waits until it is there`() {
        var admission = origin(limit: 3)
        let early = admission.next(at: "a")
        #expect(early == nil)
        admission.stopAwaiting("a")
        let next = (1...3).map { _ in admission.next(at: "a") }
        #expect(next == [2, 3, nil])
        let hasPlace = admission.arrive(4, at: "a", deadline: .seconds(9), patience: .seconds(1))
        #expect(!hasPlace)
        #expect(admission.alarm == .seconds(9), "Nobody is waited for.")
    }

    @Test func `whoever waits for a connection of another goes alone when that takes long`() {
        var admission = origin(limit: 2)
        let early = admission.losePatience(at: .milliseconds(999))
        #expect(early == nil)
        let slow = admission.losePatience(at: .seconds(1))
        #expect(slow == "a")
        let next = (1...2).map { _ in admission.next(at: "a") }
        #expect(next == [2, nil], "There is one place left.")
    }

    @Test func `whoever waits for a connection goes when there will be none`() {
        var admission = origin(limit: 3)
        admission.leave("a")
        let next = (1...3).map { _ in admission.next(at: "a") }
        #expect(next == [2, 3, nil])
        #expect(admission.alarm == nil)
    }

    private func head(_ lines: String...) -> (ResponseHead, [ResponseHead.Line]) {
        var head = ResponseHead(byteLimit: 100, fieldLimit: 3)
        let results = lines.map { line in
            Array((line + "\r\n").utf8).withUnsafeBytes { head.take($0) }
        }
        return (head, results)
    }

    @Test func `an interim head is not the head`() {
        let (head, results) = head(
            "HTTP/1.1 103 Early: x",
            "A: 1",
            "",
            "HTTP/1.1 200 a: b",
            "B:  2 ",
            ""
        )
        #expect(results == [.more, .more, .more, .more, .more, .end])
        #expect(head.status == .ok)
        #expect(head.headers == ["B": "2"])
    }

    @Test func `trailers count and are not kept`() {
        let (head, results) = head(
            "HTTP/1.1 200 OK",
            "",
            "A: 1",
            "A: 1",
            "A: 1",
            "A: 1",
            "A: 1",
            "A: 1"
        )
        #expect(results.contains(.tooLarge))
        #expect(head.headers == [:])
    }
}
