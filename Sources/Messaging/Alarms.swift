/// Which alarms ring when, for a loop that sleeps in child tasks and cannot wake them.
///
/// An alarm that rings too early does no harm; so a new one is only set where none rings in time,
/// and there are never more of them than the times at which the next moment came nearer.
package struct Alarms: Hashable, Sendable {
    private var moments: [Duration] = []

    package init() {}

    /// - Returns: Whether somebody is to sleep until then.
    package mutating func set(for moment: Duration) -> Bool {
        guard !moments.contains(where: { $0 <= moment }) else { return false }
        moments.append(moment)
        return true
    }

    package mutating func ring(_ moment: Duration) {
        if let index = moments.firstIndex(of: moment) { moments.remove(at: index) }
    }
}
