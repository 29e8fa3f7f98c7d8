import JSON
import Testing
import Vault

/// What is done offline and pushed in one go must leave upstream as the same done online does,
/// wish by wish. Both kinds of server are simulated.
@Suite struct PendingFoldingModelTests {
    /// Edits of ciphers that upstream has, and of those it has not.
    private static let bases: [Upstream.Entry?] = [
        nil,
        Upstream.Entry(),
        Upstream.Entry(isArchived: true),
        Upstream.Entry(isTrashed: true),
        Upstream.Entry(folder: "home", isFavourite: true, isArchived: true, isTrashed: true),
    ]

    private static let wishes: [Edit.Wish] = [
        .add(.content("new")), .add(.content("new", archived: true)),
        .update(.content("plain"), changesPassword: false),
        .update(.content("archived", archived: true), changesPassword: false),
        .update(.content("moved", folder: "work", isFavourite: true), changesPassword: false),
        .trash, .restore, .archive, .unarchive, .move(.none), .move(.id("work")),
        .favour(true), .favour(false), .place(.id("g"), isFavourite: true), .hardDelete,
    ]

    private static let sequences: [[Edit.Wish]] =
        wishes.map { [$0] }
        + wishes.flatMap { first in wishes.map { [first, $0] } }
        + wishes.flatMap { first in
            wishes.flatMap { second in wishes.map { [first, second, $0] } }
        }

    @Test(arguments: Upstream.Kind.allCases, bases)
    func `G-U2 every pair and triple of wishes ends offline as it does online`(
        _ kind: Upstream.Kind,
        _ base: Upstream.Entry?
    ) {
        #expect(Self.sequences.count > 2_900)
        for wishes in Self.sequences {
            let ours = Upstream(kind, base).afterOffline(wishes)
            let theirs = Upstream(kind, base).afterOnline(wishes)
            #expect(ours == theirs, "\(wishes.map(\.word))")
        }
    }

    @Test func `an unarchive is not undone by the date in the content before it`() throws {
        let add = Edit.Wish.add(.content("new", archived: true))
        for kind in Upstream.Kind.allCases {
            let end = Upstream(kind, nil).afterOffline([add, .unarchive])
            #expect(try #require(end).isArchived == false)
        }
    }

    @Test func `content that is not archived takes an archiving back`() throws {
        let update = Edit.Wish.update(.content("plain"), changesPassword: false)
        for kind in Upstream.Kind.allCases {
            let end = Upstream(kind, Upstream.Entry()).afterOffline([.archive, update])
            #expect(try #require(end).isArchived == false)
        }
    }

    /// On a lenient server, too, which takes a missing date for none of its business.
    @Test func `an update without a date of archiving unarchives what upstream has archived`()
        throws
    {
        let update = Edit.Wish.update(.content("plain"), changesPassword: false)
        for kind in Upstream.Kind.allCases {
            let end = Upstream(kind, Upstream.Entry(isArchived: true)).afterOffline([update])
            #expect(try #require(end) == Upstream.Entry(name: "plain"))
        }
    }

    private static let archived = Edit.Wish.update(
        .content("archived", archived: true),
        changesPassword: false
    )
    private static let takenBack: [[Edit.Wish]] = [
        [], [.hardDelete], [.trash, .hardDelete], [.hardDelete, .restore], [.hardDelete, .trash],
        [.hardDelete, .favour(true), .hardDelete],
    ]
    private static let unarchivings: [Edit.Wish] = [
        .update(.content("plain"), changesPassword: false), .unarchive,
    ]

