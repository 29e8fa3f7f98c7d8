public import EmbeddedUpstream

/// All that is to happen in one run, made of a seed.
public struct Script: Sendable {
    public let seed: UInt64
    public let profile: Personality.Name
    var steps: [Step]
    /// The faults that may strike of their own accord, and how often in a hundred.
    var faults: [Mishap]
    var faultRate: Int
    /// The faults strike no more of their own accord, which was no matter of the seed.
    private(set) var isCalmed = false
    /// After so many effects the process dies; nil if it does not.
    var dies: Death?
    var hazards: Hazards
    /// How many items there are before the first step.
    let itemCount: Int
    /// How many hosts have the account.
    let hosts: Int
    /// How much may wait.
    let limit: Int
    let isWhole: Bool
    /// How often everything is asked for without an occasion, in seconds.
    let interval: Int

    /// Where a process dies in a run that looks at every place.
    enum Death: Hashable, Sendable {
        /// Before or after the request of that number has had its effect.
        case atRequest(Int)
        /// In the midst of the disk's flush of that number, with the power.
        case atFlush(Int)
    }

    public init(
        seed: UInt64,
        length: Int,
        hazards: Hazards = .all,
        profiles: [Personality.Name] = Personality.Name.allCases
    ) {
        let dice = Dice(seed: seed &* 0x9E37_79B9_7F4A_7C15 &+ 1)
        self.seed = seed
        profile = profiles[Int(seed % UInt64(profiles.count))]
        var swarm = hazards.swarm(dice)
        // An upstream whose word and whose list say the same lies without being found out.
        if swarm.faults.contains(.partial) { swarm.faults.remove(.missing) }
        self.hazards = swarm
        faults = swarm.orderedFaults
        faultRate = dice.pick([0, 2, 5, 10, 25])
        itemCount = dice.number(in: 0..<14)
        limit = dice.happens(15) ? dice.number(in: 2..<6) : 10_000
        isWhole = dice.happens(60)
        interval = dice.pick([1_800, 1_800, 21_600])
        hosts = swarm.hazards.contains(.pair) ? 2 : 1
        let deeds = Deeds(swarm, dice)
        steps = Self.steps(length, deeds, dice, ambushes: Dice(seed: seed ^ 0xA3B))
        let pairs = Dice(seed: seed ^ 0x9A1)
        if hosts > 1 { for place in steps.indices { steps[place].host = pairs.number(in: 0..<2) } }
        if swarm.hazards.contains(.scene) {
            let scenes = Dice(seed: seed ^ 0x5CE_7E)
            play(scenes, Scene.first, scenes.pick([1, 1, 2, 3]), of: deeds.items, pairs)
        }
        if swarm.hazards.contains(.encore) {
            play(Dice(seed: seed ^ 0xE9C0), Scene.encores, 1, of: deeds.items, pairs)
        }
        if swarm.hazards.contains(.coda) {
            play(Dice(seed: seed ^ 0xC0DA), Scene.codas, 1, of: deeds.items, pairs)
        }
        if swarm.hazards.contains(.reprise) {
            play(Dice(seed: seed ^ 0x2E92), Scene.reprises, 1, of: deeds.items, pairs)
        }
        if swarm.hazards.contains(.household) {
            play(Dice(seed: seed ^ 0x40E5), Scene.households, 2, of: deeds.items, pairs)
        }
        if swarm.hazards.contains(.relapse) {
            play(Dice(seed: seed ^ 0x2E1A), Scene.relapses, 1, of: deeds.items, pairs)
        }
        // What upstream has taken and forgotten is looked at more closely than a lodger is.
        let isSetBack = steps.contains { $0.deed == .server(.rollBack) }
        if isSetBack { self.hazards.hazards.remove(.lodger) }
    }

    private static func steps(
        _ count: Int,
        _ deeds: Deeds,
        _ dice: Dice,
        ambushes: Dice
    ) -> [Step] {
        let hazards = deeds.hazards.hazards
        return (0..<count).map { number in
            var step = Step(
                number: number,
                deed: deeds.next(),
                isAside: dice.happens(25),
                turns: dice.happens(50) ? dice.number(in: 0..<120) : 0
            )
            if hazards.contains(.ambush), step.deed.hazard != nil, ambushes.happens(40) {
                step.awaits = ambushes.pick(Phase.ambushed(hazards.contains(.scene)))
            }
            return step
        }
    }

    /// Puts so many scenes in the place of some of the steps.
    private mutating func play(
        _ dice: Dice,
        _ scenes: [Scene],
        _ count: Int,
        of items: Int,
        _ pairs: Dice
    ) {
        let space = steps.count / count
        for place in 0..<count {
            var scene = dice.pick(scenes).steps(dice, of: items)
            let host = hosts > 1 ? pairs.number(in: 0..<2) : 0
            for place in scene.indices { scene[place].host = (host + scene[place].host) % hosts }
            guard scene.count <= space else { continue }
            let rest = space - scene.count
            // What comes after it often hides what it has led to.
            let start = place * space + (dice.happens(40) ? rest : dice.number(in: 0..<rest + 1))
            for (offset, step) in scene.enumerated() { steps[start + offset].play(step) }
        }
    }

    init(
        seed: UInt64,
        profile: Personality.Name,
        deeds: [Deed],
        dies: Death? = nil,
        itemCount: Int = 2
    ) {
        self.seed = seed
        self.profile = profile
        self.dies = dies
        self.itemCount = itemCount
        (hazards, faults, faultRate, limit, isWhole) = (.none, [], 0, 10_000, true)
        (hosts, interval) = (1, 1_800)
        steps = deeds.enumerated().map {
            Step(number: $0.offset, deed: $0.element, isAside: false, turns: 0)
        }
    }

