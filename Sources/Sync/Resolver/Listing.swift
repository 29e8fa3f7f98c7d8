internal import Crypto
internal import JSON
internal import System
internal import Vault

/// All that upstream holds, asked for once in a run, and its folders one by one.
final class Listing: Sendable {
    /// What the answer says, ready to be looked into.
    struct Content: Sendable {
        let listed: Shelf
        /// What was known before and is not in it. With an old answer that may be there all the same.
        let missed: Shelf
        fileprivate let trust: Trust
        /// What came after that, it says nothing of, however late its answer came.
        let asked: Moment
        let folderIDs: Set<String>
    }

    /// Ciphers, to be looked through.
    struct Shelf: Sendable {
        let ciphers: [String: BaseCipher]
        private let keys = Index<String>()
        private let contents = Index<[UInt8]>()
        private let seals = Index<String>()
        private let openContents = Index<[UInt8]>()
        private let copies = Index<String>()

        fileprivate init(_ ciphers: some Sequence<BaseCipher>) {
            self.ciphers = Dictionary(
                ciphers.map { ($0.lane.cipherID, $0) },
                uniquingKeysWith: { _, last in last }
            )
        }
    }

    fileprivate enum Trust: Sendable {
        /// The answer is whole, is about this account, and does not come from an earlier point in time.
        case whole
        /// Nearly everything is gone in it, or something that cannot be read. It bears out what upstream says of one
        /// thing by itself.
        case shrunk
        /// It comes from an earlier point in time.
        case behind
        case none
    }

    private let answer = Once<Content>()
    private let folders = Lock<[String: Once<Bool>]>([:])

    /// What was fetched already.
    var content: Content? { answer.value }

    /// What was fetched already, or is fetched now.
    func content(
        from fetch: () async throws(Halt) -> Content
    ) async throws(Halt) -> Content {
        try await answer.value(from: fetch)
    }

    /// Whether upstream has a folder, asked for that alone: a list may be an old one.
    func hasFolder(
        _ id: String,
        by ask: () async throws(Halt) -> Bool
    ) async throws(Halt) -> Bool {
        let once = folders.withLock { folders in
            let once = folders[id] ?? Once()
            folders[id] = once
            return once
        }
        return try await once.value(from: ask)
    }
}

extension Listing.Content {
    init(
        _ fetched: Fetched,
        revision: Int64?,
        known: [BaseCipher],
        on footing: SyncFooting,
        asked: Moment,
        at now: Moment
    ) {
        let listed = Listing.Shelf(fetched.ciphers)
        self.asked = asked
        self.listed = listed
        missed = Listing.Shelf(known.filter { listed.ciphers[$0.lane.cipherID] == nil })
        trust =
            switch Belief(in: fetched.picture.asOf(revision), on: footing, at: now) {
            case .believed: fetched.isWhole ? .whole : .shrunk
            // It is for a sync to take that over: what upstream has forgotten is offered to it again then.
            case .confirmed: .behind
            case .doubted(let doubt): doubt.kind == .shrink ? .shrunk : .behind
            case .refused: .none
            }
        folderIDs = Set(fetched.slices.filter { $0.kind == .folder }.map(\.id))
    }

    /// Whether what is in it is as it says. What is not may be there all the same.
    var isBelieved: Bool { trust == .whole || trust == .shrunk }

    /// Whether upstream is at an earlier point in time than it was.
    var isBehind: Bool { trust == .behind }

    /// Ends whoever misses something in it, unless that is certainly gone.
    ///
    /// - Parameter isSaid: Whether upstream, asked for that alone, says so, too.
    func confirmAbsence(isSaid: Bool = false) throws(Halt) {
        switch trust {
        case .whole: break
        case .shrunk where isSaid: break
        case .shrunk, .behind: throw .behind
        case .none: throw .doubt(.unconfirmed)
        }
    }
}

