/// The server's side of a WebSocket, as raw frames on a scripted connection.
extension ScriptedConnection {
    /// Answers the handshake. Returns the request's head.
    @discardableResult
    func upgrade(accept: String? = nil) -> String? {
        guard let head = head(), let key = field("sec-websocket-key", of: head) else { return nil }
        let accept = accept ?? acceptKey(for: key)
        send(
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                + "Sec-WebSocket-Accept: \(accept)\r\n\r\n"
        )
        return head
    }

    func sendFrame(_ opcode: UInt8, _ payload: [UInt8] = [], isLast: Bool = true) {
        var frame = [(isLast ? 0x80 : 0) | opcode]
        switch payload.count {
        case ..<126: frame.append(UInt8(payload.count))
        case ..<65_536: frame += [126, UInt8(payload.count >> 8), UInt8(payload.count & 0xFF)]
        default:
            frame.append(127)
            frame += (0..<8).reversed().map { UInt8(truncatingIfNeeded: payload.count >> ($0 * 8)) }
        }
        send(frame + payload)
    }

    struct Frame: Equatable, Sendable {
        var opcode: UInt8
        var payload: [UInt8]
        var isMasked: Bool
    }

    /// The next frame from the client, unmasked; `nil` if it has gone.
    func frame() -> Frame? {
        guard let start = bytes(2) else { return nil }
        var count = Int(start[1] & 0x7F)
        if count == 126 || count == 127 {
            guard let length = bytes(count == 126 ? 2 : 8) else { return nil }
            count = length.reduce(0) { $0 << 8 | Int($1) }
        }
        let isMasked = start[1] & 0x80 != 0
        guard let mask = isMasked ? bytes(4) : [0, 0, 0, 0], let masked = bytes(count) else {
            return nil
        }
        let payload = masked.enumerated().map { $1 ^ mask[$0 % 4] }
        return Frame(opcode: start[0] & 0x0F, payload: payload, isMasked: isMasked)
    }
}

enum Opcode {
    static let more: UInt8 = 0
    static let text: UInt8 = 1
    static let binary: UInt8 = 2
    static let close: UInt8 = 8
    static let ping: UInt8 = 9
    static let pong: UInt8 = 10
}

func acceptKey(for key: String) -> String {
    base64(sha1(Array((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8)))
}

func base64(_ bytes: [UInt8]) -> String {
    let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
    var text = ""
    for start in stride(from: 0, to: bytes.count, by: 3) {
        let group = Array(bytes[start..<min(start + 3, bytes.count)])
        let word = (0..<3).reduce(0) { $0 << 8 | Int($1 < group.count ? group[$1] : 0) }
        for index in 0..<4 {
            text.append(index <= group.count ? letters[word >> (18 - 6 * index) & 63] : "=")
        }
    }
    return text
}

func sha1(_ message: [UInt8]) -> [UInt8] {
    var hash: [UInt32] = [0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476, 0xC3D2_E1F0]
    var padded = message + [0x80]
    while padded.count % 64 != 56 { padded.append(0) }
    padded += (0..<8).reversed().map { UInt8(truncatingIfNeeded: (message.count * 8) >> ($0 * 8)) }
    for start in stride(from: 0, to: padded.count, by: 64) {
        mix(&hash, padded[start..<(start + 64)])
    }
    return hash.flatMap { word in
        (0..<4).reversed().map { UInt8(truncatingIfNeeded: word >> ($0 * 8)) }
    }
}

private func mix(_ hash: inout [UInt32], _ block: ArraySlice<UInt8>) {
    let bytes = Array(block)
    var words = (0..<16).map { index in
        (0..<4).reduce(UInt32(0)) { $0 << 8 | UInt32(bytes[index * 4 + $1]) }
    }
    for index in 16..<80 {
        let word = words[index - 3] ^ words[index - 8] ^ words[index - 14] ^ words[index - 16]
        words.append(word << 1 | word >> 31)
    }
    var (a, b, c, d, e) = (hash[0], hash[1], hash[2], hash[3], hash[4])
    for index in 0..<80 {
        let (f, k): (UInt32, UInt32) =
            switch index {
            case ..<20: ((b & c) | (~b & d), 0x5A82_7999)
            case ..<40: (b ^ c ^ d, 0x6ED9_EBA1)
            case ..<60: ((b & c) | (b & d) | (c & d), 0x8F1B_BCDC)
            default: (b ^ c ^ d, 0xCA62_C1D6)
            }
        let next = (a << 5 | a >> 27) &+ f &+ e &+ k &+ words[index]
        (e, d, c, b, a) = (d, c, b << 30 | b >> 2, a, next)
    }
    for (index, word) in [a, b, c, d, e].enumerated() { hash[index] &+= word }
}
