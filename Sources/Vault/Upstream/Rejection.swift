/// A refusal as upstream worded it.
public struct Rejection: Hashable, Sendable {
    public let status: Int
    /// What to show a person: the first complaint about a field, or else the message.
    public let message: String
    /// All complaints about fields; some servers put the message itself here.
    public let complaints: [String]
    /// The body as it came, for a caller who is owed the original.
    public let body: [UInt8]

    public init(
        status: Int,
        message: String,
        complaints: [String] = [],
        body: [UInt8] = []
    ) {
        self.status = status
        self.message = message
        self.complaints = complaints
        self.body = body
    }

    /// Whether it may come from whoever stands before the server and lets nobody through: it is forbidden, or
    /// a page for people. That something is too large is about the item, whoever says so.
    public var mayMeanEverybody: Bool {
        status == 403 || (status != 413 && body.first { $0 > 0x20 } == UInt8(ascii: "<"))
    }

    /// Whether upstream's store could not write: one of the servers words that as a refusal. Mostly it is locked, full or
    /// read-only, and will be well again; or it never takes this one. What a create meets once its item is there is not
    /// among it.
    public var isOfStore: Bool {
        status == 400 && Self.wordsOfStore.contains { says($0) }
    }

    private static let wordsOfStore = [
        "error saving cipher", "error deleting cipher", "error saving device",
        "error removing cipher from folder", "error removing favorite",
    ]

    /// Whether it says so, in the message or in a complaint, whatever the case of its letters.
    public func says(_ words: String) -> Bool {
        let words = words.lowercased()
        return message.lowercased().contains(words)
            || complaints.contains { $0.lowercased().contains(words) }
    }
}

extension Rejection: CustomStringConvertible {
    public var description: String { "\(status), \(message)" }
}
