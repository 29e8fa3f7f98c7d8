import Vault

/// What a host asks, and what it shows.
extension Knowledge {
    mutating func noteRequest(
        isIdentity: Bool,
        _ call: String,
        by host: Int,
        at now: Duration
    ) {
        if let hold = holds[host]?[isIdentity], now < hold {
            breach(
                .patience,
                "\(call) leaves \((hold - now).shown) before the time that upstream asked to wait"
            )
        }
        requests[host, default: []].append(now)
        if let all = requests[host], let first = all.first, all.count > Self.mostRequests {
            requests[host]?.removeFirst()
            if now - first < .seconds(60) {
                breach(.patience, "more than \(Self.mostRequests) requests within a minute")
            }
        }
    }

    private static let mostRequests = 400
}

// MARK: - What is shown here

extension Knowledge {
    /// What was accepted is shown, or it has been upstream.
    ///
    /// - Parameters:
    ///   - isWhole: Whether nothing is here under a key that this host does not have.
    ///   - told: What had been accepted before anybody looked.
    mutating func look(
        at shown: [PlainItem],
        _ occasion: String,
        by host: Int,
        isWhole: Bool = true,
        told: Set<String>? = nil
    ) {
        for item in shown {
            for flaw in flaws(of: item) { breach(.nothingInvented, "here: \(flaw)") }
        }
        guard isWhole, discards[host, default: 0] == 0 else { return }
        let visible = Set(shown.flatMap(\.words))
        let known = wordsKnownUpstream
        for word in words.values.sorted(by: { $0.place < $1.place })
        where word.host == host && mustBeKept(word) {
            let isShared = origins[word.origin]?.isShared == true
            if told?.contains(word.text) == false { continue }
            let mustBeShown = !word.hasLanded || (word.fate == .saved && known.contains(word.text))
            if !visible.contains(word.text), mustBeShown, !isShared {
                breach(
                    occasion == "restart" ? .keptOnceAccepted : .ownEditsShown,
                    "\(word.text) (\(word.fate)) was accepted and is not shown after a \(occasion)"
                )
            }
        }
    }

    var accepted: Set<String> {
        Set(words.values.lazy.filter(\.isAcknowledged).map(\.text))
    }

    /// What upstream holds, as far as whoever was told that it does must know of it: nobody says
    /// anything else, and nobody reads anything else.
    private var wordsKnownUpstream: Set<String> {
        if hasLied || mayRegress || hasRotated { return [] }
        let items = upstream.values.filter { !$0.isBackup && !$0.isShared }
        return Set(items.flatMap(\.values.values))
    }

    /// What is shown and accepted, and was taken away by nobody, is there for whoever edits it.
    mutating func miss(_ name: String) {
        guard let origin = origins[name], !hasLied, !mayRegress, !origin.wasDeleted,
            origin.discarded.isEmpty, !origin.isShared,
            origin.host == nil || origin.fate == .saved || origin.fate == .queued
        else { return }
        breach(.ownEditsShown, "\(name) was shown, and is not there for whoever edits it")
    }

    private func mustBeKept(_ word: Word) -> Bool {
        isWanted(word) && !hasSuccessor(word) { $0.fate != .rejected }
    }

    /// Whether whoever wrote it was told that it is safe, and has not said since that it may go.
    func isWanted(_ word: Word) -> Bool {
        guard let host = word.host, word.isAcknowledged, !word.isExcused,
            let origin = origins[word.origin]
        else { return false }
        return origin.deleted[host].map { $0 < word.place } ?? true
    }

    /// Base never goes back, and never loses nearly everything, unless upstream did.
    ///
    /// - Parameter isReading: Whether what upstream has just said may not be in base yet.
    mutating func look(atBase new: [String: Stamp], of host: Int, isReading: Bool = false) {
        let base = self.base[host] ?? [:]
        self.base[host] = new
        let told = lies[host] ?? []
        lies[host] = isReading ? Array(told.suffix(1)) : nil
        // An item that is said to be missing bears out a list that lacks it, and is no list by itself.
        let lists = told.count { $0 != .missing }
        let lies = lists > 0 && lists < told.count ? lists + 1 : lists
        guard !mayRegress else { return }
        if lies > 0, told.allSatisfy({ $0 == .cached }) { lookForWitnesses(base, new) }
        // What upstream has no more may have come back between two looks, with an old list; and what one
        // list has left out, with the next.
        for (id, stamp) in new.sorted(by: { $0.key < $1.key }) where upstream[id] != nil {
            if let before = base[id], stamp.isBefore(before), lies < 2 {
                let name = upstream[id]?.origin ?? "an item"
                breach(.neverBack, "\(name) went back from \(before.text) to \(stamp.text)")
            }
        }
        // What has come since the last look was there when it was decided what may go; what upstream has
        // no more did not go because of a list.
        let there = Set(base.keys.filter { upstream[$0] != nil }).union(new.keys)
        let gone = there.filter { new[$0] == nil }
        let isNearlyAll =
            gone.count == there.count || (there.count >= 10 && gone.count * 10 >= there.count * 9)
        // Two lists may have left out a part each.
        guard !gone.isEmpty, isNearlyAll, lies < 2 else { return }
        breach(
            .neverNearlyEmpty,
            "\(gone.count) of \(there.count) items went although upstream has them"
        )
    }

    /// However often one old list is shown, each item in it could have been asked for.
    private mutating func lookForWitnesses(_ base: [String: Stamp], _ new: [String: Stamp]) {
        let denied = base.filter { id, stamp in new[id].map { $0.isBefore(stamp) } ?? true }
        let older = denied.keys.filter { new[$0] != nil }
        guard !older.isEmpty, denied.allSatisfy({ upstream[$0.key]?.revision == $0.value.text })
        else { return }
        breach(.neverBack, "\(older.count) items went back, although upstream has what was here")
    }
}

extension Knowledge.Stamp {
    /// By more than servers lose of a stamp.
    fileprivate func isBefore(_ other: Self) -> Bool {
        Moment(ticks: ticks).isEarlierStamp(than: Moment(ticks: other.ticks))
    }
}