    mutating func calm() {
        isCalmed = faultRate > 0 || isCalmed
        faultRate = 0
    }

    /// The same with these steps only.
    func keeping(_ numbers: Set<Int>) -> Script {
        var script = self
        script.steps = steps.filter { numbers.contains($0.number) }
        return script
    }
}

/// Draws one deed after the other.
private struct Deeds {
    let hazards: Hazards
    let dice: Dice
    /// Some seeds are busy with few items, so that edits meet each other.
    let items: Int
    let longest: Duration

    init(_ hazards: Hazards, _ dice: Dice) {
        self.hazards = hazards
        self.dice = dice
        items = dice.pick([1, 2, 4, 12])
        longest = dice.pick([.seconds(30), .seconds(600), .seconds(7_200), .seconds(90_000)])
    }

    func next() -> Deed {
        var choices: [(weight: Int, element: () -> Deed)] = [
            (40, { own() }),
            (16, { .wait(dice.duration(.milliseconds(20), longest)) }),
            (2, { .sync }),
            (1, { .retry }),
            (1, { dice.happens(50) ? .discard(item) : .saveCopy(item) }),
        ]
        if hazards.hazards.contains(.otherDevice) { choices.append((18, { .elsewhere(other()) })) }
        for hazard in Hazard.strikes where hazards.hazards.contains(hazard) {
            choices.append((hazard.weight, { deed(of: hazard) }))
        }
        let faults = hazards.orderedFaults
        if !faults.isEmpty {
            choices.append(
                (8, { .strike(dice.pick(faults), times: dice.pick([1, 1, 1, 2, 3, 8])) })
            )
        }
        return dice.pick(choices)()
    }

    private var item: Int { dice.number(in: 0..<items) }

    private func own() -> Deed {
        dice.pick([
            (6, .create), (20, .edit(item, dice.pick(PlainField.allCases))), (3, .trash(item)),
            (2, .restore(item)), (2, .delete(item)), (1, .favour(item)),
            (1, .archive(item, dice.happens(50))),
        ])
    }

    private func other() -> Deed.Elsewhere {
        dice.pick([
            (3, .create), (12, .edit(item, dice.pick(PlainField.allCases))), (2, .trash(item)),
            (1, .restore(item)), (2, .delete(item)), (1, .favour(item)),
        ])
    }

    private func deed(of hazard: Hazard) -> Deed {
        switch hazard {
        case .outage: dice.happens(55) ? .cut : .mend
        case .drill: .drill(dice.happens(50))
        case .lock: dice.happens(45) ? .lock : .unlock
        case .kill: .machine(.kill(after: dice.number(in: 0..<400)))
        case .powerCut: .machine(.cutPower(atCall: dice.number(in: 1..<60)))
        case .restart: .machine(.restart)
        case .diskFull: .machine(dice.happens(50) ? .fillDisk : .freeDisk)
        case .hostClock:
            .setHostClock(
                dice.duration(.milliseconds(300), .seconds(31_536_000))
                    * (dice.happens(50) ? 1 : -1)
            )
        case .upstreamClock:
            .server(.setClock(dice.pick([0, 1, -1, 30, -600, 86_400, -86_400, 63_072_000])))
        case .digits: .server(.setDigits(dice.pick([0, 3, 6, 7])))
        case .rollBack: .server(dice.happens(60) ? .remember : .rollBack)
        case .sessionEnd: .server(.endSession)
        case .poison: .server(.poison(item))
        case .otherDevice, .ambush, .scene, .pair, .encore, .lodger, .coda, .relapse:
            .elsewhere(.create)
        case .diskError:
            .machine(
                dice.happens(50) ? .breakDisk(times: dice.pick([1, 1, 2, 5, nil])) : .freeDisk
            )
        case .rotation: dice.happens(40) ? .elsewhere(.rotateKeys) : .signIn
        case .organisation: .elsewhere(.share(item))
        case .reprise: .elsewhere(dice.happens(50) ? .look(item) : .recall(dice))
        case .household:
            dice.happens(50) ? .keepingOrder(item, dice) : .elsewhere(.keepingOrder(item, dice))
        }
    }
}

extension Deed {
    static func keepingOrder(_ item: Int, _ dice: Dice) -> Self {
        dice.pick([
            (4, .move(item, folder: dice.number(in: 0..<World.folders + 1))), (2, .favour(item)),
            (2, .archive(item, dice.happens(60))), (1, .resave(item)),
        ])
    }
}

extension Deed.Elsewhere {
    static func keepingOrder(_ item: Int, _ dice: Dice) -> Self {
        dice.pick([
            (4, .move(item, folder: dice.number(in: 0..<World.folders + 1))), (2, .favour(item)),
            (2, .archive(item, dice.happens(60))),
            (1, .dropFolder(dice.number(in: 0..<World.folders))),
            (1, .sweep(item, forGood: dice.happens(50))), (1, dice.happens(20) ? .purge : .create),
        ])
    }

    /// Servers ask some devices for no date, because they give none.
    static func recall(_ dice: Dice) -> Self {
        .recall(passwords: dice.number(in: 1..<4), isDated: dice.happens(70))
    }
}

extension Hazard {
    fileprivate var weight: Int {
        switch self {
        case .outage: 8
        case .lock, .kill: 3
        case .drill, .powerCut, .restart, .diskFull, .hostClock: 2
        case .diskError, .rotation: 2
        case .upstreamClock, .digits, .rollBack, .sessionEnd, .otherDevice, .poison: 1
        case .organisation: 1
        case .reprise: 3
        case .household: 6
        case .ambush, .scene, .pair, .encore, .lodger, .coda, .relapse: 0
        }
    }
}