    /// The content with its date was sent and nobody answered. What follows forgets the content, and
    /// yet has to reckon with its having landed.
    @Test(arguments: Upstream.Kind.allCases, takenBack)
    func `content that may have landed in the archive is taken out of it, deleted meanwhile or not`(
        _ kind: Upstream.Kind,
        _ between: [Edit.Wish]
    ) throws {
        for base in [Upstream.Entry?.none, Upstream.Entry()] {
            for hasLanded in [true, false] {
                for last in Self.unarchivings {
                    let first: Edit.Wish =
                        base == nil ? .add(.content("new", archived: true)) : Self.archived
                    var upstream = Upstream(kind, base)
                    let end = upstream.afterUnanswered(first, hasLanded, then: between + [last])
                    #expect(end?.isArchived != true, "\(first.word), \(hasLanded), \(last.word)")
                }
            }
        }
    }
}

/// One cipher as a server keeps it.
struct Upstream {
    enum Kind: CaseIterable {
        /// Null for the date of archiving takes the cipher out of the archive, and so does the trash.
        case literal
        /// A missing date changes nothing, and the trash neither.
        case lenient
    }

    struct Entry: Equatable {
        var name = "base"
        var folder: String?
        var isFavourite = false
        var isArchived = false
        var isTrashed = false
    }

    let kind: Kind
    private var entry: Entry?

    init(_ kind: Kind, _ entry: Entry?) {
        self.kind = kind
        self.entry = entry
    }

    /// The content, as a request that creates or replaces the cipher.
    private mutating func put(_ snapshot: Snapshot) {
        guard let cipher = try? Cipher(snapshot.json) else { return }
        let old = entry ?? Entry()
        let keeps = kind == .lenient && old.isArchived
        entry = Entry(
            name: cipher.document.root["name"]?.string ?? "",
            folder: cipher.folderID,
            isFavourite: cipher.isFavorite,
            isArchived: cipher.archivedDate != nil || keeps,
            isTrashed: old.isTrashed
        )
    }

    private mutating func trash() {
        guard entry?.isTrashed == false else { return }
        entry?.isTrashed = true
        if kind == .literal { entry?.isArchived = false }
    }

    private mutating func move(to folder: Adjustments.Folder) {
        entry?.folder = if case .id(let id) = folder { id } else { nil }
    }
}

// MARK: Online

extension Upstream {
    /// Wish by wish, as if each were pushed at once. The exceptions are those of the specification.
    func afterOnline(_ wishes: [Edit.Wish]) -> Entry? {
        var upstream = self
        let isKnown = entry != nil
        for wish in isKnown ? Self.inForce(wishes) : wishes[...] {
            upstream.obey(wish, isNewHere: !isKnown)
        }
        // A restore takes back a trash that is still pending, and the trash goes upstream last. So
        // only a trash that is left clears the archive, and what was archived after it is cleared.
        let isNewlyTrashed = upstream.entry?.isTrashed == true && entry?.isTrashed == false
        if isNewlyTrashed, kind == .literal { upstream.entry?.isArchived = false }
        return upstream.entry
    }

    /// T-31: what is wished after a deletion for good takes it back, and only that is left; an add
    /// is refused (T-30).
    private static func inForce(_ wishes: [Edit.Wish]) -> ArraySlice<Edit.Wish> {
        let wishes = wishes.filter { if case .add = $0 { false } else { true } }
        guard let last = wishes.lastIndex(where: { $0 != .hardDelete }),
            let deletion = wishes[...last].lastIndex(of: .hardDelete)
        else { return wishes[...] }
        return wishes[(deletion + 1)...]
    }

    private mutating func obey(_ wish: Edit.Wish, isNewHere: Bool) {
        switch wish {
        case .add(let snapshot):
            if entry == nil || isNewHere { put(snapshot) }
            if let isArchived = snapshot.json.isArchivedContent { entry?.isArchived = isArchived }
        case .update(let snapshot, _):
            guard entry != nil else { return }
            put(snapshot)
            if let isArchived = snapshot.json.isArchivedContent { entry?.isArchived = isArchived }
        // Of what was never sent, nothing is left.
        case .trash where isNewHere, .hardDelete: entry = nil
        case .trash: entry?.isTrashed = true
        case .restore: entry?.isTrashed = false
        case .archive: entry?.isArchived = true
        case .unarchive: entry?.isArchived = false
        case .move(let folder): move(to: folder)
        case .favour(let isFavourite): entry?.isFavourite = isFavourite
        case .place(let folder, let isFavourite):
            move(to: folder)
            entry?.isFavourite = isFavourite
        }
    }
}

