import CHub
import HTTP

extension Routes {
    /// Where a device asks to be told what happens. With the answer, HTTP ends.
    mutating func addHub() {
        open(.get, Self.hubPath, .hub) { call, world throws(Refusal) in
            guard call.method == .get, let answer = WebSocketGreeting.answer(to: call.headers)
            else { throw .noWebSocket }
            guard world.session(ofToken: call.hubToken, at: call.now) != nil else {
                throw .unauthorized
            }
            var reply = Reply(.switchingProtocols)
            reply.headers["Sec-WebSocket-Accept"] = answer
            return reply
        }
    }

    static let hubPath = "/notifications/hub"
}

extension Hub {
    /// Takes the connection over, if the answer says that something else than HTTP comes now.
    func answer(_ response: Response, _ session: Session?) -> Response {
        guard response.status == .switchingProtocols, let session else { return response }
        return .upgrade(to: "websocket", headers: response.headers) { connection in
            await self.serve(connection, session)
        }
    }
}

extension Call {
    var hubToken: String { Self.hubToken(target, headers) }

    /// Browsers cannot set headers on a WebSocket, so the token may stand in the address.
    static func hubToken(_ target: Target, _ headers: Headers) -> String {
        let bearer = headers["Authorization"].flatMap {
            $0.hasPrefix("Bearer ") ? String($0.dropFirst(7)) : nil
        }
        return target.query["access_token"] ?? bearer ?? ""
    }
}

/// How a WebSocket begins.
enum WebSocketGreeting {
    /// - Returns: `nil` if the headers ask for none that we speak.
    static func answer(to headers: Headers) -> String? {
        let connection = (headers["Connection"] ?? "").lowercased().split(separator: ",")
        guard headers["Upgrade"]?.lowercased() == "websocket",
            connection.contains(where: { $0.filter { $0 != " " } == "upgrade" }),
            headers["Sec-WebSocket-Version"] == "13", let key = headers["Sec-WebSocket-Key"]
        else { return nil }
        return answer(toKey: key)
    }

    static func answer(toKey key: String) -> String? {
        var answer = [CChar](repeating: 0, count: 29)
        guard chub_accept_key(key, &answer) == 1 else { return nil }
        return String(
            decoding: answer.dropLast().map { UInt8(bitPattern: $0) },
            as: UTF8.self
        )
    }
}
