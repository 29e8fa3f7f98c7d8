extension JSON {
    /// Why a text is not JSON, and where.
    ///
    /// It names a place and a rule, never what stands there: the text may be secret.
    public struct Failure: Error, Hashable {
        public let reason: Reason
        /// The first byte that cannot be right, counted from the start of the text.
        public let offset: Int

        public init(reason: Reason, offset: Int) {
            self.reason = reason
            self.offset = offset
        }
    }

    public enum Reason: Hashable, Sendable, CaseIterable {
        /// There is nothing but white space.
        case empty
        /// The text stops in the middle.
        case ended
        /// The text starts with a byte order mark.
        case byteOrderMark
        case notUTF8
        /// A control character stands in a string without being escaped.
        case controlCharacter
        /// A string has no closing quotation mark.
        case unclosedString
        /// A string has an escape that does not exist, or half a surrogate pair.
        case badEscape
        case badNumber
        /// Something stands where only a value may.
        case noValue
        /// Something stands where only a member's name may.
        case noName
        /// Something stands where only a colon may.
        case noColon
        /// Something stands where only a comma or the end of the array or object may.
        case noComma
        /// Something follows the value.
        case trailing
        /// Arrays and objects are nested deeper than the caller allows.
        case tooDeep
        /// The text is longer than ``JSON/lengthLimit`` allows.
        case tooLong
        case noMemory
    }
}

extension JSON.Failure: CustomStringConvertible {
    public var description: String { "Not JSON at byte \(offset): \(reason.sentence)" }
}

extension JSON.Reason {
    var sentence: String {
        switch self {
        case .empty: "there is no value."
        case .ended: "the text stops in the middle."
        case .byteOrderMark: "a byte order mark does not belong here."
        case .notUTF8: "this is not UTF-8."
        case .controlCharacter: "a control character in a string must be escaped."
        case .unclosedString: "this string has no end."
        case .badEscape: "no such escape."
        case .badNumber: "this is not how a number is written."
        case .noValue: "here must be a value."
        case .noName: "here must be a member's name."
        case .noColon: "here must be a colon."
        case .noComma: "here must be a comma or the end of what was opened."
        case .trailing: "nothing may follow the value."
        case .tooDeep: "this is nested too deeply."
        case .tooLong: "the text is too long."
        case .noMemory: "there was no memory for its index."
        }
    }
}
