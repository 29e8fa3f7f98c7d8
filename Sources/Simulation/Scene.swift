/// A few steps that lead to a state which seldom comes about by chance. What else happens in a script
/// goes on around them.
enum Scene: CaseIterable, Hashable, Sendable {
    /// A create arrives after it was given up, and somebody asks for a sync before that.
    case lateCreate
    /// An edit comes while the one before it is on its way; offline nobody waits for anybody.
    case editInFlight
    /// The process dies while something that has waited is on its way and never arrives.
    case deathInFlight
    /// Others edit what is set aside here, and then it is edited here again.
    case foreignBeneath
    /// Two versions give way, one after the other, to a change that upstream does not take.
    case twoLosers
    /// Somebody has an item open while it goes up and gets another id.
    case editWhileBorn
    /// Something is made while a list is on its way that does not have it.
    case createWhileListed
    /// Something is edited in the very moment in which the list with a newer version arrives.
    case editWhileListed
    case lockedOutage, outage
    /// The disk does not take what the list says.
    case listUnwritten
    /// Others trash what is edited here.
    case editTrashed
    /// The disk does not take what is brought under the account's new key.
    case newKeysUnwritten
    case fallBack
    /// Upstream refuses one item, and others wait with it.
    case poisoned
    /// An answer arrives in a drill.
    case drilled
    /// More than a create is to be done for something that is edited while it is created.
    case editWhileCreated
    /// Somebody else is at it while something comes out of the trash.
    case editWhileRestored
    /// Upstream has gone back, and something is made while the list comes that shows that.
    case createWhileFallen
    /// Somebody has an item open of which nobody knows whether it is upstream, and others edit it there.
    case foreignInDoubt
    /// What gives way to an edit that is refused gives way to the next one.
    case refusedTwice
    /// Others change what lies around the content of something that waits here.
    case favouredElsewhere
    /// Two hosts bring back what others have deleted, and one of them does not hear that it has.
    case rebornTwice
    /// An old list is kept on the way, longer than anybody takes to ask twice.
    case oldList
    /// Nobody can be reached for so long that hardly anybody asks any more.
    case longOutage
    /// An edit is carried out late, after the one that has taken its place, and all within a second.
    case undone
    /// Another device looks at something right before it gets a password here, and writes over that.
    case recalled
    /// The same of what gave way, which that device had written itself.
    case recalledLoser
    /// The same while more is to be done here.
    case recalledBeneath
    /// The same, of what was put into the trash from here.
    case recalledTrash
    /// Whatever can be done to an item is done to one, here and elsewhere, while nothing is sent, and more of
    /// it while that is on its way.
    case muddle
    /// Upstream forgets what it has taken, while something waits for that and then does not go, and a person thinks
    /// again.
    case fallenBeneath

    /// What there was when the first seeds of the corpus failed.
    static let first = allCases.filter {
        !(encores + codas + reprises + households + relapses).contains($0)
    }
    static let encores: [Scene] = [
        .editWhileCreated, .editWhileRestored, .createWhileFallen, .foreignInDoubt, .refusedTwice,
    ]
    static let codas: [Scene] = [
        .favouredElsewhere, .rebornTwice, .oldList, .longOutage, .undone,
    ]
    static let reprises: [Scene] = [.recalled, .recalledLoser, .recalledBeneath, .recalledTrash]
    static let households: [Scene] = [.muddle]
    static let relapses: [Scene] = [.fallenBeneath]

    func steps(_ dice: Dice, of items: Int) -> [Step] {
        Play(scene: self, item: dice.number(in: 0..<items), dice: dice).steps
    }
}

private struct Play {
    let scene: Scene
    let item: Int
    let dice: Dice

    var steps: [Step] { [step(.mend), step(.unlock)] + beginning + end }

    private func step(
        _ deed: Deed,
        isAside: Bool = false,
        turns: Int = 0,
        at phase: Phase? = nil,
        lingers: Duration? = nil,
        host: Int = 0
    ) -> Step {
        var step = Step(number: 0, deed: deed, isAside: isAside, turns: turns)
        (step.awaits, step.lingers, step.host) = (phase, lingers, host)
        return step
    }

    private var field: PlainField { dice.pick(PlainField.allCases) }
    private var edit: Deed { .edit(item, field) }
    private var pause: Step { step(.wait(dice.duration(.seconds(5), .seconds(60)))) }

    private var recall: Step {
        step(.elsewhere(.recall(dice)), at: dice.pick([nil, nil, .settling, .taking]))
    }

