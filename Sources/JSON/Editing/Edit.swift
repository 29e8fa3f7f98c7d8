extension JSON {
    /// Changes a text and leaves every other byte as it was: white space, order, the spelling of
    /// numbers and strings, and members that nobody here has heard of.
    ///
    /// ```swift
    /// var edit = JSON.Edit(document)
    /// try edit.set(["login", "password"], to: JSON.Raw(password))
    /// edit.remove(["login", "totp"])
    /// let bytes = edit.bytes
    /// ```
    ///
    /// Every change sees those before it, and either happens or throws and changes nothing. All of
    /// them are written out in one pass. The result is always valid, and nothing that is added lies
    /// deeper than ``Document/depthLimit``, so whoever can read the original can read the result;
    /// what is added takes over the white space of its neighbours.
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
        /// - Throws: ``Mismatch`` if something else than an object or array stands in the way, or if
        ///   the value would be nested too deeply there.
        public mutating func set(_ path: Path, to value: Raw) throws(Mismatch) {
            try path.admit(value)
            var draft = root
            try draft.set(path.steps[...], to: value)
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

extension JSON.Path {
    /// Refuses a value that nobody could read again, inside so many arrays and objects.
    fileprivate func admit(_ value: JSON.Raw) throws(JSON.Mismatch) {
        guard value.isNested(within: JSON.Document.depthLimit - steps.count) else {
            throw JSON.Mismatch("would be nested too deeply", at: self)
        }
    }
}

/// Says nothing of the text, for that may be secret.
extension JSON.Edit: CustomStringConvertible, CustomReflectable {
    public var description: String { "an edit of \(document)" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
