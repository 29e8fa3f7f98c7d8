extension JSON {
    /// Changes a text and leaves every other byte as it was: white space, order, the spelling of
    /// numbers and strings, and members that nobody here has heard of.
    ///
    /// ```swift
    /// var edit = JSON.Edit(document)
    /// try edit.set(["login", "password"], to: JSON.Raw(password))
    /// try edit.insert(JSON.Raw(entry), at: ["passwordHistory", 0])
    /// edit.remove(["login", "totp"])
    /// let bytes = edit.bytes
    /// ```
    ///
    /// Every change sees those before it, and either happens or throws and changes nothing. All of
    /// them are written out in one pass. The result is always valid; what is added takes over the
    /// white space of its neighbours.
    public struct Edit: Sendable {
        private let document: Document
        private var root: Draft

        public init(_ document: Document) {
            self.document = document
            root = .kept(document.root)
        }

        /// Replaces what is at the path, or makes it.
        ///
        /// Of members with the same name, the last is meant, the one that is read. Objects and arrays
        /// on the way that are missing or `null` are made; an element must exist or be the next.
        ///
        /// - Throws: ``Mismatch`` if something else than an object or array stands in the way.
        public mutating func set(_ path: Path, to value: Raw) throws(Mismatch) {
            var draft = root
            try draft.set(path.steps[...], to: value)
            root = draft
        }

        /// Makes room at the path, which ends in a position of an array, and puts the value there.
        public mutating func insert(_ value: Raw, at path: Path) throws(Mismatch) {
            var draft = root
            try draft.insert(value, at: path.steps[...])
            root = draft
        }

        /// Puts the value behind the last element of the array at the path.
        public mutating func append(_ value: Raw, to path: Path) throws(Mismatch) {
            var draft = root
            try draft.append(value, to: path.steps[...])
            root = draft
        }

        /// Takes away what is at the path; of members with the same name, all, lest an earlier one
        /// come to light.
        ///
        /// - Returns: Whether there was anything. The value as a whole cannot be removed.
        @discardableResult
        public mutating func remove(_ path: Path) -> Bool {
            root.remove(path.steps[...])
        }

        /// The text with all changes.
        public var bytes: [UInt8] {
            let value = document.root.raw.range
            var bytes: [UInt8] = []
            bytes.reserveCapacity(document.bytes.count + 256)
            bytes += document.bytes[..<value.lowerBound]
            root.write(to: &bytes)
            bytes += document.bytes[value.upperBound...]
            return bytes
        }
    }
}

/// Says nothing of the text, for that may be secret.
extension JSON.Edit: CustomStringConvertible, CustomReflectable {
    public var description: String { "an edit of \(document)" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
