public import Sync
import Vault

/// What a writer does, step by step: the life of an account, from signing in until it is erased, over
/// and over. Every operation of the store is in it.
///
/// A note goes before whatever takes something away, so that no two steps in a row leave the same
/// picture, and none but the first may leave an empty one.
public struct Story: Sendable {
    let user: String
    /// What the last edit was recorded as.
    private var recorded: Recorded?

    public init(of user: String) {
        self.user = user
    }

    enum Step: Int, CaseIterable {
        case signIn, refresh, add, editWhatIsAdded, settle
        case editUnderTheOldID, noteTheEdit, withdrawTheEdit
        case edit, editOnceMore, withdrawTheSecondEdit, noteTheTrash, trash
        case refreshAgain, addAnother, noteTheOther, trashTheOther
        case discard, removeBase, noteTheEnd, erase
    }

    /// How many steps a life has.
    public static var steps: Int { Step.allCases.count }

    static func step(_ number: Int) -> Step { Step.allCases[number % steps] }

    /// The ids of a life; each has its own.
    struct Names: Sendable {
        let made, kept, known, other, brief: String

        init(_ number: Int) {
            let life = number / Story.steps
            made = "made-\(life)"
            kept = "kept-\(life)"
            known = "known-\(life)"
            other = "other-\(life)"
            brief = "brief-\(life)"
        }
    }

    /// Takes the step, and returns when the store says that it is safe.
    public mutating func tell(_ number: Int, in store: Store) async throws {
        let names = Names(number)
        switch Self.step(number) {
        case .signIn: try await store.put(StoredAccount(id: user, record: [1]))
        case .refresh: try await refresh([names.known, names.other], number, store)
        case .refreshAgain: try await refresh([names.known, names.kept], number, store)
        case .add: try await record(.add(snapshot(number)), names.made, number, store)
        case .addAnother: try await record(.add(snapshot(number)), names.brief, number, store)
        case .editWhatIsAdded: try await record(update(number), names.made, number, store)
        case .edit: try await record(update(number), names.known, number, store)
        case .editUnderTheOldID:
            try await record(update(number), names.made, number, store, isSent: true)
        case .editOnceMore:
            try await record(update(number), names.known, number, store, isSent: true)
        case .trash: try await record(.trash, names.known, number, store)
        case .trashTheOther: try await record(.trash, names.brief, number, store)
        case .settle: try await settle(names, number, store)
        case .withdrawTheEdit, .withdrawTheSecondEdit: try await withdraw(store)
        case .discard: try await discard(names.known, number, store)
        case .removeBase: try await store.removeBase(lane(names.known))
        case .noteTheEdit, .noteTheTrash, .noteTheOther, .noteTheEnd:
            try await store.set(Self.note(of: user), to: "\(number)")
        case .erase: _ = try await store.erase(user)
        }
    }
}

extension Story {
    /// The store did not do what the story knows it must.
    struct Contradiction: Error {
        let step: String
    }

    private mutating func record(
        _ wish: Edit.Wish,
        _ cipher: String,
        _ number: Int,
        _ store: Store,
        isSent: Bool = false
    ) async throws {
        let moment = Moment(ticks: Int64(number))
        let recording = try await store.record(
            Edit(wish, at: moment),
            in: lane(cipher),
            as: isSent ? .inFlight(Attempt(.update, at: moment, fingerprint: [7])) : .queued
        )
        switch recording {
        case .recorded(let recorded): self.recorded = recorded
        case .gone: recorded = nil
        default: throw Contradiction(step: "\(Self.step(number)): \(recording)")
        }
    }

    private func settle(_ names: Names, _ number: Int, _ store: Store) async throws {
        guard let change = recorded?.change else { throw Contradiction(step: "settle") }
        let moment = Moment(ticks: Int64(number))
        let settled = try await store.settle(
            change.id,
            in: lane(names.made),
            expecting: change.version,
            Settlement(
                upstream: .holds(base(names.kept, number)),
                receipts: ReceiptEnd(.sent, at: moment, resultCipherID: names.kept),
                resolution: ResolutionNote(.pushed, at: moment, winner: .local)
            )
        )
        guard case .settled = settled else { throw Contradiction(step: "settle: \(settled)") }
    }

    private func withdraw(_ store: Store) async throws {
        guard let recorded else { throw Contradiction(step: "withdraw") }
        let version = recorded.change.version
        guard try await store.withdraw(recorded, expecting: version) else {
            throw Contradiction(step: "withdraw")
        }
    }

    private func discard(_ cipher: String, _ number: Int, _ store: Store) async throws {
        guard
            let found = try store.reader.change(in: lane(cipher))?.summary,
            try await store.discard(
                found.id,
                expecting: found.version,
                at: Moment(ticks: Int64(number))
            )
        else { throw Contradiction(step: "discard") }
    }

    private func refresh(_ ciphers: [String], _ number: Int, _ store: Store) async throws {
        let mark = try store.reader.refreshMark(of: user)
        _ = try await store.refresh(
            user,
            ciphers: ciphers.map { base($0, number) },
            slices: [BaseSlice(.folder, id: "\(number)", json: Array("{}".utf8))],
            since: mark
        )
    }

    func lane(_ cipher: String) -> Lane { Lane(userID: user, cipherID: cipher) }

    static func note(of user: String) -> String { "note of \(user)" }

    private func base(_ cipher: String, _ number: Int) -> BaseCipher {
        BaseCipher(
            lane: lane(cipher),
            revision: Revision(text: "at \(number)", moment: Moment(ticks: Int64(number))),
            json: Array("{\"id\":\"\(cipher)\",\"pad\":\"\(Self.padding.prefix(600))\"}".utf8)
        )
    }

    private func update(_ number: Int) -> Edit.Wish {
        .update(snapshot(number), changesPassword: true)
    }

    /// Long enough to lie on pages of its own.
    func snapshot(_ number: Int) -> Snapshot {
        let text = "{\"name\":\"2.\(user)|\(number)\",\"pad\":\"\(Self.padding)\"}"
        return Snapshot(json: Array(text.utf8), keyFingerprint: [1])
    }

    private static let padding = String(repeating: "QUJD", count: 350)
}
