public import Crypto
public import JSON

/// Why an edit was not made. Nothing was changed; no case holds content.
public enum EditRefusal: Error, Equatable, Sendable {
    case notJSON(JSON.Failure)
    /// A member is missing, or is not what belongs there.
    case unfit(JSON.Mismatch)
    case unknownType(Int)
    /// An item keeps its type for ever.
    case typeChanged
    /// Upstream takes no encrypted text of more characters; this many bytes of plain text fit.
    case tooLong(JSON.Path, bytes: Int)
    /// A part of the item cannot be read and the edit leaves it in place.
    case unreadable(Flaw)
    /// The new text could not be encrypted.
    case crypto(CryptoError)
}

extension EditRefusal {
    func within(_ step: JSON.Step) -> EditRefusal {
        switch self {
        case .tooLong(let path, let bytes):
            .tooLong(JSON.Path([step] + path.steps), bytes: bytes)
        case .unfit(let mismatch):
            .unfit(mismatch.within(step))
        case .notJSON, .unknownType, .typeChanged, .unreadable, .crypto: self
        }
    }
}

extension EditRefusal: CustomStringConvertible {
    public var description: String {
        switch self {
        case .notJSON(let failure): failure.description
        case .unfit(let mismatch): mismatch.description
        case .unknownType(let number): "Items of type \(number) cannot be written here."
        case .typeChanged: "The type of an item cannot be changed."
        case .tooLong(let path, let bytes):
            "\(path) is too long. Upstream keeps at most \(bytes) bytes of text there."
        case .unreadable(let flaw): "The item cannot be edited. \(flaw)"
        case .crypto(let error): error.description
        }
    }
}