extension Listing.Shelf {
    /// The cipher that was made of something that we sent: with the same item key, or, where that has
    /// none, with the same sealed content, or else with a part of it.
    ///
    /// Whoever gives the account another key wraps the item's key anew, and leaves what is sealed with
    /// that as it is; whoever edits an item leaves the rest of it as it is. Nobody seals anything twice
    /// alike.
    ///
    /// - Parameter base: What the change was made of; what was sent has most of it from there.
    func find(
        _ sent: Cipher?,
        madeOf base: Cipher? = nil,
        fingerprints: [[UInt8]]
    ) -> Cipher? {
        var id: String?
        if let key = sent?.key {
            id = keys.id(for: key, in: ciphers, by: { [$0.key] })
        } else {
            let wanted = fingerprints + [sent?.fingerprint].compactMap { $0 }
            id =
                wanted.lazy.compactMap {
                    contents.id(for: $0, in: ciphers, by: { [$0.fingerprint] })
                }.first
        }
        id =
            id
            ?? [sent, base].lazy.compactMap(\.self).flatMap(\.seals).compactMap {
                seals.id(for: $0, in: ciphers, by: { $0.seals })
            }.first
        return id.flatMap { ciphers[$0] }.flatMap { try? Cipher($0.json) }
    }
}

extension Listing.Shelf {
    /// The same when everything in it was sealed anew meanwhile, as is done to an item without a key
    /// of its own when the account gets another key: what says the same, and is no older than what was
    /// sent. Costs the opening of everything, once in a run.
    func find(_ sent: Cipher, since moment: Moment, openedWith keys: KeyRing) -> Cipher? {
        guard let wanted = sent.openFingerprint(in: keys) else { return nil }
        let earliest = moment.advanced(bySeconds: -Self.clocksApart)
        let same = openContents.ids(for: wanted, in: ciphers) { [$0.openFingerprint(in: keys)] }
        return same.lazy.compactMap { ciphers[$0] }.compactMap { try? Cipher($0.json) }.first {
            $0.creation.map { $0.moment >= earliest } ?? false
        }
    }

    /// The backup copies of this, whenever they were made. The item itself may be called like one.
    func backups(
        of cipher: Cipher,
        besides own: Set<String>,
        openedWith keys: KeyRing
    ) -> [String] {
        let source = Item(cipher, keys: keys)
        let ids = copies.ids(for: source.stemOfBackups, in: ciphers) {
            [Item($0, keys: keys).stemOfSource]
        }
        return ids.filter { id in
            guard !own.contains(id), let base = ciphers[id], let copy = try? Cipher(base.json)
            else {
                return false
            }
            return Item(copy, keys: keys).isBackup(of: source)
        }
    }

    /// In seconds: so far upstream's clock may be behind this one.
    private static let clocksApart: Int64 = 3_600
}

extension Cipher {
    /// What every item has sealed, and most logins. An empty text that some clients leave in place of a sealed one is
    /// none: many items have it.
    var seals: [String] {
        let (item, login) = (document.root, document.root["login"])
        return [
            item["name"]?.string, item["notes"]?.string, login?["username"]?.string,
            login?["password"]?.string,
        ].compactMap(\.self).filter { !$0.isEmpty }
    }
}

/// The ciphers by something that is in them, put together when it is first asked for: it means reading
/// all of them.
private final class Index<Mark: Hashable & Sendable>: Sendable {
    private let ids = Lock<[Mark: [String]]?>(nil)

    func id(
        for mark: Mark,
        in ciphers: [String: BaseCipher],
        by read: (Cipher) -> [Mark?]
    ) -> String? {
        ids(for: mark, in: ciphers, by: read).first
    }

    func ids(
        for mark: Mark,
        in ciphers: [String: BaseCipher],
        by read: (Cipher) -> [Mark?]
    ) -> [String] {
        let found = ids.withLock { ids in
            let known = ids ?? Self.ids(in: ciphers, by: read)
            ids = known
            return known[mark]
        }
        // A dictionary has no order, and the same is to be found each time.
        return found?.sorted() ?? []
    }

    private static func ids(
        in ciphers: [String: BaseCipher],
        by read: (Cipher) -> [Mark?]
    ) -> [Mark: [String]] {
        var ids: [Mark: [String]] = [:]
        for (id, base) in ciphers {
            let marks = (try? Cipher(base.json)).map(read) ?? []
            for mark in marks.compactMap(\.self) { ids[mark, default: []].append(id) }
        }
        return ids
    }
}
