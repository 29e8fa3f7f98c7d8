import HTTP
import Testing
import Vault

@testable import Host

/// What each answer means, over every status and every kind of body.
struct VerdictTests {
    /// Bodies as they are met, by what they are.
    enum Body: String, CaseIterable {
        case stale, conflict, cipherGone, notOwned, folderGone, attachmentGone, wordy, complaints
        case oauth, framework, problem, otherJSON, list, brokenJSON, page, plain, empty, unlabelled

        var text: String {
            switch self {
            case .stale:
                envelope("The client copy of this cipher is out of date. Resync the client.")
            case .conflict:
                envelope("Organization mismatch. Re-sync if you recently moved this item.")
            case .cipherGone: envelope("Cipher doesn't exist")
            case .notOwned: envelope("Cipher is not owned by user")
            case .folderGone: envelope("Invalid folder")
            case .attachmentGone: envelope("Attachment doesn't exist")
            case .wordy: envelope("Resource not found.")
            case .complaints:
                #"{"message":"The model state is invalid.","object":"error","#
                    + #""validationErrors":{"Name":["Too long."]}}"#
            case .oauth: #"{"error":"invalid_grant","error_description":"no"}"#
            case .framework: #"{"error":{"code":404,"reason":"Not Found","description":"?"}}"#
            case .problem: #"{"title":"Bad","status":400,"errors":{"Name":["Too long."]}}"#
            case .otherJSON: #"{"message":"no Route matched with those values"}"#
            case .list: "[]"
            case .brokenJSON: #"{"object":"cip"#
            case .page: "<!DOCTYPE html><title>Sign in to the hotel's network</title>"
            case .plain: "error code: 1006"
            case .empty: ""
            case .unlabelled: #"  {"object":"cipher"}"#
            }
        }

        var type: String? {
            switch self {
            case .page: "text/html; charset=utf-8"
            case .plain: "text/plain; charset=UTF-8"
            case .empty, .unlabelled: nil
            case .problem: "application/problem+json"
            default: "application/json; charset=utf-8"
            }
        }

        /// Whether the API itself says it, or the framework under it.
        var isAPI: Bool {
            switch self {
            case .otherJSON, .list, .brokenJSON, .page, .plain, .empty, .unlabelled: false
            default: true
            }
        }

        var isFramework: Bool { self == .framework || self == .problem }

        private func envelope(_ message: String) -> String {
            #"{"message":"\#(message)","validationErrors":{"":["\#(message)"]},"object":"error"}"#
        }
    }

    private func judgement(
        _ status: Int,
        _ body: Body,
        _ subject: Subject = .cipher,
        _ expectation: Host.Expectation = .json,
        _ method: Method = .put,
        retryAfter: String? = nil,
        isSigned: Bool = true
    ) -> Judgement {
        var headers = Headers()
        headers["Content-Type"] = body.type
        headers["Retry-After"] = retryAfter
        var call = Call(.updateCipher, method, "/x", about: subject, expecting: expectation)
        call.isSigned = isSigned
        return Judgement(
            status: status,
            headers: headers,
            body: Array(body.text.utf8),
            of: call,
            now: 0
        )
    }

    private func reason(_ status: Int, _ body: Body, _ subject: Subject = .cipher) -> Setback
        .Reason?
    {
        guard case .setback(let setback) = judgement(status, body, subject) else { return nil }
        return setback.reason
    }

    @Test
    func
        `G-PLAN1 every status with every body means one thing, and waits or does not as it should`()
    {
        for status in 0...620 {
            for body in Body.allCases {
                for subject in Subject.allCases {
                    check(status, body, subject)
                }
            }
        }
    }

    /// The rules for an edit's first attempt, said in other words than the table's.
    private func check(_ status: Int, _ body: Body, _ subject: Subject) {
        let here = Comment(rawValue: "\(status) \(body) \(subject)")
        let judgement = judgement(status, body, subject)
        let waits: Bool?
        switch judgement {
        case .accepted: waits = nil
        case .throttled: waits = true
        case .setback(let setback): waits = setback.letsAnEditWait
        }
        switch status {
        case 200...299:
            let isJSON = ![Body.page, .plain, .empty].contains(body)
            #expect((judgement == .accepted) == isJSON, here)
            #expect(waits != false, here)
        case 408, 425, 429, 300...399, 500...599: #expect(waits == true, here)
        case 403, 404: #expect(waits == !body.isAPI, here)
        case 407: #expect(waits == true, "A proxy is the way, and not who is asked.")
        case 400...499: #expect(waits == false, here)
        default: #expect(waits == true, here)
        }
    }

