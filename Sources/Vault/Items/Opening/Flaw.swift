public import Crypto
public import JSON

/// What keeps an item, or a piece of it, from being read. It holds no content and may be shown.
public struct Flaw: Error, Equatable, Sendable {
    /// The member that is concerned; empty if it is the item as a whole.
    public internal(set) var path: JSON.Path
    public let reason: Reason

    public enum Reason: Equatable, Sendable {
        /// The account has no key for the organisation, or could not unwrap it.
        case noOrganizationKey
        /// The item's own key cannot be unwrapped.
        case key(CryptoError)
        /// The encrypted text cannot be opened.
        case sealed(CryptoError)
        /// The JSON is not what belongs there: "must be a string".
        case shape(String)
        case unknownType(Int?)
        /// The content is in one piece that only accounts of version 2 can open.
        case blob
    }

    public init(_ reason: Reason, at path: JSON.Path = []) {
        self.path = path
        self.reason = reason
    }

    func inside(_ step: JSON.Step) -> Flaw {
        Flaw(reason, at: JSON.Path([step] + path.steps))
    }
}

extension Flaw: CustomStringConvertible {
    public var description: String { "\(summary) \(hint)" }

    /// What is wrong, in one sentence.
    public var summary: String {
        switch reason {
        case .noOrganizationKey: "There is no key for the item's organisation."
        case .key(let error): "\(place): the item's own key cannot be unwrapped. \(error.summary)"
        case .sealed(let error): "\(place) cannot be decrypted. \(error.summary)"
        case .shape(let expectation): "\(place) \(expectation)."
        case .unknownType(.some(let number)): "Items of type \(number) are not known here."
        case .unknownType(.none): "The item has no type."
        case .blob: "The item is encrypted in one piece (version 2)."
        }
    }

    /// What a person can do about it.
    public var hint: String {
        switch reason {
        case .noOrganizationKey:
            "Sync and unlock again; ask the organisation if that does not help."
        case .key(let error), .sealed(let error): error.hint
        case .shape: "It is kept as it is; save the item once with an official client."
        case .unknownType, .blob: "It is kept as it is; use an official client for it."
        }
    }

    private var place: String { path.steps.isEmpty ? "The item" : path.description }
}
