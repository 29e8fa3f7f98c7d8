/// The body of a request as a sequence of pieces.
///
/// It arrives no faster than it is read: a client that sends more than a few pieces ahead of the
/// reader is made to wait.
public struct RequestBody: AsyncSequence, Sendable {
    public typealias Element = [UInt8]
    public typealias Failure = BodyError

    enum Source: Sendable {
        case none
        case bytes([UInt8])
        case inlet(Inlet)
    }

    let source: Source

    public static let none = RequestBody(source: .none)
    public static func bytes(_ bytes: [UInt8]) -> RequestBody {
        RequestBody(source: .bytes(bytes))
    }

    /// What the client says its length is; `nil` if it does not say.
    public var declaredLength: Int? {
        switch source {
        case .none: 0
        case .bytes(let bytes): bytes.count
        case .inlet(let inlet): inlet.declaredLength
        }
    }

    func collect(limit: Int) async throws(BodyError) -> [UInt8] {
        if let declaredLength, declaredLength > limit { throw .tooLarge(limit: limit) }
        var whole: [UInt8] = []
        for try await piece in self {
            guard whole.count + piece.count <= limit else { throw .tooLarge(limit: limit) }
            if whole.isEmpty { whole = piece } else { whole += piece }
        }
        return whole
    }

    public func makeAsyncIterator() -> Iterator { Iterator(source: source) }

    public struct Iterator: AsyncIteratorProtocol {
        var source: Source

        public mutating func next() async throws(BodyError) -> [UInt8]? {
            switch source {
            case .none:
                return nil
            case .bytes(let bytes):
                source = .none
                return bytes.isEmpty ? nil : bytes
            case .inlet(let inlet):
                return try await inlet.next()
            }
        }

        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(BodyError) -> [UInt8]? {
            try await next()
        }
    }
}

/// Why a body did not come to its end.
public enum BodyError: Error, Equatable, CustomStringConvertible {
    case tooLarge(limit: Int)
    /// The client left, or was cut off because it was too slow.
    case clientLeft
    /// The reading task was cancelled.
    case cancelled

    public var status: Status {
        switch self {
        case .tooLarge: .contentTooLarge
        case .clientLeft, .cancelled: .badRequest
        }
    }

    public var description: String {
        switch self {
        case .tooLarge(let limit): "The body has more than the \(limit) bytes allowed here."
        case .clientLeft: "The client left before its body was complete."
        case .cancelled: "The body is no longer wanted."
        }
    }
}
