public import Crypto
import EmbeddedUpstream
import Host
import Messaging
public import Sync
import System
public import Vault

/// Somebody who has an account on this host, with all that belongs to that.
public struct Person: Sendable {
    public let world: World
    public let userID: String
    public let upstream: WorldUpstream
    /// The same person on another device, whose requests are not noted.
    public let elsewhere: Elsewhere
    /// The keys as they were when the account was made.
    public let ring: KeyRing
    public let keys = Keyholder()
    public let lanes = Lanes()
    public let resolver: Resolver

    init(
        _ world: World,
        userID: String,
        upstream: WorldUpstream,
        elsewhere: UpstreamAccount,
        keys ring: KeyRing
    ) {
        self.world = world
        self.userID = userID
        self.upstream = upstream
        self.elsewhere = Elsewhere(account: elsewhere, ring: ring, world: world)
        self.ring = ring
        keys.unlock(ring)
        resolver = Resolver(
            userID: userID,
            store: world.pendingStore.address,
            reader: world.store.reader,
            upstream: upstream,
            keys: keys,
            lanes: lanes,
            surroundings: world.surroundings
        )
    }

    public func lane(_ id: String) -> Lane { Lane(userID: userID, cipherID: id) }

    // MARK: What is recorded here: to wait, or as if it were sent at once

    /// Records a new item under an id of our own.
    @discardableResult
    public func add(_ json: String) async throws -> String {
        try await addition(json, atOnce: false).change.cipherID
    }

    /// The same, and upstream makes it, but nobody hears of that.
    public func addUnheard(_ json: String) async throws -> String {
        let made = try await add(json)
        await world.server.inject(Fault(.loseAnswer, on: .createCipher))
        try await run()
        return made
    }

    /// Records a new item as if it were sent at once.
    public func addAtOnce(_ json: String) async throws -> Recorded {
        try await addition(json, atOnce: true)
    }

    private func addition(_ json: String, atOnce: Bool) async throws -> Recorded {
        let id = world.chance.identifier()
        world.time.pass(.seconds(10))
        let cipher = try Cipher(
            creating: ItemBody(Array(json.utf8)),
            id: id,
            at: world.surroundings.now,
            keys: ring,
            entropy: world.chance
        )
        return try await record(.add(Snapshot(cipher, keys: ring)), id, atOnce: atOnce).made
    }

    /// Records an edit of what is shown here: of what is pending, or else of base.
    @discardableResult
    public func edit(
        _ id: String,
        _ json: String,
        atOnce: Bool = false,
        after time: Duration = .seconds(10)
    ) async throws -> Recorded {
        world.time.pass(time)
        let edited = try item(id).edited(
            by: ItemBody(Array(json.utf8)),
            at: world.surroundings.now,
            keys: ring,
            entropy: world.chance
        )
        let snapshot = Snapshot(edited.cipher, keys: ring)
        let wish = Edit.Wish.update(snapshot, changesPassword: edited.changesPassword)
        return try await record(wish, id, atOnce: atOnce).made
    }

    /// Records any other wish.
    @discardableResult
    public func wish(
        _ wish: Edit.Wish,
        _ id: String,
        atOnce: Bool = false,
        after time: Duration = .seconds(10)
    ) async throws -> Recording {
        world.time.pass(time)
        return try await record(wish, id, atOnce: atOnce)
    }

    @discardableResult
    private func record(
        _ wish: Edit.Wish,
        _ id: String,
        atOnce: Bool
    ) async throws -> Recording {
        let surroundings = world.surroundings
        let edit = Edit(
            wish,
            at: surroundings.now,
            clock: surroundings.clockNote(offset: upstream.leastClockOffset)
        )
        let beginning = atOnce ? Beginning.inFlight(edit.attempt) : .queued
        return try await world.store.record(edit, in: lane(id), as: beginning)
    }

    /// The item as it is shown here.
    public func item(_ id: String) throws -> Item {
        let layers = try world.store.reader.layers(of: lane(id))
        let snapshot = layers.pending?.change?.intent.snapshot
        guard let json = snapshot?.json ?? layers.base?.json else {
            throw Unexpected("there is no item \(id)")
        }
        return Item(try Cipher(json), keys: ring)
    }

    /// Makes so many items elsewhere, and takes them over.
    public func furnish(_ count: Int) async throws -> [String] {
        var ids: [String] = []
        for number in 0..<count {
            ids.append(try await elsewhere.add(#"{"type":1,"name":"\#(number)"}"#))
        }
        try await refresh()
        return ids
    }

    // MARK: What the services do

    /// Takes over all that upstream holds.
    public func refresh() async throws {
        let mark = try world.store.reader.refreshMark(of: userID)
        let fetched = try await upstream.fetch(.patient)
        _ = try await world.store.refresh(
            userID,
            ciphers: fetched.ciphers,
            slices: fetched.slices,
            since: mark,
            judge: Judge(keys.keys)
        )
        world.wire.forget()
    }

    @discardableResult
    public func run(
        _ reach: Resolver.Run.Reach = .due,
        _ urgency: Urgency = .patient,
        unknown: Resolver.Run.Unknown = .account
    ) async throws -> RunReport {
        let run = Resolver.Run(reach, urgency, unknown: unknown)
        return try await resolver.address.ask { .run(run, $0) }.get()
    }

    /// Brings what is pending under the keys that are there now.
    @discardableResult
    public func reseal(from old: KeyRing) async throws -> Int {
        guard let present = keys.keys else { throw Unexpected("the vault is locked") }
        return try await resolver.address.ask { .reseal(from: old, to: present, $0) }.get()
    }

    /// Has an edit that was recorded to be sent at once brought upstream, in its lane.
    public func attempt(_ recorded: Recorded) async throws -> Attempted {
        try await lanes.hold(recorded.change.cipherID) { () async throws -> Attempted in
            try await resolver.address.ask { .attempt(recorded, $0) }.get()
        }
    }

    /// - Parameter seen: What it was made on; what base has now, if that is not said.
    public func carryOut(
        _ wish: Edit.Wish,
        of id: String,
        madeOn seen: BaseCipher? = nil
    ) async throws -> Carried {
        world.time.pass(.seconds(10))
        let seen = try seen ?? base(id)
        return try await resolver.address.ask {
            .carryOut(wish, of: lane(id), madeOn: seen, $0)
        }.get()
    }

    /// The content for a wish that is carried out without being recorded.
    public func content(of id: String, _ json: String) throws -> Snapshot {
        let edited = try item(id).edited(
            by: ItemBody(Array(json.utf8)),
            at: world.surroundings.now,
            keys: ring,
            entropy: world.chance
        )
        return Snapshot(edited.cipher, keys: ring)
    }

    /// What was begun before is over.
    public func signInAgain() {
        let session = upstream.account.session
        session.signIn(session.tokens)
    }

    // MARK: What there is

    public var changes: [PendingChange] {
        get throws { try world.store.reader.changes(of: userID).compactMap(\.change) }
    }

    public func change(_ id: String) throws -> PendingChange? {
        try world.store.reader.change(in: lane(id))?.change
    }

    public func base(_ id: String) throws -> BaseCipher? {
        try world.store.reader.base(lane(id))
    }

    /// What the history says of resolved changes, the oldest first.
    public var resolutions: [ResolutionNote] {
        get throws {
            try world.store.reader.resolutions(of: userID, limit: 1_000).reversed().map(\.note)
        }
    }
}

extension Recording {
    public var made: Recorded {
        get throws {
            guard case .recorded(let recorded) = self else {
                throw Unexpected("it was not recorded: \(self)")
            }
            return recorded
        }
    }
}