    @Test func `an empty 404 is a refusal where older servers have no such call, and nowhere else`()
    {
        for operation in Operation.allCases {
            let call = Call(operation, .put, "/x", about: .cipher)
            let judgement = Judgement(status: 404, headers: [:], body: [], of: call, now: 0)
            guard case .setback(let setback) = judgement else {
                Issue.record("\(operation): \(judgement)")
                continue
            }
            let isNew = [.archiveCipher, .unarchiveCipher].contains(operation)
            #expect(setback.failureClass == (isNew ? .permanent : .batch), "\(operation)")
        }
    }

    @Test func `T-46 that an item is in the trash, or gone, is said without a word`() {
        for body in Body.allCases {
            switch judgement(200, body, .cipher, .silence) {
            case .accepted: #expect(body == .empty, "\(body)")
            case .throttled: Issue.record("\(body)")
            case .setback(let setback):
                #expect(body != .empty && setback.mayHaveLanded, "\(body)")
                #expect(setback.letsAnEditWait, "\(body)")
            }
        }
    }

    @Test func `T-45 an outage stays one whatever its body says`() {
        for body in Body.allCases {
            for status in [500, 501, 502, 504, 520, 530, 599] {
                #expect(reason(status, body) == .unavailable(status: status))
            }
        }
    }

