/// What a request is about: a path and a query.
///
/// The path is cut at its slashes first and decoded afterwards, so `%2F` in a segment is a slash
/// that separates nothing. Dots are names like any other: nothing here is a file.
public struct Target: Sendable, Equatable {
    /// As it was sent.
    public let raw: String
    /// The decoded parts of the path. A slash at its end adds none; `/` has none at all.
    public let segments: [String]
    public let query: Query
    /// Whether it was `*`, which is about the server itself (`OPTIONS *`).
    public let isAsterisk: Bool

    /// `nil` for what is no path with an optional query: spaces, control characters, bytes beyond
    /// ASCII, a fragment, escapes of what is no text.
    public init?(_ raw: String) {
        var raw = raw
        let parsed = raw.withUTF8 { Self.parse(UnsafeRawBufferPointer($0)) }
        guard let parsed else { return nil }
        self = parsed
    }

    static func parse(_ bytes: UnsafeRawBufferPointer) -> Target? {
        guard bytes.allSatisfy(\.isTargetByte) else { return nil }
        let raw = String(decoding: bytes, as: UTF8.self)
        if bytes.elementsEqual([UInt8(ascii: "*")]) {
            return Target(raw: raw, segments: [], query: Query(), isAsterisk: true)
        }
        guard bytes.first == .slash else { return nil }
        let end = bytes.firstIndex(of: .question) ?? bytes.endIndex
        guard let segments = segments(bytes[1..<end]) else { return nil }
        guard let query = Query(parsing: bytes[end...].dropFirst()) else { return nil }
        return Target(raw: raw, segments: segments, query: query, isAsterisk: false)
    }

    private init(raw: String, segments: [String], query: Query, isAsterisk: Bool) {
        self.raw = raw
        self.segments = segments
        self.query = query
        self.isAsterisk = isAsterisk
    }

    private static func segments(_ path: Slice<UnsafeRawBufferPointer>) -> [String]? {
        var segments: [String] = []
        var rest = path
        while !rest.isEmpty {
            let end = rest.firstIndex(of: .slash) ?? rest.endIndex
            guard let segment = Percent.decode(rest[..<end]) else { return nil }
            segments.append(segment)
            rest = rest[end...].dropFirst()
        }
        return segments
    }
}

/// The decoded pairs of a query, in order.
public struct Query: Sendable, Equatable {
    public struct Pair: Sendable, Equatable {
        public let name: String
        /// Empty for a name without an equals sign as well.
        public let value: String
    }

    public let pairs: [Pair]

    public init(_ pairs: [Pair] = []) { self.pairs = pairs }

    /// The first value of that name.
    public subscript(name: String) -> String? {
        pairs.first { $0.name == name }?.value
    }

    public func all(_ name: String) -> [String] {
        pairs.filter { $0.name == name }.map(\.value)
    }

    init?(parsing bytes: Slice<UnsafeRawBufferPointer>) {
        var pairs: [Pair] = []
        var rest = bytes
        while !rest.isEmpty {
            let end = rest.firstIndex(of: .ampersand) ?? rest.endIndex
            if end != rest.startIndex {
                guard let pair = Pair(parsing: rest[..<end]) else { return nil }
                pairs.append(pair)
            }
            rest = rest[end...].dropFirst()
        }
        self.pairs = pairs
    }
}

extension Query.Pair {
    fileprivate init?(parsing bytes: Slice<UnsafeRawBufferPointer>) {
        let middle = bytes.firstIndex(of: .equals) ?? bytes.endIndex
        guard
            let name = Percent.decode(bytes[..<middle], isQuery: true),
            let value = Percent.decode(bytes[middle...].dropFirst(), isQuery: true)
        else { return nil }
        self.init(name: name, value: value)
    }
}

extension UInt8 {
    fileprivate var isTargetByte: Bool { self > 0x20 && self < 0x7F && self != .hash }
}
