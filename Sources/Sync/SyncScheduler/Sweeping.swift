internal import Logging
internal import Messaging
internal import Vault

extension SyncScheduler {
    /// Puts into the trash what upstream has carried out late, or has denied: an untouched copy of something
    /// that was sent again meanwhile and is there. What fails is done after the next refresh.
    func sweep(_ fetched: Fetched, _ urgency: Urgency) async {
        guard let strays = try? reader.strays(of: userID), !strays.isEmpty else { return }
        let ciphers = Dictionary(fetched.ciphers.map { ($0.lane.cipherID, $0) }) { $1 }
        let copies = Self.copies(of: strays, among: fetched.ciphers)
        for stray in strays {
            guard let same = copies[stray.fingerprint] else { continue }
            for copy in extra(same, stray.keeper, ciphers) where !mayBeEdited(copy.base) {
                await remove(copy.cipher, copy.base, urgency)
            }
        }
    }

    /// Whatever lies in between may deliver a request twice, and only upstream's list shows that: something that
    /// came from here, and beside it another that nobody could have sealed alike.
    func noteTwins(among fetched: Fetched, on footing: SyncFooting) async {
        let newcomers = fetched.ciphers.filter {
            !$0.isTrashed && footing.ciphers[$0.lane.cipherID] == nil
        }
        // At the first sync all are.
        guard !newcomers.isEmpty, !footing.ciphers.isEmpty, let sent = keepers(among: fetched)
        else { return }
        let twins = newcomers.compactMap { base -> Stray? in
            guard let fingerprint = (try? Cipher(base.json))?.fingerprint,
                let keeper = sent[fingerprint], keeper != .item(base.lane.cipherID)
            else { return nil }
            return Stray(fingerprint, keeper: keeper)
        }
        guard !twins.isEmpty else { return }
        let now = surroundings.now
        _ = try? await store.ask { .base(.watch(twins, of: userID, at: now, $0)) }.get()
    }

    /// By what came from here, as it was made and as it is, what holds it. Nil if nothing did lately.
    private func keepers(among fetched: Fetched) -> [[UInt8]: Stray.Keeper]? {
        guard let own = try? reader.broughtUp(of: userID), let made = try? reader.made(of: userID),
            !own.isEmpty || !made.isEmpty
        else { return nil }
        let present = fetched.ciphers.lazy.filter { own.contains($0.lane.cipherID) }
            .compactMap { base in
                (try? Cipher(base.json)).map {
                    ($0.fingerprint, Stray.Keeper.item(base.lane.cipherID))
                }
            }
        return Dictionary(present + made.map { ($0.fingerprint, $0.keeper) }) { first, _ in first }
    }

    /// Those of the copies that nobody wants and with which nothing is lost.
    private func extra(
        _ same: [Copy],
        _ keeper: Stray.Keeper,
        _ ciphers: [String: BaseCipher]
    ) -> [Copy] {
        let bare = same.filter { $0.cipher.isBare }
        let keeperID: String?
        switch keeper {
        case .none: return bare
        case .item(let id): keeperID = id
        case .whichever: keeperID = Self.keeper(of: same)
        }
        guard let keeperID, let kept = ciphers[keeperID], !mayBeEdited(kept) else { return [] }
        return bare.filter {
            $0.base.lane.cipherID != keeperID && Self.isExtra($0.cipher, beside: kept)
        }
    }

    /// One that is older than what is kept was there for everybody before upstream denied it, and is all
    /// that is left once that is in the trash.
    private static func isExtra(_ copy: Cipher, beside keeper: BaseCipher) -> Bool {
        guard keeper.isTrashed, let kept = try? Cipher(keeper.json) else { return true }
        return !copy.isOlder(than: kept)
    }

    private typealias Copy = (base: BaseCipher, cipher: Cipher)

    private static func copies(
        of strays: [Stray],
        among ciphers: [BaseCipher]
    ) -> [[UInt8]: [Copy]] {
        let sent = Set(strays.map(\.fingerprint))
        var copies: [[UInt8]: [Copy]] = [:]
        for base in ciphers where !base.isTrashed {
            guard let cipher = try? Cipher(base.json) else { continue }
            let fingerprint = cipher.fingerprint
            guard sent.contains(fingerprint) else { continue }
            copies[fingerprint, default: []].append((base, cipher))
        }
        return copies
    }

    /// Where nobody has heard of any: one that somebody has touched, or else the first.
    private static func keeper(of same: [Copy]) -> String? {
        let first = same.first { !$0.cipher.isUntouched }
        return first?.base.lane.cipherID ?? same.map(\.base.lane.cipherID).min()
    }

    /// Whether its owner may be about to change or remove it, or has since the list was asked for.
    private func mayBeEdited(_ listed: BaseCipher) -> Bool {
        guard let layers = try? reader.layers(of: listed.lane) else { return true }
        return layers.pending != nil || layers.base?.revision.text != listed.revision.text
    }

    private func remove(_ copy: Cipher, _ base: BaseCipher, _ urgency: Urgency) async {
        guard let mark = try? reader.refreshMark(of: userID) else { return }
        do throws(Setback) {
            try await upstream.trash(base.lane.cipherID, urgency)
        } catch {
            surroundings.log.warning("An extra copy could not be removed.", because: error)
            return
        }
        surroundings.log.info(
            "An extra copy that upstream had made late is in the trash.",
            ["account": userID, "cipher": base.lane.cipherID]
        )
        guard let trashed = BaseCipher(copy.trashed(at: surroundings.now), of: userID) else {
            return
        }
        // Of what was written meanwhile the next list tells how it lies there.
        _ = try? await store.ask {
            .base(.follow(trashed, over: nil, since: mark, by: Judge(keys.keys), $0))
        }.get()
    }
}

extension Cipher {
    fileprivate func isOlder(than other: Cipher) -> Bool {
        guard let made = creation, let others = other.creation else { return false }
        return made.moment < others.moment
    }

    /// Whether nothing is lost with it but what it was made with.
    fileprivate var isBare: Bool {
        isUntouched && attachmentIDs.isEmpty && organizationID == nil
    }

    /// Whether it is as it was made. Servers stamp both moments one after the other.
    fileprivate var isUntouched: Bool {
        guard let made = creation, let written = revision else { return false }
        return abs(written.moment.ticks - made.moment.ticks) < Moment.ticksPerSecond
    }
}
