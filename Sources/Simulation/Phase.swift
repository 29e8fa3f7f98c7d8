/// What a host is about with a change, as far as its requests show it.
enum Phase: String, CaseIterable, Hashable, Sendable {
    case resting, reading, comparing, backingUp, pushing
    /// Upstream has answered to what was written, and the disk does not know it yet.
    case settling
    /// The same of a list.
    case taking
}

extension Phase {
    /// Those that are lain in wait for.
    static func ambushed(_ withLists: Bool) -> [Phase] {
        allCases.filter { $0 != .resting && (withLists || $0 != .taking) }
    }
}

extension WireCall {
    var phase: Phase? {
        if isLodgers { return nil }
        return switch kind {
        case .list: .reading
        case .compare: .comparing
        case .backup: .backingUp
        case .create, .push, .trash, .restore, .delete: .pushing
        case .token, .revision, .other: nil
        }
    }
}

/// In which phases a host is, and who waits for one of them.
struct Phases: Sendable {
    private var underWay: [Phase: Int] = [:]
    private var answered: (phase: Phase, moment: Duration)?
    private var waiting: [(phase: Phase, latch: Latch)] = []

    /// Where several changes are on their way, the rarest counts.
    func phase(at now: Duration) -> Phase {
        if let answered, answered.moment == now { return answered.phase }
        let order: [Phase] = [.backingUp, .comparing, .pushing, .reading]
        return order.first { underWay[$0, default: 0] > 0 } ?? .resting
    }

    /// Whether a list is on its way, or has only just come.
    func isReading(at now: Duration) -> Bool {
        underWay[.reading, default: 0] > 0 || phase(at: now) == .taking
    }

    /// - Returns: Those who have waited for that.
    mutating func begin(_ phase: Phase) -> [Latch] {
        underWay[phase, default: 0] += 1
        return take(phase)
    }

    mutating func end(_ phase: Phase, at now: Duration) -> [Latch] {
        underWay[phase, default: 0] -= 1
        guard phase != .comparing else { return [] }
        let next: Phase = phase == .reading ? .taking : .settling
        answered = (next, now)
        return take(next)
    }

    mutating func wait(for phase: Phase, _ latch: Latch) { waiting.append((phase, latch)) }

    private mutating func take(_ phase: Phase) -> [Latch] {
        defer { waiting.removeAll { $0.phase == phase } }
        return waiting.filter { $0.phase == phase }.map(\.latch)
    }
}
