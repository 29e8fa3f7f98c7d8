import CMicrohttpd

/// An answer in the library's form.
struct LibraryResponse {
    private let status: Int32
    private let pointer: OpaquePointer?

    /// What is longer is sent piece by piece, instead of being copied whole first.
    static let copied = 32_768
    private static let block = 65_536

    init(_ response: Response, exchange: Exchange, closes: Bool) {
        let made = Self.make(response, exchange)
        if let made, response.headers.areSendable, response.headers.fill(made),
            response.hasFittingStatus
        {
            pointer = made
            status = Int32(response.status.rawValue)
        } else {
            // A header with a line break in it, above all: somebody let a client's words through.
            if let made { cm_response_drop(made) }
            let text: StaticString = "Internal Server Error"
            pointer = cm_response_bytes(text.utf8Start, text.utf8CodeUnitCount, 1)
            status = 500
        }
        if closes, let pointer { cm_response_header(pointer, "Connection", "close") }
    }

    /// - Returns: Whether the library took it. If not, the connection is of no more use.
    func send(to connection: OpaquePointer) -> Bool {
        guard let pointer else { return false }
        return cm_answer(connection, status, pointer) != 0
    }

    private static func make(_ response: Response, _ exchange: Exchange) -> OpaquePointer? {
        switch response.body {
        case .fixed(let text):
            return cm_response_bytes(text.utf8Start, text.utf8CodeUnitCount, 1)
        case .bytes(let bytes) where bytes.count <= copied:
            return bytes.withUnsafeBytes { cm_response_bytes($0.baseAddress, $0.count, 0) }
        case .bytes(let bytes):
            let reader = PlainReader(bytes, for: exchange)
            return cm_response_reader(
                Int64(bytes.count),
                block,
                PlainReader.read,
                Unmanaged.passRetained(reader).toOpaque(),
                PlainReader.release
            )
        case .stream(let length, _):
            return cm_response_reader(
                Int64(length ?? -1),
                length == nil ? 4_096 : block,
                StreamReader.read,
                Unmanaged.passRetained(exchange).toOpaque(),
                StreamReader.release
            )
        case .upgrade: return exchange.loop.daemon.flatMap { cm_response_upgrade($0) }
        case .cut: return nil
        }
    }
}

extension Response {
    /// What is less than 200 is no answer yet, but for the one that ends HTTP.
    fileprivate var hasFittingStatus: Bool {
        if case .upgrade = body { return status == .switchingProtocols }
        return (200...999).contains(status.rawValue)
    }
}

extension Headers {
    /// Whether every field is one, and stays one on the wire.
    var areSendable: Bool {
        fields.allSatisfy { name, value in
            name.isServersBusiness
                || name.utf8.allSatisfy(\.isTokenByte) && value.utf8.allSatisfy(\.isFieldByte)
        }
    }

    /// - Returns: Whether the library took all.
    fileprivate func fill(_ response: OpaquePointer) -> Bool {
        fields.allSatisfy { name, value in
            name.isServersBusiness || cm_response_header(response, name, value) != 0
        }
    }
}

extension String {
    var isServersBusiness: Bool {
        switch utf8.count {
        case 10: lowercased() == "connection"
        case 14: lowercased() == "content-length"
        case 17: lowercased() == "transfer-encoding"
        default: false
        }
    }
}

/// Bytes that are read from where they lie.
private final class PlainReader {
    private let bytes: [UInt8]
    private let exchange: Exchange

    init(_ bytes: [UInt8], for exchange: Exchange) {
        (self.bytes, self.exchange) = (bytes, exchange)
        exchange.loop.answering += bytes.count
    }

    deinit { exchange.loop.answering -= bytes.count }

    // Static members, because a closure literal written in isolated code would inherit that
    // isolation and trap.
    static let read: cm_reader = { context, position, buffer, capacity in
        guard let context, let buffer else { return Int64(CM_READ_BROKEN) }
        let reader = Unmanaged<PlainReader>.fromOpaque(context).takeUnretainedValue()
        let (bytes, start) = (reader.bytes, Int(position))
        reader.exchange.isAsked(from: start)
        let count = min(capacity, bytes.count - start)
        let target = UnsafeMutableRawBufferPointer(start: buffer, count: count)
        bytes.withUnsafeBytes {
            target.copyMemory(from: .init(rebasing: $0[start..<start + count]))
        }
        return Int64(count)
    }

    static let release: @convention(c) (UnsafeMutableRawPointer?) -> Void = { context in
        guard let context else { return }
        Unmanaged<PlainReader>.fromOpaque(context).release()
    }
}

private enum StreamReader {
    static let read: cm_reader = { context, _, buffer, capacity in
        guard let context, let buffer else { return Int64(CM_READ_BROKEN) }
        let exchange = Unmanaged<Exchange>.fromOpaque(context).takeUnretainedValue()
        return exchange.read(into: UnsafeMutableRawBufferPointer(start: buffer, count: capacity))
    }

    static let release: @convention(c) (UnsafeMutableRawPointer?) -> Void = { context in
        guard let context else { return }
        Unmanaged<Exchange>.fromOpaque(context).release()
    }
}
