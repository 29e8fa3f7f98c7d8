import JSON

/// The entries of a history of passwords, so that one is found without going through all of them: whoever keeps
/// thousands would hold up everybody else.
struct EntryIndex {
    /// When one password was used last.
    private struct Uses {
        /// As they are written, where nobody can tell which moment that is.
        var unread: Set<String?> = []
        var moments: [Int64] = []
        var wholeSeconds: [Int64] = []
    }

    private var byPassword: [String?: Uses] = [:]

    init(_ entries: [Contents]) {
        for entry in entries {
            let password = entry["password"].text
            guard let moment = entry.lastUsed?.moment else {
                byPassword[password, default: Uses()].unread.insert(entry["lastUsedDate"].date)
                continue
            }
            byPassword[password, default: Uses()].moments.append(moment.ticks)
            guard moment.isWholeSecond else { continue }
            byPassword[password, default: Uses()].wholeSeconds.append(moment.ticks)
        }
        for password in byPassword.keys {
            byPassword[password]?.moments.sort()
            byPassword[password]?.wholeSeconds.sort()
        }
    }

    /// Clients see three digits of a date, whatever is kept.
    func contains(_ entry: Contents) -> Bool {
        guard let uses = byPassword[entry["password"].text] else { return false }
        guard let moment = entry.lastUsed?.moment else {
            return uses.unread.contains(entry["lastUsedDate"].date)
        }
        // What is nearest tells, also of what is further away.
        return [uses.moments, uses.wholeSeconds].contains { others in
            others.neighbours(of: moment.ticks).contains {
                moment.mayStampSame(as: Moment(ticks: $0))
            }
        }
    }
}

extension Contents {
    var lastUsed: Revision? { self["lastUsedDate"].text.flatMap(Revision.init) }
}

extension [Int64] {
    /// Of what is in order, the last before a number, and the first from there on.
    fileprivate func neighbours(of number: Int64) -> ArraySlice<Int64> {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if self[middle] < number { low = middle + 1 } else { high = middle }
        }
        return self[Swift.max(low - 1, 0)..<Swift.min(low + 1, count)]
    }
}
