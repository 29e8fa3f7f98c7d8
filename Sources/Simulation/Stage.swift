import EmbeddedUpstream
import Machine

/// One run: a script, the world that it plays in, and what is to be said of it.
public final class Stage: Sendable {
    let world: World
    /// One host, or two of them that have the same account.
    let sites: [Site]

    private init(_ world: World) async throws {
        self.world = world
        var sites: [Site] = []
        for number in 0..<world.script.hosts { sites.append(try await Site(number, in: world)) }
        self.sites = sites
    }

    var script: Script { world.script }
    var time: VirtualTimekeeper { world.time }
    var history: History { world.history }
    var oracle: Oracle { world.oracle }
    var cloud: Cloud { world.cloud }

    /// Plays the script to its end.
    ///
    /// - Returns: What was breached, if anything was.
    public static func play(
        _ script: Script,
        _ coverage: Coverage = Coverage(),
        jobLimit: Int = 30_000_000
    ) -> Performance {
        let executor = SeededExecutor(seed: script.seed, jobLimit: jobLimit)
        let history = History(executor.time)
        var breach: Breach?
        do {
            breach = try executor.run { executor, _ in
                let stage = try await Stage(World(script, executor, coverage, history))
                return await stage.play()
            }
        } catch let failure as SimulationFailure {
            let invariant: Invariant = failure.reason == .strayJob ? .sameAgain : .settlesDown
            breach = Breach(invariant, "\(failure)")
            history.note("BREACH \(failure)")
        } catch {
            breach = Breach(.playable, "\(error)")
            history.note("BREACH \(error)")
        }
        return Performance(
            script: script,
            breach: breach,
            history: history.lines,
            digest: history.digest ^ executor.history,
            jobs: executor.jobCount,
            elapsed: executor.time.elapsed,
            effects: history.tally.effects,
            flushes: history.tally.flushes
        )
    }

    private func play() async -> Breach? {
        await withTaskGroup(of: Void.self) { services in
            services.addTask { await self.cloud.server.run() }
            services.addTask { await self.world.runBackground() }
            do {
                try await perform()
            } catch {
                oracle.say(.playable, "\(error)")
            }
            for site in sites { await site.bringDown() }
            services.cancelAll()
            await cloud.server.stop(within: .seconds(1))
        }
        return oracle.breach
    }

    private func perform() async throws {
        // What is there before the story begins.
        for _ in 0..<script.itemCount { try await world.addElsewhere() }
        if script.hazards.hazards.contains(.household) {
            for _ in 0..<World.folders { try await world.addFolder() }
        }
        for site in sites { try await site.bringUp("start") }
        try? await time.sleep(for: .seconds(3))
        for site in sites { site.begin() }
        for step in script.steps {
            guard oracle.breach == nil else { return }
            await take(step)
        }
        history.tally = sites[0].tally
        guard oracle.breach == nil else { return }
        await settle()
    }

    private func take(_ step: Step) async {
        await sites[step.host].take(step)
        for site in sites where site.number != step.host {
            await site.reviveIfDown()
            site.inspect()
        }
    }

    func pass(_ duration: Duration) async { await world.pass(duration, at: sites) }
}
