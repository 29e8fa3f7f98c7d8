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

/// Writes the nodes of a text one behind the other into room that was made for all of them.
private struct Recording {
    private let room: UnsafeMutableBufferPointer<Node>
    private var count = 0

    private init(_ room: UnsafeMutableBufferPointer<Node>) { self.room = room }

    static func nodes(of bytes: [UInt8], depthLimit: Int) throws(JSON.Failure) -> [Node] {
        try bytes.span.withUnsafeBufferPointer { text throws(JSON.Failure) in
            try Cursor.walk(text, depthLimit: depthLimit) { (cursor) throws(JSON.Failure) in
                try nodes(of: &cursor)
            }
        }
    }

    private static func nodes(of cursor: inout Cursor) throws(JSON.Failure) -> [Node] {
        // A name has its colon, a value its comma, a container its second bracket: only a text that
        // is going to fail has more nodes for its tokens, and then they do not matter.
        let most = cursor.tokenCount / 2 + 1
        var failure: JSON.Failure?
        let nodes = [Node](unsafeUninitializedCapacity: most) { room, count in
            var recording = Recording(room)
            do throws(JSON.Failure) {
                try recording.value(&cursor, depth: 0)
                precondition(recording.count <= most, "There was no room for a node.")
                count = recording.count
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        return nodes
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
        count += 1
        put(Node(place: Place(extent), next: UInt32(truncatingIfNeeded: count)), at: count - 1)
    }

    /// Nodes are plain numbers: what is left of them after a failure needs no ending.
    @inline(__always)
    private func put(_ node: Node, at index: Int) {
        if index < room.count { room.initializeElement(at: index, to: node) }
    }

    @inline(__always)
    private mutating func open() -> Int {
        add(Extent(start: 0, end: 0))
        return count - 1
    }

    @inline(__always)
    private mutating func close(_ index: Int, _ extent: Extent) {
        put(Node(place: Place(extent), next: UInt32(truncatingIfNeeded: count)), at: index)
    }
}