    private var beginning: [Step] {
        switch scene {
        case .lateCreate:
            [step(.strikeAt(.commitLate, .create)), step(.create), step(.sync)]
        case .createWhileListed:
            [
                step(.elsewhere(.create)), step(.strikeAt(.delayAnswer, .list)),
                step(.sync, isAside: true), step(.create, at: .reading),
            ]
        case .fallBack:
            [step(.server(.remember)), step(edit), step(.server(.rollBack)), step(.sync)]
        case .editWhileCreated:
            [
                step(.drill(true)), step(.create), step(.archive(Deed.newest, true)),
                step(.strikeAt(dice.pick([.delayAnswer, .delayRequest]), .create)),
                step(.drill(false)), step(.drill(true), at: .pushing),
                step(.edit(Deed.newest, field)), pause, step(.drill(false)),
            ]
        case .createWhileFallen:
            [
                step(.server(.remember)), step(edit), step(.server(.rollBack)), step(.sync),
                step(.wait(.seconds(70))), step(.strikeAt(.delayAnswer, .list)),
                step(.sync, isAside: true), step(.create, at: .reading),
            ]
        case .foreignInDoubt:
            [
                step(.strikeAt(dice.pick([.loseAnswer, .commitLate]), .create)), step(.create),
                step(
                    .edit(Deed.newest, .notes),
                    isAside: true,
                    lingers: dice.duration(.seconds(25), .seconds(90))
                ),
                step(.wait(.seconds(14))), step(.elsewhere(.edit(Deed.newest, .username))),
            ]
        case .editWhileBorn:
            [
                step(.drill(true)), step(.create), step(.strikeAt(.delayAnswer, .create)),
                step(
                    .edit(Deed.newest, field),
                    isAside: true,
                    lingers: dice.duration(.seconds(1), .seconds(40))
                ),
                step(.drill(false)),
            ]
        case .newKeysUnwritten:
            [
                step(.sync), step(.drill(true)), step(dice.pick([.create, edit])),
                step(.elsewhere(.rotateKeys)),
                step(.machine(.breakDisk(times: dice.pick([5, 9, nil])))),
                step(.signIn), step(.machine(.freeDisk)), step(.drill(false)),
            ]
        case .lockedOutage:
            [
                step(dice.pick([.cut, .drill(true)])), step(dice.pick([.create, edit])),
                step(.lock), step(.mend), step(.drill(false)),
                step(.wait(dice.duration(.seconds(30), .seconds(600)))),
            ]
        case .outage:
            [
                step(dice.pick([.cut, .drill(true)])), step(dice.pick([.create, edit])),
                step(.create), pause,
            ]
        case .muddle:
            [step(.sync), step(.drill(true))]
                + (0..<dice.number(in: 2..<6)).map { _ in step(anything) }
        case .fallenBeneath:
            [step(.sync), step(.server(.remember)), step(dice.happens(20) ? .create : own)]
                + [step(.drill(true))] + (0..<dice.number(in: 1..<4)).map { _ in step(own) }
                + [step(.server(.rollBack))] + obstacle + [step(.drill(false))]
        case .oldList: [step(.sync), step(.edit(item, .notes)), step(.create), step(.sync)]
        case .longOutage:
            [
                step(.cut), step(dice.pick([.create, edit])),
                step(.wait(dice.duration(.seconds(2_100), .seconds(7_200)))),
            ]
        default: [step(.sync)] + change
        }
    }

    /// About an item that is known on both sides.
    private var change: [Step] {
        switch scene {
        case .editInFlight, .deathInFlight:
            [step(.drill(true)), step(edit)]
        case .foreignBeneath:
            [
                step(.server(.poison(item))), step(.drill(true)), step(.edit(item, .notes)),
                step(.drill(false)), pause, step(.sync), step(.sync),
                step(.elsewhere(.edit(item, .username))), step(.sync),
            ]
        case .twoLosers:
            [
                step(.server(.poison(item))), step(.drill(true)),
                step(.elsewhere(.edit(item, .username))),
                step(.edit(item, .notes)), step(.drill(false)),
                step(.elsewhere(.edit(item, .username)), at: .backingUp),
            ]
        case .editWhileListed:
            (0..<3).map { step(.elsewhere(.edit(item + $0, .username))) }
                + [step(.sync, isAside: true)]
        case .listUnwritten: [step(.elsewhere(.edit(item, field))), step(.sync, isAside: true)]
        case .editTrashed:
            [step(.drill(true)), step(edit), step(.elsewhere(.trash(item))), step(.drill(false))]
        case .poisoned:
            [
                step(.server(.poison(item))), step(.drill(true)), step(edit), step(.create),
                step(.drill(false)),
            ]
        case .drilled:
            [step(.strikeAt(.delayAnswer, .push)), step(edit, isAside: true)]
        case .editWhileRestored:
            [
                step(.drill(true)), step(edit), step(.elsewhere(.trash(item))),
                step(.strikeAt(.interlude, .restore)), step(.drill(false)),
            ]
        case .favouredElsewhere:
            [
                step(.drill(true)), step(edit), step(.elsewhere(.favour(item))),
                step(.drill(false)),
            ]
        case .undone:
            [
                step(edit), step(.strikeAt(.commitLate, .push)), step(edit), step(edit),
            ]
        case .recalled, .recalledBeneath, .recalledTrash:
            [
                step(.edit(item, .notes)), step(.elsewhere(.look(item))),
                step(.edit(item, .password)),
            ]
        case .recalledLoser:
            [
                step(.drill(true)), step(.edit(item, .password)),
                step(.elsewhere(.edit(item, .username))), step(.elsewhere(.look(item))),
                step(.drill(false)),
            ]
        case .rebornTwice:
            [
                step(.mend, host: 1), step(.unlock, host: 1), step(.sync, host: 1),
                step(.drill(true)), step(.drill(true), host: 1), step(.edit(item, .notes)),
                step(.edit(item, .username), host: 1), step(.elsewhere(.delete(item))),
                step(.drill(false)), step(.wait(.seconds(5))),
                step(.strikeAt(.drop, .create), host: 1), step(.drill(false), host: 1),
            ]
        case .refusedTwice:
            [
                step(.elsewhere(.trash(item))), step(.sync), step(.server(.poison(item))),
                step(.elsewhere(.edit(item, .username))), step(.edit(item, .notes)),
                step(.edit(item, .notes)),
            ]
        default: []
        }
    }

