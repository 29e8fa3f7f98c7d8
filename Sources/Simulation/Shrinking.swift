/// Makes a script that fails shorter, as long as it still fails in the same way.
public struct Shrinking: Sendable {
    private let invariant: Invariant
    private var best: Performance
    private var triesLeft: Int
    /// What takes much longer than the whole has lost its way.
    private let jobLimit: Int

    /// - Returns: The shortest performance that was found.
    public static func shorten(_ performance: Performance) -> Performance {
        guard let breach = performance.breach else { return performance }
        var shrinking = Shrinking(
            invariant: breach.invariant,
            best: performance,
            triesLeft: mostTries,
            jobLimit: 2 * performance.jobs + 50_000
        )
        shrinking.run()
        return shrinking.best
    }

    private static let mostTries = 160

    private mutating func run() {
        calm()
        var size = max(1, best.script.steps.count / 2)
        while triesLeft > 0 {
            let hasShrunk = drop(size)
            if size == 1, !hasShrunk { return }
            if !hasShrunk { size = max(1, size / 2) }
            size = min(size, max(1, best.script.steps.count / 2))
        }
    }

    /// Without faults that strike of their own accord.
    private mutating func calm() {
        var quiet = best.script
        quiet.calm()
        attempt(quiet)
    }

    /// Leaves out so many steps at a time, the last first.
    private mutating func drop(_ size: Int) -> Bool {
        var hasShrunk = false
        var end = best.script.steps.count
        while end > 0, triesLeft > 0 {
            let start = max(0, end - size)
            var script = best.script
            script.steps.removeSubrange(start..<min(end, script.steps.count))
            if attempt(script) { hasShrunk = true }
            end = min(start, best.script.steps.count)
        }
        return hasShrunk
    }

    @discardableResult
    private mutating func attempt(_ script: Script) -> Bool {
        guard triesLeft > 0, script.steps.count < best.script.steps.count || isCalmer(script)
        else { return false }
        triesLeft -= 1
        let performance = Stage.play(script, jobLimit: jobLimit)
        guard performance.breach?.invariant == invariant else { return false }
        best = performance
        return true
    }

    private func isCalmer(_ script: Script) -> Bool {
        script.faultRate < best.script.faultRate
    }
}
