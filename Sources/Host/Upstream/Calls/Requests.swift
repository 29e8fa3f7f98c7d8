import HTTP
import JSON

extension Upstream {
    /// The call as it goes out.
    ///
    /// Only files are fetched through redirects: they lie where their address leads, and no token
    /// goes there. Any other redirect is for the operator to see, because a write must not be sent on,
    /// and a read that is sent on comes back without its token.
    func request(for call: Call, _ manner: Manner, token: String?) -> Client.Request {
        var request = Client.Request(
            call.method,
            url(of: call),
            headers: headers(of: call, token: token),
            body: call.body,
            operation: call.operation.words
        )
        request.bodyLimit = call.bodyLimit
        request.redirectLimit = call.expectation == .file ? 3 : 0
        // What takes its time by nature, a file or a whole vault, is given it whoever waits.
        if let deadlines = call.deadlines {
            request.deadlines = deadlines
        } else if let deadline = manner.deadline {
            var deadlines = Client.Deadlines()
            deadlines.total = deadline
            request.deadlines = deadlines
        }
        return request
    }

    func url(of call: Call) -> String {
        switch call.base {
        case .api: bases.api + call.path
        case .identity: bases.identity + call.path
        case .elsewhere: call.path
        }
    }

    private func headers(of call: Call, token: String?) -> Headers {
        // A store of files learns nothing of us.
        let isOurs = call.base != .elsewhere || call.isSigned
        var headers = isOurs ? identity.headers : Headers()
        if call.method == .get && isOurs {
            headers["Cache-Control"] = "no-store"
            headers["Pragma"] = "no-cache"
        }
        for field in call.headers.fields { headers[field.name] = field.value }
        if let token { headers["Authorization"] = "Bearer \(token)" }
        return headers
    }
}

extension Call {
    /// A call whose body is JSON.
    func sending(_ value: some JSON.Writable) -> Call {
        sending(Array(JSON.Raw(value, capacity: 1_024).bytes))
    }

    /// A call whose body is JSON that was made before.
    func sending(_ json: [UInt8]) -> Call {
        var call = self
        call.body = .bytes(json)
        call.headers["Content-Type"] = "application/json; charset=utf-8"
        return call
    }

    /// A call whose answer may be as large as a whole vault.
    var large: Call {
        var call = self
        call.bodyLimit = 1 << 30
        var deadlines = Client.Deadlines()
        deadlines.total = .seconds(300)
        call.deadlines = deadlines
        return call
    }
}