    private var end: [Step] {
        switch scene {
        case .lateCreate, .fallBack: [pause, step(.sync)]
        case .editInFlight:
            [
                step(.strikeAt(.delayAnswer, .push)), step(.drill(false)),
                step(.drill(true), at: .pushing), step(edit), pause, step(.drill(false)),
            ]
        case .deathInFlight:
            [
                step(.strikeAt(.drop, .push)), step(.drill(false)),
                step(.machine(.kill(after: dice.number(in: 0..<4))), at: .pushing),
            ]
        case .foreignBeneath:
            [step(.drill(true)), step(.edit(item, .notes)), step(.drill(false))]
        case .twoLosers, .newKeysUnwritten: [step(.sync)]
        case .editWhileListed:
            (0..<3).map {
                step(
                    .edit(item + $0, .notes),
                    isAside: true,
                    turns: dice.number(in: 0..<30),
                    at: $0 == 0 ? .taking : nil
                )
            }
        case .lockedOutage: [step(.unlock)]
        case .outage: [step(.mend), step(.drill(false))]
        case .listUnwritten:
            [
                step(.machine(.breakDisk(times: dice.pick([1, 3, 9]))), at: .taking), pause,
                step(.machine(.freeDisk)),
            ]
        case .drilled: [step(.drill(true), at: .pushing), pause, step(.drill(false))]
        case .editWhileBorn, .createWhileListed, .editTrashed, .poisoned: [pause]
        case .editWhileCreated, .editWhileRestored, .refusedTwice: [pause]
        case .createWhileFallen, .foreignInDoubt: [pause, step(.sync)]
        case .favouredElsewhere, .rebornTwice: [pause]
        case .undone: [pause, step(.sync)]
        case .recalled, .recalledLoser:
            [step(dice.pick([edit, .sync, .favour(item)])), recall, step(.sync)]
        case .recalledBeneath: [step(.drill(true)), step(edit), recall, step(.drill(false)), pause]
        case .recalledTrash: [step(.trash(item)), recall, step(.sync)]
        case .oldList:
            [
                step(.strike(.cached, times: 4)), step(.sync), step(.wait(.seconds(70))),
                step(.sync), step(.wait(.seconds(70))), step(.sync),
            ]
        case .longOutage: []
        case .fallenBeneath:
            [
                // It takes a minute until such a list is believed.
                step(
                    .wait(
                        dice.happens(25)
                            ? dice.duration(.milliseconds(20), .seconds(60))
                            : dice.duration(.seconds(62), .seconds(150))
                    )
                ),
                step(
                    dice.pick([
                        (4, .discard(dice.number(in: 0..<2))), (1, .saveCopy(0)), (2, own),
                        (1, .elsewhere(.edit(item, field))),
                    ])
                ), pause, step(.sync),
            ]
        case .muddle:
            [
                step(.strikeAt(dice.pick([.loseAnswer, .drop, .delayAnswer, .invalid]), .push)),
                step(.drill(false)), step(.drill(true), at: dice.pick([.comparing, .pushing])),
                step(anything), step(anything), step(.drill(false)), pause, step(.sync),
            ]
        }
    }

    private var own: Deed {
        dice.pick([
            (4, edit), (1, .trash(item)), (1, .restore(item)), (1, .delete(item)),
            (1, .favour(item)),
            (1, .archive(item, dice.happens(60))),
        ])
    }

    /// What keeps the next change of an item from going, once or for some time.
    private var obstacle: [Step] {
        if dice.happens(30) { return [step(.server(.poison(item)))] }
        let fault: Mishap = dice.pick([.drop, .serverErrorBefore, .badGateway, .loseAnswer])
        let kinds: [WireCall.Kind] = [.push, .push, .trash, .delete, .restore, .create, .backup]
        let kind = dice.pick(kinds)
        return (0..<dice.number(in: 1..<5)).map { _ in step(.strikeAt(fault, kind)) }
    }

    private var anything: Deed {
        if dice.happens(40) {
            return .elsewhere(
                dice.pick([
                    (4, .keepingOrder(item, dice)), (2, .edit(item, field)), (1, .trash(item)),
                    (1, .restore(item)),
                ])
            )
        }
        return dice.pick([
            (4, .keepingOrder(item, dice)), (4, edit), (1, .trash(item)), (1, .restore(item)),
        ])
    }
}
