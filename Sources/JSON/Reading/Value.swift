extension JSON {
    /// A value in a ``Document``: a view, cheap to copy, that keeps the document alive.
    public struct Value: Sendable {
        @usableFromInline let document: Document
        @usableFromInline let index: Int

        @inlinable
        init(document: Document, index: Int) {
            self.document = document
            self.index = index
        }

        /// The value as it is spelled.
        public var raw: Raw {
            Raw(source: document.bytes, extent: extent)
        }

        var extent: Extent { document.nodes[index].place.extent }

        /// The elements, if this is an array.
        public var array: Elements? {
            kind == .array ? Elements(array: self) : nil
        }

        /// The members, if this is an object.
        public var object: Members? {
            kind == .object ? Members(object: self) : nil
        }

        /// The member of that name; of several, the last, as most readers have it.
        public subscript(name: String) -> Value? {
            object?.last(named: name, .exact)
        }

        /// The member of that name, its first letter in either case.
        ///
        /// Servers disagree about `name` and `Name`. Of several, the last one wins that is spelled
        /// exactly so, or else the last.
        public subscript(anyCase name: String) -> Value? {
            object?.last(named: name, .anyCase)
        }

        /// The element at that position, found by walking there.
        public subscript(position: Int) -> Value? {
            guard position >= 0, let array else { return nil }
            return array.dropFirst(position).first { _ in true }
        }
    }
}

/// Says what it is and not what it says, for that may be secret.
extension JSON.Value: CustomStringConvertible {
    public var description: String { raw.description }
}
