extension JSON {
    /// The text of one JSON value, as it was spelled.
    ///
    /// Whoever holds one knows that it is right: it was cut from a text that has been read, or a
    /// ``Writer`` wrote it. It shares the bytes it was cut from, and keeps them alive.
    public struct Raw: Sendable {
        let source: [UInt8]
        let extent: Extent

        /// The bytes themselves.
        public var bytes: ArraySlice<UInt8> { source[range] }

        /// Where they lie in the text they were cut from.
        public var range: Range<Int> { extent.start..<extent.end }

        /// Reads the text and takes its value, without the white space around it.
        public init(
            _ bytes: [UInt8],
            depthLimit: Int = Document.depthLimit
        ) throws(Failure) {
            source = bytes
            extent = try Extent(ofValueIn: bytes, depthLimit: depthLimit)
        }

        init(source: [UInt8], extent: Extent) {
            self.source = source
            self.extent = extent
        }

        /// A copy that shares bytes with nobody.
        public var copy: Raw { Raw(whole: Array(bytes)) }

        /// Whether no more arrays and objects than that lie in each other here, itself included.
        func isNested(within limit: Int) -> Bool {
            guard kind == .object || kind == .array else { return limit >= 0 }
            return (try? Extent(ofValueIn: Array(bytes), depthLimit: limit)) != nil
        }
    }
}

extension Extent {
    fileprivate init(ofValueIn bytes: [UInt8], depthLimit: Int) throws(JSON.Failure) {
        self = try bytes.span.withUnsafeBufferPointer { text throws(JSON.Failure) in
            try Cursor.walk(text, depthLimit: depthLimit) { (cursor) throws(JSON.Failure) in
                try cursor.skip(depth: 0)
            }
        }
    }
}

extension JSON.Raw: Hashable {
    public static func == (one: Self, other: Self) -> Bool { one.bytes == other.bytes }
    public func hash(into hasher: inout Hasher) { hasher.combine(bytes) }
}

/// Says how long it is and not what it says, for that may be secret.
extension JSON.Raw: CustomStringConvertible, CustomReflectable {
    public var description: String { "\(kind), \(range.count) bytes" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
