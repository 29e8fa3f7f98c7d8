import JSON

/// What an object of upstream's is made of: its members, of what kind each is, and where it goes.
///
/// Everything that opens, shows, edits, copies or re-encrypts a cipher walks along a shape. So a
/// member that is added to the table is taken care of everywhere, and one that is not in the table
/// is kept as it is everywhere.
final class Shape: Sendable {
    /// Those that the API shows come first, in its order.
    let members: [Member]
    /// The members that the API shows.
    let shown: ArraySlice<Member>
    /// The member by which an element of a list is known again after it was changed.
    let identity: String?
    /// The text without which an element of a list counts as nothing; see ``isVoid(_:)``.
    let essential: String?
    /// The members without which servers or other clients take the object for broken.
    let required: Set<String>

    /// The places of the members by their names.
    let names: JSON.Names<Int>
    private let places: [String: Int]

    init(
        identity: String? = nil,
        essential: String? = nil,
        required: Set<String> = [],
        _ members: [Member]
    ) {
        self.members = members
        shown = members.prefix { $0.uses.contains(.shown) }
        self.identity = identity
        self.essential = essential
        self.required = required
        names = JSON.Names(Array(members.indices)) { members[$0].name }
        places = Dictionary(
            members.enumerated().map { ($1.name, $0) },
            uniquingKeysWith: { first, _ in first }
        )
    }

    func index(of name: String) -> Int? { places[name] }

    /// The member that is meant by a name in somebody's JSON, its first letter in either case.
    func member(anyCase name: JSON.Name) -> Member? {
        names[anyCase: name].map { members[$0] }
    }
}

extension Shape {
    /// Whether an element of a list lacks what makes it one. Other clients break over it, so it is
    /// neither shown nor written again. (What is there and does not open is another matter.)
    func isVoid(_ element: JSON.Value) -> Bool {
        guard let essential, element.kind == .object else { return false }
        guard let text = element[anyCase: essential] else { return true }
        return text.kind != .string || text.saysNothing
    }

    /// Whether an empty text stands there that was never encrypted, and for which official clients
    /// write null. Servers that look at what they get take only that.
    func isToBeNull(_ value: JSON.Value, _ member: Member) -> Bool {
        switch member.kind {
        case .sealed, .checksum:
            value.isEmptyText && member.name != essential && !required.contains(member.name)
        case .key, .text, .date, .flag, .number, .texts, .kept, .mirror, .object, .list: false
        }
    }
}

/// One row of the schema.
struct Member: Sendable {
    let name: String
    let kind: Kind
    let uses: Uses

    init(_ name: String, _ kind: Kind, _ uses: Uses = .all) {
        self.name = name
        self.kind = kind
        self.uses = uses
    }

    /// What a member's value is, and so what is to be done with it.
    enum Kind: Sendable {
        /// An EncString or null; upstream takes no more characters than the limit.
        case sealed(limit: Int)
        /// The sealed checksum of the member of that name, made anew when that one changes.
        case checksum(of: String)
        /// The item's own key, wrapped by its owner's.
        case key
        case text
        case date
        case flag
        /// A whole number; what stands for null, if anything does.
        case number(ClosedRange<Int>, null: Int?)
        case texts
        /// Upstream's affair: never looked into, never changed.
        case kept
        /// Repeats what stands elsewhere, and is wrong once that has changed.
        case mirror
        case object(Shape)
        case list(Shape)
    }

    struct Uses: OptionSet, Sendable {
        let rawValue: Int

        /// The API shows it.
        static let shown = Uses(rawValue: 1)
        /// It belongs into a request.
        static let sent = Uses(rawValue: 2)
        /// A backup copy has it as its source has it.
        static let copied = Uses(rawValue: 4)
        static let all: Uses = [.shown, .sent, .copied]
        static let hidden: Uses = [.sent, .copied]
    }
}
