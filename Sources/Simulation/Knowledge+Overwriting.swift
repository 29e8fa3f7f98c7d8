/// What a device takes away that has not seen it, as servers let it within the second.
extension Knowledge {
    /// Which passwords a host is to keep then, because they would be nowhere; nil for all else. What stood in the
    /// history alone, somebody else has written over before.
    func overwriting(
        of word: Word,
        _ before: [String: PlainItem],
        by author: Author
    ) -> Word.Overwriting? {
        guard let host = word.host, let known = author.known(besides: host),
            word.field == .password, !word.isExcused, !hasOddStamps, !hasRotated,
            let item = before.values.first(where: {
                $0.values[.password] == word.text && !$0.isBackup && !$0.isShared
            }), let now = upstream[item.id], item.revision != known,
            item.isStampedWithinTwoSeconds(of: known)
        else { return nil }
        if now.isStampedWithinTwoSeconds(of: item.revision) { return .soon }
        return now.hasOutgrown ? nil : .late
    }

    /// A host whose vault is locked judges later, by what is there then.
    mutating func excuseOutgrown(by item: PlainItem) {
        guard item.hasOutgrown else { return }
        excuseOverwritten { $0.origin == item.origin && $0.overwriting == .late }
    }

    /// The account gets another key, and what was under the former is fetched anew.
    mutating func rotate() {
        hasRotated = true
        excuseOverwritten { _ in true }
    }

    private mutating func excuseOverwritten(_ isGone: (Word) -> Bool) {
        let there = Self.words(in: upstream)
        for (text, word) in words
        where word.overwriting != nil && !there.contains(text) && isGone(word) {
            words[text]?.isExcused = true
        }
    }

    /// What was deleted before its host could see that, or given away, is not kept.
    func isKept(_ word: Word) -> Bool {
        guard word.overwriting != nil, let origin = origins[word.origin] else { return true }
        return !origin.isShared && !origin.wasDeleted
    }
}

extension PlainItem {
    /// Other devices date all of a history alike here, so a full one seems to have outgrown what was there before.
    var hasOutgrown: Bool { history.count >= 5 }
}

extension Knowledge.Author {
    /// What a device knew of the item over which it writes, or another host than that.
    fileprivate func known(besides host: Int) -> String? {
        switch self {
        case .stale(let known): known
        case .host(let other, .push, let known, _, _): other == host ? nil : known
        case .host, .other, .rollBack: nil
        }
    }
}
