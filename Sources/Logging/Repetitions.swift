/// Which of many equal lines are worth writing.
///
/// Five of a kind in ten seconds; the rest are counted, and the count goes with the next that is
/// written. A kind that has been quiet is forgotten.
struct Repetitions {
    enum Admission: Equatable {
        /// Together with how many were left out before.
        case write(repeated: Int)
        case leaveOut
    }

    private struct Kind {
        var since: Duration
        var written = 1
        var leftOut = 0
    }

    private static let written = 5
    private static let period = Duration.seconds(10)
    /// More kinds than that at once are no repetition.
    private static let capacity = 128

    private var kinds: [Int: Kind] = [:]

    mutating func admit(_ key: Int, at moment: Duration) -> Admission {
        guard var kind = kinds[key] else { return admitNew(key, at: moment) }
        if moment - kind.since >= Self.period {
            kinds[key] = Kind(since: moment)
            return .write(repeated: kind.leftOut)
        }
        defer { kinds[key] = kind }
        guard kind.written < Self.written else {
            kind.leftOut += 1
            return .leaveOut
        }
        kind.written += 1
        return .write(repeated: 0)
    }

    private mutating func admitNew(_ key: Int, at moment: Duration) -> Admission {
        if kinds.count >= Self.capacity {
            kinds = kinds.filter { moment - $0.value.since < Self.period }
        }
        if kinds.count < Self.capacity { kinds[key] = Kind(since: moment) }
        return .write(repeated: 0)
    }
}
