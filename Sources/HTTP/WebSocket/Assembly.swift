/// A message that arrives in pieces.
struct Assembly {
    enum Step: Equatable {
        case more
        case whole(WebSocketMessage)
        case tooLarge
        /// It says that it is text.
        case noText
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
        guard self.isText else { return .whole(.binary(bytes)) }
        return String(validating: bytes, as: UTF8.self).map { .whole(.text($0)) } ?? .noText
    }
}
