/// Writes the body of an answer while it is sent.
public struct BodyWriter: Sendable {
    enum Sink: Sendable {
        case outlet(Outlet)
        case memory(@Sendable ([UInt8]) async throws(ClientLeft) -> Void)
    }

    let sink: Sink

    /// Waits while the client is behind.
    public func write(_ bytes: [UInt8]) async throws(ClientLeft) {
        switch sink {
        case .outlet(let outlet): try await outlet.write(bytes)
        case .memory(let take): try await take(bytes)
        }
    }

    public func write(_ text: String) async throws(ClientLeft) {
        try await write(Array(text.utf8))
    }
}

/// Nobody reads the answer any more.
public struct ClientLeft: Error, Equatable {
    public init() {}
}
