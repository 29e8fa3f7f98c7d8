import Testing

@testable import HTTP
@testable import Host

/// The order in which the gate looks, tried over everything it looks at.
struct ApproachTests {
    private typealias Refusal = Ruling.Refusal

    private static let doors: [Approach.Door] = [
        .unix(isOwn: true), .unix(isOwn: false), .tcp(isOwnHost: false, hasOrigin: false),
        .tcp(isOwnHost: false, hasOrigin: true), .tcp(isOwnHost: true, hasOrigin: true),
        .tcp(isOwnHost: true, hasOrigin: false),
    ]
    private static let credentials: [Approach.Credential] =
        [.none, .unknown] + Caller.Scope.allCases.map { .known(Caller($0, accountID: "a")) }

    static let all: [Approach] = doors.flatMap { door in
        credentials.flatMap { credential in
            Caller.Scope.allCases.flatMap { needed in
                [(true, true), (true, false), (false, true), (false, false)].map { isRoot, isOpen in
                    Approach(
                        door: door,
                        isRoot: isRoot,
                        isOpen: isOpen,
                        credential: credential,
                        needed: needed
                    )
                }
            }
        }
    }

    @Test func `there is a ruling for every approach, and it is the first that applies`() {
        #expect(Self.all.count == 6 * 5 * 3 * 4)
        for approach in Self.all {
            #expect(approach.ruling == expected(approach), "\(approach)")
        }
    }

    /// The order of the specification, written down once more and in another way.
    private func expected(_ approach: Approach) -> Ruling {
        var refusals: [Refusal] = []
        var caller: Caller?
        switch approach.door {
        case .unix(let isOwn):
            if !isOwn { refusals.append(.foreignUser) }
            caller = Caller(.admin)
        case .tcp(let isOwnHost, let hasOrigin):
            if !isOwnHost { refusals.append(.foreignHost) }
            if hasOrigin { refusals.append(.foreignOrigin) }
        }
        if approach.isRoot { refusals.append(.nothingThere) }
        if caller == nil {
            switch approach.credential {
            case .known(let known): caller = known
            case .none where !approach.isOpen: refusals.append(.noToken)
            case .unknown where !approach.isOpen: refusals.append(.wrongToken)
            case .none, .unknown: caller = Caller(.admin)
            }
        }
        let order: [Caller.Scope] = [.read, .write, .admin]
        if let caller, let has = order.firstIndex(of: caller.scope),
            let needs = order.firstIndex(of: approach.needed), has < needs
        {
            refusals.append(.scopeTooSmall)
        }
        return refusals.first.map { .refused($0) } ?? caller.map { .admitted($0) }
            ?? .refused(.noToken)
    }

    @Test func `a token that is right keeps its account and its scope`() {
        let caller = Caller(.write, accountID: "a")
        let approach = Approach(
            door: .tcp(isOwnHost: true, hasOrigin: false),
            isRoot: false,
            isOpen: true,
            credential: .known(caller),
            needed: .read
        )
        #expect(approach.ruling == .admitted(caller))
    }

    @Test(arguments: [
        ("localhost:8087", true), ("LOCALHOST:8087", true), ("127.0.0.1:8087", true),
        ("[::1]:8087", true), ("vault.example:8087", true), ("VAULT.example:8087", true),
        ("localhost", false), ("localhost:8088", false), ("evil.example:8087", false),
        ("127.0.0.1.evil.example:8087", false), ("", false), (" localhost:8087", false),
    ])
    func `a listener answers to its own names with its port`(_ host: String, _ isOwn: Bool) {
        #expect(HostNames.at("Vault.Example", port: 8_087).admit(host) == isOwn)
        #expect(HostNames.any.admit(host))
    }

    @Test func `no name at all is nobody's, and the usual ports may be left out`() {
        #expect(!HostNames.at("localhost", port: 8_087).admit(nil))
        #expect(HostNames.any.admit(nil))
        #expect(HostNames.at("127.0.0.1", port: 80).admit("localhost"))
        #expect(HostNames.at("127.0.0.1", port: 443).admit("127.0.0.1"))
        #expect(HostNames.at("::1", port: 9_000).admit("[::1]:9000"))
        #expect(HostNames.at("fe80::7", port: 9_000).admit("[fe80::7]:9000"))
    }

    @Test func `a listener that was given a name answers to its address as well`() throws {
        // As a machine's own name leads to, where that is in its list of hosts.
        let address = SocketAddress(host: "127.0.1.1", port: 8_087)
        let listening = try Host.Listening([.tcp(host: "localhost", port: 0)])
        let open: [OpenListener] = listening.listeners.map {
            OpenListener(door: Door(name: $0.name, kind: .tcp), address: .tcp(address))
        }
        let names = try #require(listening.names(open).values.first)
        #expect(names.admit("127.0.1.1:8087") && names.admit("localhost:8087"))
        #expect(!names.admit("127.0.1.2:8087"))
    }

    @Test func `failures are slowed down together, and forgotten with time`() {
        var throttle = FailureThrottle()
        for _ in 0..<20 { #expect(throttle.fail(at: .zero) == nil) }
        #expect(throttle.fail(at: .zero) == .seconds(1))
        #expect(throttle.fail(at: .milliseconds(100)) == .seconds(1))
        #expect(throttle.fail(at: .milliseconds(1_100)) == nil)
        #expect(throttle.fail(at: .milliseconds(1_100)) != nil)
        for _ in 0..<20 { #expect(throttle.fail(at: .seconds(3_600)) == nil) }
        #expect(throttle.fail(at: .seconds(3_600)) != nil)
    }
}
