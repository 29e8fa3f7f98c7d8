extension JSON {
    /// The elements of an array, in order.
    public struct Elements: Sequence, Sendable {
        let array: Value

        /// How many there are, found by walking past them.
        public var count: Int { reduce(0) { count, _ in count + 1 } }

        public func makeIterator() -> Iterator {
            Iterator(
                document: array.document,
                index: array.index + 1,
                end: Int(array.document.nodes[array.index].next)
            )
        }

        public struct Iterator: IteratorProtocol {
            let document: Document
            var index: Int
            let end: Int

            public mutating func next() -> Value? {
                guard index < end else { return nil }
                defer { index = Int(document.nodes[index].next) }
                return Value(document: document, index: index)
            }
        }
    }
}
