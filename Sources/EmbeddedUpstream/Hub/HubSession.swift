import Bitwarden
import CHub
import HTTP

/// What one connection to the hub has come to. Decides what is sent; sends nothing.
struct HubSession {
    enum Act: Equatable {
        case send([UInt8])
        /// Somebody wants to come in, and says who it is.
        case knock(token: String)
        case close
    }

    private enum Stage: Equatable {
        /// The head of the request is not whole yet.
        case arriving
        case knocking(key: String)
        case open
        case over
    }

    /// How what is told is cut into WebSocket messages.
    enum Cutting: String, Sendable {
        case whole
        /// One message of the hub in two of the WebSocket's.
        case split
        /// With a ping before it in the same one.
        case merged
    }

    private let habits: HubHabits
    private var stage = Stage.arriving
    private var head: [UInt8] = []
    private var frames = WebSocketFrames()
    private var hasShakenHands = false
    /// Who is at the other end, once that is known.
    private(set) var session: Session?

    init(_ habits: HubHabits) {
        self.habits = habits
    }

    mutating func received(_ bytes: [UInt8]) -> [Act] {
        switch stage {
        case .arriving: return arrive(bytes)
        case .knocking: return close()
        case .over: return []
        case .open: break
        }
        do throws(WebSocketFrames.Flaw) {
            return try frames.take(bytes).flatMap { answer($0) }
        } catch {
            return close(code: 1002)
        }
    }

    /// The door is opened to whoever knocked, or is not.
    mutating func admitted(_ session: Session?) -> [Act] {
        guard case .knocking(let key) = stage else { return [] }
        guard let session, let answer = Self.answer(to: key) else {
            stage = .over
            return [.send(Self.refusal("401 Unauthorized")), .close]
        }
        self.session = session
        stage = .open
        return [.send(Self.welcome(answer))]
    }

    /// Something has happened. One of the servers tells it also to whoever has not shaken hands yet.
    mutating func told(_ frame: [UInt8], _ cutting: Cutting) -> [Act] {
        guard stage == .open, hasShakenHands || habits.echoesBinary else { return [] }
        switch cutting {
        case .whole: return [binary(frame)]
        case .merged: return [binary(HubMessage.ping.frame() + frame)]
        case .split:
            let middle = frame.count / 2
            return [binary(Array(frame[..<middle])), binary(Array(frame[middle...]))]
        }
    }

    /// Time for a sign of life.
    mutating func signOfLife(isHeartbeat: Bool) -> [Act] {
        guard stage == .open else { return [] }
        guard habits.sendsHubPings else {
            return [.send(WebSocketFrames.frame(.ping, HubMessage.ping.frame()))]
        }
        guard hasShakenHands else { return [] }
        let beat = isHeartbeat ? [binary(HubMessage.heartbeat)] : []
        return [binary(HubMessage.ping.frame())] + beat
    }

    private func binary(_ bytes: [UInt8]) -> Act { .send(WebSocketFrames.frame(.binary, bytes)) }

    private mutating func answer(_ message: WebSocketFrames.Message) -> [Act] {
        switch message.kind {
        case .ping: return [.send(WebSocketFrames.frame(.pong, message.bytes))]
        case .pong, .more: return []
        case .goodbye:
            stage = .over
            return [.send(WebSocketFrames.frame(.goodbye, message.bytes)), .close]
        case .text, .binary:
            if message.bytes == HubHandshake.request {
                hasShakenHands = true
                let kind: WebSocketFrames.Kind = habits.answersInText ? .text : .binary
                return [.send(WebSocketFrames.frame(kind, HubHandshake.answer))]
            }
            let isEcho = message.kind == .binary && habits.echoesBinary
            return isEcho ? [binary(message.bytes)] : []
        }
    }

    private mutating func close(code: UInt16? = nil) -> [Act] {
        stage = .over
        guard let code else { return [.close] }
        let bytes = [UInt8(code >> 8), UInt8(code & 0xFF)]
        return [.send(WebSocketFrames.frame(.goodbye, bytes)), .close]
    }
}

// MARK: The request

extension HubSession {
    private mutating func arrive(_ bytes: [UInt8]) -> [Act] {
        head += bytes
        guard head.count <= 16_384 else { return refuse("431 Request Header Fields Too Large") }
        guard let end = head.firstRange(of: Array("\r\n\r\n".utf8)) else { return [] }
        guard end.upperBound == head.endIndex else { return refuse("400 Bad Request") }
        let lines = String(decoding: head[..<end.lowerBound], as: UTF8.self)
            .split(separator: "\r\n")
        head = []
        var headers = Headers()
        for line in lines.dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1)
            guard parts.count == 2 else { return refuse("400 Bad Request") }
            headers.add(String(parts[0]), String(parts[1].drop { $0 == " " }))
        }
        let words = (lines.first ?? "").split(separator: " ")
        guard words.count == 3, words[0] == "GET", let target = Target(String(words[1])) else {
            return refuse("400 Bad Request")
        }
        return knock(target, headers)
    }

    private mutating func knock(_ target: Target, _ headers: Headers) -> [Act] {
        guard target.segments.last == "hub" else { return refuse("404 Not Found") }
        guard headers["Upgrade"]?.lowercased() == "websocket",
            headers["Sec-WebSocket-Version"] == "13", let key = headers["Sec-WebSocket-Key"]
        else { return refuse("400 Bad Request") }
        let bearer = headers["Authorization"].flatMap {
            $0.hasPrefix("Bearer ") ? String($0.dropFirst(7)) : nil
        }
        stage = .knocking(key: key)
        return [.knock(token: target.query["access_token"] ?? bearer ?? "")]
    }

    private mutating func refuse(_ status: String) -> [Act] {
        stage = .over
        return [.send(Self.refusal(status)), .close]
    }

    private static func refusal(_ status: String) -> [UInt8] {
        Array("HTTP/1.1 \(status)\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".utf8)
    }

    private static func welcome(_ answer: String) -> [UInt8] {
        Array(
            """
            HTTP/1.1 101 Switching Protocols\r
            Upgrade: websocket\r
            Connection: Upgrade\r
            Sec-WebSocket-Accept: \(answer)\r
            \r

            """.utf8
        )
    }

    static func answer(to key: String) -> String? {
        var answer = [CChar](repeating: 0, count: 29)
        guard chub_accept_key(key, &answer) == 1 else { return nil }
        return String(
            decoding: answer.dropLast().map { UInt8(bitPattern: $0) },
            as: UTF8.self
        )
    }
}
