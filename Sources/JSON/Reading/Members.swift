extension JSON {
    /// The members of an object, in order. Names may repeat; all are here.
    public struct Members: Sequence, Sendable {
        @usableFromInline let object: Value

        public func makeIterator() -> Iterator {
            Iterator(
                document: object.document,
                index: object.index + 1,
                end: Int(object.document.nodes[object.index].next)
            )
        }

        public struct Iterator: IteratorProtocol {
            let document: Document
            var index: Int
            let end: Int

            @inline(__always)
            public mutating func next() -> Member? {
                guard index < end else { return nil }
                let value = Value(document: document, index: index + 1)
                index = Int(document.nodes[index + 1].next)
                return Member(value: value)
            }
        }

        /// Visits, in order, the members whose names are among these, and passes over the others. The
        /// first letter may be in either case; ``Names/subscript(anyCase:)`` says which is meant.
        ///
        /// The quickest way through an object: each name is looked at once, and nothing is copied or
        /// kept alive for a member. A name that repeats is visited each time.
        @inlinable
        public func forEach<Key, Failure: Error>(
            inAnyCase names: Names<Key>,
            _ visit: (Key, Value) throws(Failure) -> Void
        ) throws(Failure) {
            let document = object.document
            var (name, end) = document.firstName(of: object.index)
            while name < end {
                let (known, next) = document.look(up: name, in: names.table)
                if known >= 0 {
                    try visit(names.keys[known], Value(document: document, index: name + 1))
                }
                name = next
            }
        }

        /// In any case: the last that is spelled exactly so, or else the last.
        func last(named name: String, _ letters: Letters) -> Value? {
            var name = name
            let index = name.withUTF8 { name in
                object.document.lastMember(of: object.index, named: name, letters)
            }
            return index.map { Value(document: object.document, index: $0) }
        }
    }

    public struct Member: Sendable {
        public let value: Value

        @inline(__always)
        public var name: Name { Name(document: value.document, index: value.index - 1) }
    }

    /// A member's name, which ``Names`` know without making a string of it.
    public struct Name: Sendable {
        let document: Document
        let index: Int

        var extent: Extent { document.nodes[index].place.extent }

        /// The name, its escapes resolved.
        public var string: String {
            document.bytes.withUnsafeBufferPointer { $0.string(at: extent) }
        }

        func withBytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
            document.bytes.withUnsafeBufferPointer { $0.withName(at: extent, body) }
        }
    }
}

extension JSON.Document {
    /// The node of the object's first name, and the one behind the object.
    @usableFromInline
    func firstName(of object: Int) -> (name: Int, end: Int) {
        (object + 1, Int(nodes[object].next))
    }

    /// Which known name the node is, or -1; and where the next name is.
    @usableFromInline
    func look(up name: Int, in table: NameTable) -> (known: Int, next: Int) {
        let extent = nodes[name].place.extent
        let known = bytes.withUnsafeBufferPointer { text in
            text.withName(at: extent) { table.index(of: $0, .anyCase) }
        }
        return (known, Int(nodes[name + 1].next))
    }

    fileprivate func lastMember(
        of object: Int,
        named name: UnsafeBufferPointer<UInt8>,
        _ letters: Letters
    ) -> Int? {
        let end = Int(nodes[object].next)
        var index = object + 1
        var exact: Int?
        var any: Int?
        bytes.withUnsafeBufferPointer { text in
            while index < end {
                let extent = nodes[index].place.extent
                if text.name(at: extent, is: name, letters) {
                    any = index + 1
                    if letters == .exact || text.name(at: extent, is: name, .exact) { exact = any }
                }
                index = Int(nodes[index + 1].next)
            }
        }
        return exact ?? any
    }
}
