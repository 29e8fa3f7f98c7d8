import SQLite
import System
import TestSupport
import Vault

@testable import Sync

/// A store to try things on.
struct Shelf {
    let store: Store
    let scratch: Scratch?

    static let user = "user-1"

    init(
        _ scratch: Scratch? = nil,
        limits: Store.Limits = Store.Limits(),
        seed: UInt64 = 1,
        time: any Timekeeper = SystemTimekeeper()
    ) async throws {
        let scratch = try scratch ?? Scratch()
        var options = Store.Options()
        options.limits = limits
        store = try await Store.open(
            in: StateDirectory(scratch.path),
            options: options,
            time: time,
            chance: SeededChance(seed: seed)
        ).store
        self.scratch = scratch
        try await signIn("user-1")
    }

    /// On a disk on which things go wrong.
    init(
        on disk: FaultyDisk,
        seed: UInt64 = 1,
        time: any Timekeeper = SystemTimekeeper()
    ) async throws(StoreError) {
        store = try await Self.open(on: disk, seed: seed, time: time)
        scratch = nil
        try await signIn("user-1")
    }

    /// Without anybody signed in: that would be a write.
    static func open(
        on disk: FaultyDisk,
        seed: UInt64 = 1,
        time: any Timekeeper = SystemTimekeeper()
    ) async throws(StoreError) -> Store {
        var options = Store.Options()
        options.database.vfs = disk.vfs
        return try await Store.open(
            "holdfast.db",
            nil,
            options,
            time: time,
            chance: SeededChance(seed: seed)
        )
    }

    /// An account that is there already stays as it is.
    func signIn(_ user: String) async throws(StoreError) {
        do throws(DatabaseError) {
            try await byHand("INSERT OR IGNORE INTO account VALUES (?, x'01')", .text(user))
        } catch {
            throw .database(error)
        }
    }

    static func snapshot(_ text: String) -> Snapshot {
        let json = Array("{\"name\":\"2.\(text)\"}".utf8)
        return Snapshot(json: json, keyFingerprint: [1])
    }

    static func moment(_ number: Int) -> Moment { Moment(ticks: Int64(number)) }

    static func lane(_ cipher: String, user: String = Shelf.user) -> Lane {
        Lane(userID: user, cipherID: cipher)
    }

    static func base(_ cipher: String, user: String = Shelf.user, ticks: Int = 10) -> BaseCipher {
        BaseCipher(
            lane: lane(cipher, user: user),
            revision: Revision(text: "revision \(ticks)", moment: moment(ticks)),
            json: Array("{\"id\":\"\(cipher)\",\"at\":\(ticks)}".utf8)
        )
    }

    @discardableResult
    func record(
        _ wish: Edit.Wish,
        _ cipher: String,
        user: String = Shelf.user,
        at number: Int = 100,
        as beginning: Beginning = .queued,
        expecting seen: Seen? = nil
    ) async throws(StoreError) -> Recording {
        if user != Self.user { try await signIn(user) }
        return try await store.record(
            Edit(wish, at: Self.moment(number)),
            in: Self.lane(cipher, user: user),
            as: beginning,
            expecting: seen
        )
    }

    @discardableResult
    func add(_ cipher: String, user: String = Shelf.user, at number: Int = 100) async throws
        -> Recorded
    {
        try await record(.add(Self.snapshot(cipher)), cipher, user: user, at: number).made
    }

    /// A cipher that upstream has, edited.
    @discardableResult
    func edit(_ cipher: String, user: String = Shelf.user, to text: String = "new") async throws
        -> Recorded
    {
        if try store.reader.base(Self.lane(cipher, user: user)) == nil {
            try await signIn(user)
            try await store.putBase(Self.base(cipher, user: user))
        }
        let wish = Edit.Wish.update(Self.snapshot(text), changesPassword: true)
        return try await record(wish, cipher, user: user).made
    }

    /// As a person does it who sees what waits.
    func discard(_ cipher: String, user: String = Shelf.user) async throws {
        guard let change = try change(cipher, user: user) else { return }
        _ = try await store.discard(change.id, expecting: change.version, at: store.now)
    }

    func changes(_ user: String = Shelf.user) throws -> [PendingChange] {
        try store.reader.changes(of: user).compactMap(\.change)
    }

    func change(_ cipher: String, user: String = Shelf.user) throws -> PendingChange? {
        try store.reader.change(in: Self.lane(cipher, user: user))?.change
    }

    /// What an operator may do to the file with a tool of their own.
    func byHand(_ sql: StaticString) async throws(DatabaseError) {
        try await store.database.execute(sql)
    }

    func byHand(_ sql: StaticString, _ value: Value) async throws(DatabaseError) {
        try await store.database.execute(sql, value)
    }
}

struct NotRecorded: Error {
    let recording: Recording
}

extension Recording {
    var made: Recorded {
        get throws {
            guard case .recorded(let recorded) = self else { throw NotRecorded(recording: self) }
            return recorded
        }
    }
}

extension StoreReader {
    func count(of userID: String) throws -> Int {
        try tally(of: userID).reduce(0) { $0 + $1.count }
    }
}
