extension JSON {
    /// A value that is JSON, but not what was expected there.
    ///
    /// Its description can be shown to whoever sent the value: it names the place and what belongs
    /// there, never what was found.
    public struct Mismatch: Error, Hashable, CustomStringConvertible {
        public private(set) var path: Path
        /// The rest of a sentence whose subject is the place: "must be a string".
        public let expectation: String

        public init(_ expectation: String, at path: Path = []) {
            self.path = path
            self.expectation = expectation
        }

        public var description: String {
            path.steps.isEmpty ? "The value \(expectation)." : "\(path) \(expectation)."
        }

        func inside(_ step: Step) -> Mismatch {
            Mismatch(expectation, at: Path([step] + path.steps))
        }
    }
}
