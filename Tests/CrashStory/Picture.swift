public import Sync
import Vault

/// All that the store shows of an account.
struct Picture: Equatable {
    var hasAccount = false
    var pending: [Wanted] = []
    var base: [Held] = []
    var folders: [String] = []
    /// What the id that was made for an item leads to.
    var alias: String?
    /// Newest first.
    var history: [ResolutionNote.Outcome] = []
    var note: String?

    struct Wanted: Equatable {
        let cipherID: String
        var type: ChangeType
        var snapshot: Snapshot?
        var passwordChanges: Int64
        var attempts = 0
    }

    struct Held: Equatable {
        let cipherID: String
        let ticks: Int64
        var isDamaged = false
    }
}

extension Picture {
    /// As the store shows it in the life that this step belongs to.
    init(of story: Story, at number: Int, in store: Store) throws {
        let (user, reader) = (story.user, store.reader)
        let layers = try reader.layers(of: user)
        hasAccount = try reader.accounts().contains { $0.id == user }
        pending = layers.pending.map { stored in
            Wanted(
                cipherID: stored.summary.lane.cipherID,
                type: stored.summary.type,
                snapshot: stored.change?.intent.snapshot,
                passwordChanges: stored.summary.passwordChanges,
                // One that cannot be read is like no other.
                attempts: stored.change?.attempts.count ?? -1
            )
        }
        base = layers.base.map {
            Held(
                cipherID: $0.lane.cipherID,
                ticks: $0.revision.moment.ticks,
                isDamaged: $0.isDamaged
            )
        }
        folders = try reader.slices(of: user, .folder).map(\.id)
        alias = try reader.base(story.lane(Story.Names(number).made))?.lane.cipherID
        history = try reader.resolutions(of: user, limit: 9).map(\.note.outcome)
        note = try reader.setting(Story.note(of: user))
    }

    /// As it has to be after a step; before the first it is empty.
    init(after number: Int, of story: Story) {
        self.init()
        guard number >= 0 else { return }
        for earlier in 0...number { take(earlier, of: story) }
    }

    private mutating func take(_ number: Int, of story: Story) {
        let names = Story.Names(number)
        let ticks = Int64(number)
        switch Story.step(number) {
        case .signIn: hasAccount = true
        case .refresh: refresh([names.known, names.other], number)
        case .refreshAgain: refresh([names.kept, names.known], number)
        case .add: add(names.made, story.snapshot(number))
        case .addAnother: add(names.brief, story.snapshot(number))
        case .editWhatIsAdded:
            pending[0].snapshot = story.snapshot(number)
            pending[0].passwordChanges = 1
        case .settle:
            pending = []
            base.insert(Held(cipherID: names.kept, ticks: ticks), at: 0)
            alias = names.kept
            history = [.pushed]
        case .editUnderTheOldID: edit(names.kept, story.snapshot(number), attempts: 1)
        case .withdrawTheEdit: pending = []
        case .edit: edit(names.known, story.snapshot(number))
        case .editOnceMore:
            pending[0].snapshot = story.snapshot(number)
            pending[0].passwordChanges = 2
            pending[0].attempts = 1
        case .withdrawTheSecondEdit:
            // What was sent stays written down.
            pending[0].snapshot = story.snapshot(number - 2)
            pending[0].passwordChanges = 1
        case .trash: pending[0].type = .softDelete
        case .trashTheOther: pending.removeLast()
        case .discard:
            pending = []
            history.insert(.discarded, at: 0)
        case .removeBase: base.removeLast()
        case .noteTheEdit, .noteTheTrash, .noteTheOther, .noteTheEnd: note = "\(number)"
        case .erase: self = Picture(note: note)
        }
    }

    private init(note: String?) {
        self.note = note
    }

    private mutating func add(_ cipher: String, _ snapshot: Snapshot) {
        pending.append(
            Wanted(cipherID: cipher, type: .create, snapshot: snapshot, passwordChanges: 0)
        )
    }

    private mutating func edit(_ cipher: String, _ snapshot: Snapshot, attempts: Int = 0) {
        pending.append(
            Wanted(
                cipherID: cipher,
                type: .update,
                snapshot: snapshot,
                passwordChanges: 1,
                attempts: attempts
            )
        )
    }

    private mutating func refresh(_ ciphers: [String], _ number: Int) {
        base = ciphers.map { Held(cipherID: $0, ticks: Int64(number)) }
        folders = ["\(number)"]
    }
}

extension Story {
    /// What is wrong with what the store holds after this step was acknowledged; nothing, if all is
    /// well. The step that follows may be there too, for it was perhaps under way.
    public static func loss(
        acknowledged number: Int,
        of user: String,
        in store: Store
    ) throws -> String? {
        let story = Story(of: user)
        for last in [number, number + 1] {
            let found = try Picture(of: story, at: max(last, 0), in: store)
            if found == Picture(after: last, of: story) { return nil }
        }
        return "\(user) after \(number): \(try Picture(of: story, at: max(number, 0), in: store))"
    }

    /// Whether every step leaves a picture of its own. Otherwise what was lost could pass for what had
    /// not been there yet.
    public static var tellsEveryLoss: Bool {
        let story = Story(of: "nobody")
        let pictures = (-1..<2 * steps).map { Picture(after: $0, of: story) }
        return pictures.indices.allSatisfy { index in
            !pictures[..<index].contains(pictures[index])
        }
    }
}