// MARK: Offline

extension Upstream {
    /// All wishes folded into one change, which is then pushed.
    func afterOffline(_ wishes: [Edit.Wish]) -> Entry? {
        var upstream = self
        var change: PendingChange?
        for wish in wishes {
            let edit = Edit(wish, at: Moment(ticks: 1))
            let folding = change?.fold(edit, footing: footing) ?? beginning(edit)
            switch folding {
            case .recorded(let next), .resurrected(let next): change = next
            case .gone: change = nil
            case .unchanged, .refused: break
            }
        }
        if let change { upstream.take(change.intent) }
        return upstream.entry
    }

    /// The first wish's content is sent and never answered, whether it has landed or not; the others
    /// follow without anybody looking at upstream, and all that is left is pushed.
    mutating func afterUnanswered(
        _ first: Edit.Wish,
        _ hasLanded: Bool,
        then wishes: [Edit.Wish]
    ) -> Entry? {
        let footing = footing
        guard var change = beginning(Edit(first, at: Moment(ticks: 1))).change,
            let snapshot = change.intent.snapshot
        else { return entry }
        let isCreate = change.type == .create
        change.note(Attempt(isCreate ? .create : .update, at: Moment(ticks: 2), fingerprint: [1]))
        if hasLanded { put(snapshot) }
        for wish in wishes {
            let folding = change.fold(Edit(wish, at: Moment(ticks: 3)), footing: footing)
            if folding == .gone { return entry }
            change = folding.change ?? change
        }
        take(change.intent)
        return entry
    }

    private var footing: Footing? {
        entry.map {
            Footing(
                revision: Revision(text: "base", moment: Moment(ticks: 0)),
                isTrashed: $0.isTrashed,
                isArchived: $0.isArchived
            )
        }
    }

    private func beginning(_ edit: Edit) -> Folding {
        PendingChange.begin(
            edit,
            id: "record",
            userID: "user",
            cipherID: "cipher",
            footing: footing
        )
    }

    /// The calls of one change in their order: restore, content, archive, folder and favourite, then
    /// the trash or the deletion.
    private mutating func take(_ intent: Intent) {
        if intent.trash == .restored { entry?.isTrashed = false }
        if let snapshot = intent.snapshot { put(snapshot) }
        if let isArchived = intent.adjustments.isArchived { entry?.isArchived = isArchived }
        if let folder = intent.adjustments.folder { move(to: folder) }
        if let isFavourite = intent.adjustments.isFavourite { entry?.isFavourite = isFavourite }
        if intent.trash == .trashed { trash() }
        if intent == .hardDelete { entry = nil }
    }
}

extension Snapshot {
    fileprivate static func content(
        _ name: String,
        folder: String? = nil,
        isFavourite: Bool = false,
        archived: Bool = false
    ) -> Snapshot {
        let folder = folder.map { "\"\($0)\"" } ?? "null"
        let date = archived ? #""2026-01-09T00:00:00.000Z""# : "null"
        return .sample(
            #"{"type":1,"name":"\#(name)","folderId":\#(folder),"favorite":\#(isFavourite),"#
                + #""archivedDate":\#(date)}"#
        )
    }
}

extension [UInt8] {
    fileprivate var isArchivedContent: Bool? {
        (try? Cipher(self)).map { $0.archivedDate != nil }
    }
}

extension Edit.Wish {
    fileprivate var word: String {
        switch self {
        case .add(let snapshot): "add \(String(decoding: snapshot.json, as: UTF8.self))"
        case .update(let snapshot, _): "update \(String(decoding: snapshot.json, as: UTF8.self))"
        default: "\(self)"
        }
    }
}