    @Test func `T-43 who says when to come again is left alone until then`() {
        for body in Body.allCases {
            #expect(
                judgement(503, body, retryAfter: "7")
                    == .throttled(RetryAfter(seconds: 7), mayHaveLanded: true)
            )
            #expect(reason(503, body) == .unavailable(status: 503))
            #expect(judgement(429, body) == .throttled(nil, mayHaveLanded: false))
        }
    }

    @Test func `T-42 a stale refusal is known by its words or by being a conflict`() {
        #expect(reason(400, .stale)?.isStale == true)
        #expect(reason(409, .stale)?.isStale == true)
        #expect(reason(409, .empty)?.isStale == true)
        #expect(reason(409, .wordy, .folder)?.isStale == false)
        #expect(reason(400, .conflict)?.isStale == false)
        #expect(reason(404, .stale)?.isStale == false)
    }

    @Test func `row 113, G-A4, T-41 what is missing says so in the words of its server`() {
        #expect(reason(404, .wordy)?.isMissing == true)
        for body in [Body.cipherGone, .notOwned] {
            #expect(reason(400, body)?.isMissing == true)
            #expect(reason(400, body, .file)?.isMissing == true)
            #expect(reason(400, body, .folder)?.isMissing == false)
            #expect(reason(400, body, Subject.none)?.isMissing == false)
        }
        #expect(reason(400, .folderGone, .folder)?.isMissing == true)
        #expect(reason(400, .folderGone)?.isMissing == false, "The item is there, its folder not.")
        #expect(reason(400, .attachmentGone, .file)?.isMissing == true)
        #expect(reason(404, .wordy, Subject.none)?.isMissing == false)
    }

    @Test func `T-41 nothing is missing on the word of a stranger`() {
        for body in Body.allCases where !body.isAPI || body.isFramework {
            #expect(reason(404, body)?.isMissing != true, "\(body)")
        }
        #expect(reason(404, .otherJSON) == .foreign(.answer(status: 404)))
        #expect(reason(404, .page) == .foreign(.page(status: 404)))
    }

    @Test func `P16 a ban page is no refusal`() {
        #expect(reason(403, .page) == .foreign(.page(status: 403)))
        #expect(reason(403, .plain) == .foreign(.page(status: 403)))
        guard case .rejected(let words) = reason(403, .wordy) else {
            Issue.record("A refusal of the API was taken for a ban.")
            return
        }
        #expect(words.status == 403 && words.message == "Resource not found.")
    }

    @Test func `401 means the token, if there was one, and else what its body says`() {
        for body in Body.allCases { #expect(reason(401, body) == .unauthorised, "\(body)") }
        func unsigned(_ body: Body) -> Judgement { judgement(401, body, isSigned: false) }
        guard case .setback(let oauth) = unsigned(.oauth), case .setback(let page) = unsigned(.page)
        else {
            Issue.record("A 401 was accepted.")
            return
        }
        #expect(oauth.rejection?.message == "no")
        #expect(page.reason == .foreign(.page(status: 401)))
    }

    @Test func `T-46 a success in a foreign tongue is none, and may be one all the same`() {
        guard case .setback(let page) = judgement(200, .page),
            case .setback(let empty) = judgement(200, .empty),
            case .setback(let text) = judgement(204, .plain)
        else {
            Issue.record("A portal was believed.")
            return
        }
        #expect(page.reason == .foreign(.page(status: 200)))
        #expect(text.reason == .foreign(.answer(status: 204)))
        #expect(page.mayHaveLanded && empty.mayHaveLanded && text.mayHaveLanded)
        guard case .malformed = empty.reason else {
            Issue.record("Nothing was taken for something.")
            return
        }
    }

    @Test func `where no words are expected, none are needed`() {
        for body in Body.allCases {
            let isForeign = [.page, .plain].contains(body)
            let judgement = judgement(200, body, .cipher, .nothing)
            #expect((judgement == .accepted) == !isForeign, "\(body)")
        }
    }

    @Test func `T-47 a redirect is for the operator, who learns where to but no secret`() {
        var headers: Headers = ["Location": "https://other.example:8443/api/sync?token=secret#x"]
        let call = Call(.sync, .get, "/sync")
        func redirected() -> Setback? {
            Judgement(status: 301, headers: headers, body: [], of: call, now: 0).setback
        }
        #expect(redirected()?.reason == .foreign(.redirect(to: "https://other.example:8443")))
        for location in ["/login", "https://user:word@host/", "", "nonsense"] {
            headers["Location"] = location
            #expect(redirected()?.reason == .foreign(.redirect(to: nil)), "\(location)")
        }
    }

    @Test func `only a write may have landed, and only if the server may have got to it`() {
        func lands(_ status: Int, _ body: Body, _ method: Method = .put) -> Bool {
            switch judgement(status, body, .cipher, .json, method, retryAfter: "1") {
            case .accepted: false
            case .throttled(_, let mayHaveLanded): mayHaveLanded
            case .setback(let setback): setback.mayHaveLanded
            }
        }
        for status in 0...620 {
            for body in Body.allCases {
                #expect(!lands(status, body, .get))
                let mayLand = (200...299).contains(status) || (500...599).contains(status)
                #expect(!lands(status, body) || (mayLand && status != 511), "\(status) \(body)")
            }
        }
        #expect(lands(500, .empty) && lands(503, .page) && lands(200, .page))
    }

    @Test func `the server's own words come through, whoever worded them`() {
        func message(_ body: Body) -> String? {
            judgement(400, body).setback?.rejection?.message
        }
        #expect(message(.complaints) == "Too long.")
        #expect(message(.problem) == "Too long.")
        #expect(message(.oauth) == "no")
        #expect(message(.framework) == "?")
        #expect(message(.otherJSON) == "no Route matched with those values")
        #expect(message(.page) == "Upstream gives no reason (400).")
    }

    @Test func `R-030 the original is kept, but not more than an error has`() {
        let original = judgement(400, .complaints).setback?.rejection?.body
        #expect(original == Array(Body.complaints.text.utf8))
        let long = Array(
            (#"{"object":"error","message":""# + String(repeating: "x", count: 99_999)
                + #""}"#).utf8
        )
        let call = Call(.updateCipher, .put, "/x", about: .cipher)
        let judgement = Judgement(status: 400, headers: [:], body: long, of: call, now: 0)
        #expect(judgement.setback?.rejection?.body.count == 16 << 10)
    }
}

extension Judgement {
    fileprivate var setback: Setback? {
        if case .setback(let setback) = self { setback } else { nil }
    }
}

extension Setback.Reason {
    fileprivate var isStale: Bool { if case .stale = self { true } else { false } }
    fileprivate var isMissing: Bool { if case .missing = self { true } else { false } }
}
