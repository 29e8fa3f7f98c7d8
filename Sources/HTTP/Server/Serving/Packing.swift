import CZlib

extension Response {
    /// The same as gzip, for a client that takes that. Only for what holds no secrets: how well
    /// something packs tells of what is in it.
    public func packed(for request: Request) -> Response {
        guard case .bytes(let bytes) = body, bytes.count > 1_024 else { return self }
        var response = self
        let others = headers["Vary"].map { $0 + ", " } ?? ""
        response.headers["Vary"] = others + "Accept-Encoding"
        guard request.takesGzip, let packed = Self.packed(bytes) else { return response }
        response.headers["Content-Encoding"] = "gzip"
        response.body = .bytes(packed)
        return response
    }

    /// Nil if it would not be smaller.
    private static func packed(_ bytes: [UInt8]) -> [UInt8]? {
        let packed = [UInt8](unsafeUninitializedCapacity: bytes.count) { room, count in
            count = bytes.withUnsafeBytes { input in
                cz_pack(input.baseAddress, input.count, room.baseAddress, room.count)
            }
        }
        return packed.isEmpty ? nil : packed
    }
}

extension Request {
    /// Whether gzip is among what it takes, and not as what it would not have.
    var takesGzip: Bool {
        let codings = headers["Accept-Encoding"]?.lowercased().split(separator: ",") ?? []
        return codings.contains { coding in
            let parts = coding.split(separator: ";").map { $0.filter { $0 != " " && $0 != "\t" } }
            guard parts.first == "gzip" || parts.first == "x-gzip" else { return false }
            let quality = parts.last { $0.hasPrefix("q=") }.flatMap { Double($0.dropFirst(2)) }
            return quality != 0
        }
    }
}
