extension JSON {
    /// A text that has been read: every byte is checked, nothing is converted yet.
    ///
    /// It keeps the bytes and twelve more for each value and each name. Values are views into it.
    public final class Document: Sendable {
        /// How deep arrays and objects may be nested unless the caller says otherwise.
        public static let depthLimit = 128

        /// The whole text, white space around the value included.
        public let bytes: [UInt8]
        let nodes: [Node]

        /// - Throws: ``Failure`` if the text is anything but one JSON value in strict UTF-8.
        public init(
            _ bytes: [UInt8],
            depthLimit: Int = Document.depthLimit
        ) throws(Failure) {
            self.bytes = bytes
            nodes = try Recording.nodes(of: bytes, depthLimit: depthLimit)
        }

        /// Reads a part of a larger text on its own, in a copy: the larger one is not kept alive.
        public convenience init(
            _ raw: Raw,
            depthLimit: Int = Document.depthLimit
        ) throws(Failure) {
            try self.init(Array(raw.bytes), depthLimit: depthLimit)
        }

        public var root: Value { Value(document: self, index: 0) }
    }
}

/// Says how long it is and not what it says, for that may be secret.
extension JSON.Document: CustomStringConvertible, CustomReflectable {
    public var description: String { "\(bytes.count) bytes, read" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// A value, or the name of the member whose value is the next node.
///
/// A container is followed by what it contains, so that `next` leads past all of it.
struct Node {
    var place: Place
    var next: UInt32
}

private struct Recording {
    private var nodes: [Node] = []

    static func nodes(of bytes: [UInt8], depthLimit: Int) throws(JSON.Failure) -> [Node] {
        try bytes.span.withUnsafeBufferPointer { text throws(JSON.Failure) in
            try Cursor.walk(text, depthLimit: depthLimit) { (cursor) throws(JSON.Failure) in
                var recording = Recording()
                // A name has its colon, a value its comma, a container its second bracket.
                recording.nodes.reserveCapacity(cursor.tokenCount / 2 + 1)
                try recording.value(&cursor, depth: 0)
                return recording.nodes
            }
        }
    }

    private mutating func value(_ cursor: inout Cursor, depth: Int) throws(JSON.Failure) {
        switch try cursor.peek() {
        case .openBrace:
            let index = open()
            let extent = try cursor.object(depth: depth) { (cursor, name) throws(JSON.Failure) in
                add(name)
                try value(&cursor, depth: depth + 1)
            }
            close(index, extent)
        case .openBracket:
            let index = open()
            let extent = try cursor.array(depth: depth) { (cursor) throws(JSON.Failure) in
                try value(&cursor, depth: depth + 1)
            }
            close(index, extent)
        default:
            add(try cursor.scalar())
        }
    }

    @inline(__always)
    private mutating func add(_ extent: Extent) {
        let next = UInt32(truncatingIfNeeded: nodes.count + 1)
        nodes.append(Node(place: Place(extent), next: next))
    }

    @inline(__always)
    private mutating func open() -> Int {
        add(Extent(start: 0, end: 0))
        return nodes.count - 1
    }

    @inline(__always)
    private mutating func close(_ index: Int, _ extent: Extent) {
        let next = UInt32(truncatingIfNeeded: nodes.count)
        nodes[index] = Node(place: Place(extent), next: next)
    }
}
