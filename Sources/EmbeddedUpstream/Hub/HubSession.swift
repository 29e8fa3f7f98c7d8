import Bitwarden

/// What one connection to the hub has come to. Decides what is sent; sends nothing.
struct HubSession {
    enum Act: Equatable {
        case send([UInt8])
        case close
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
    /// Who is at the other end.
    let session: Session
    private var frames = WebSocketFrames()
    private var hasShakenHands = false
    private var isOver = false

    init(_ habits: HubHabits, _ session: Session) {
        self.habits = habits
        self.session = session
    }

    mutating func received(_ bytes: [UInt8]) -> [Act] {
        guard !isOver else { return [] }
        do throws(WebSocketFrames.Flaw) {
            return try frames.take(bytes).flatMap { answer($0) }
        } catch {
            return close(code: 1002)
        }
    }

    /// Something has happened. One of the servers tells it also to whoever has not shaken hands yet.
    mutating func told(_ frame: [UInt8], _ cutting: Cutting) -> [Act] {
        guard !isOver, hasShakenHands || habits.echoesBinary else { return [] }
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
        guard !isOver else { return [] }
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
            isOver = true
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

    private mutating func close(code: UInt16) -> [Act] {
        isOver = true
        let bytes = [UInt8(code >> 8), UInt8(code & 0xFF)]
        return [.send(WebSocketFrames.frame(.goodbye, bytes)), .close]
    }
}
