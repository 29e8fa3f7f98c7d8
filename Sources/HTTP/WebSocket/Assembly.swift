/// A message that arrives in pieces.
struct Assembly {
    enum Step: Equatable {
        case more
        case whole(WebSocketMessage)
        case tooLarge
    }

    let limit: Int
    private var bytes: [UInt8] = []
    private var isText = false

    init(limit: Int) { self.limit = limit }

    mutating func take(
        _ piece: UnsafeRawBufferPointer,
        isText: Bool,
        isLast: Bool
    ) -> Step {
        if bytes.isEmpty { self.isText = isText }
        guard bytes.count + piece.count <= limit else { return .tooLarge }
        bytes.append(contentsOf: piece)
        guard isLast else { return .more }
        defer { bytes = [] }
        return .whole(
            self.isText ? .text(String(decoding: bytes, as: UTF8.self)) : .binary(bytes)
        )
    }
}
