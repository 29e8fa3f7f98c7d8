extension JSON {
    /// The members of an object, in order. Names may repeat; all are here.
    public struct Members: Sequence, Sendable {
        let object: Value

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

    /// A member's name, which can be compared without making a string of it.
    ///
    /// ```swift
    /// switch member.name {
    /// case "id": …
    /// case "revisionDate": …
    /// default: break
    /// }
    /// ```
    public struct Name: Sendable {
        let document: Document
        let index: Int

        var extent: Extent { document.nodes[index].place.extent }

        /// The name, its escapes resolved.
        public var string: String {
            document.bytes.withUnsafeBufferPointer { $0.string(at: extent) }
        }

        public static func ~= (pattern: StaticString, name: Name) -> Bool {
            name.matches(pattern, .exact)
        }

        /// Whether it is this one, its first letter in either case.
        public func isAnyCase(of pattern: StaticString) -> Bool {
            matches(pattern, .anyCase)
        }

        func withBytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
            document.bytes.withUnsafeBufferPointer { $0.withName(at: extent, body) }
        }

        @inline(__always)
        private func matches(_ pattern: StaticString, _ letters: Letters) -> Bool {
            let pattern = UnsafeBufferPointer(
                start: pattern.utf8Start,
                count: pattern.utf8CodeUnitCount
            )
            return document.bytes.withUnsafeBufferPointer {
                $0.name(at: extent, is: pattern, letters)
            }
        }
    }
}

extension JSON.Document {
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
