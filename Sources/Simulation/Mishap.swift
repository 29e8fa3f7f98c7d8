/// What the network, or the server behind it, does to a request.
public enum Mishap: String, CaseIterable, Hashable, Sendable {
    /// Nothing leaves this host.
    case refuse
    /// It left, and the server never saw it.
    case drop
    /// The server did it; nobody hears so.
    case loseAnswer
    /// The line is cut, and the server does it a while later.
    case commitLate
    case delayRequest, delayAnswer
    /// The server sees it twice.
    case twice
    case serverErrorBefore, serverErrorAfter, badGateway, unavailable
    case invalid, unauthorised, forbidden, banPage, missing, conflict, tooLarge
    case throttledSeconds, throttledDate, throttledSilently, throttledHugely, throttledNegatively
    /// The body ends in the middle, and nobody says so.
    case truncated
    case portal
    /// An earlier answer to the same question is given.
    case stale
    /// A sync lacks some of the items.
    case partial
    /// Another device edits the item right before.
    case interlude
    /// Something on the way gives one old answer to the same question again and again.
    case cached
}

/// What else may happen, by the words under which it is switched on and off.
public enum Hazard: String, CaseIterable, Hashable, Sendable {
    case outage, drill, lock, kill, powerCut, restart, diskFull, hostClock, upstreamClock, digits
    case rollBack, sessionEnd, otherDevice, poison
    /// The disk fails with an error of input or output.
    case diskError
    /// Another device gives the account a new key, or an item to an organisation.
    case rotation, organisation
    /// The others do not wait for their turn, but for the host to be in the midst of something.
    case ambush
    /// Some of the steps lead to a state that seldom comes about by chance.
    case scene
    /// Two hosts have the same account.
    case pair
    /// One more scene, of those that were thought of last.
    case encore
    /// Somebody else has an account at the first host.
    case lodger
    /// One scene of those that were thought of after the last.
    case coda
    /// Another device writes what it remembers, which is not what is there; and there is a scene of that.
    case reprise
    /// Somebody keeps order, here and elsewhere: folders, the archive, favourites, backup copies; and there are scenes
    /// of that.
    case household
    /// One scene in which upstream forgets what it has taken, while something waits for that.
    case relapse

    /// Those that happen at one moment.
    static var strikes: [Hazard] {
        allCases.filter {
            ![.ambush, .scene, .pair, .encore, .lodger, .coda, .relapse].contains($0)
        }
    }
}

extension Hazard {
    /// In how many of a hundred seeds it is to be reckoned with.
    fileprivate var chance: Int {
        switch self {
        case .otherDevice: 90
        case .scene: 75
        case .pair: 35
        case .lodger: 30
        default: 50
        }
    }
}

/// What a seed has to reckon with.
public struct Hazards: Hashable, Sendable {
    public var faults: Set<Mishap>
    public var hazards: Set<Hazard>

    public static let all = Hazards(
        faults: Set(Mishap.allCases),
        hazards: Set(Hazard.allCases)
    )
    public static let none = Hazards(faults: [], hazards: [.otherDevice])
    /// What there was when the first seeds of the corpus failed: with more, they mean other worlds. Each of
    /// those below is what there was later.
    public static let first = Hazards(
        faults: sixth.faults,
        hazards: second.hazards.subtracting([.diskError, .rotation, .organisation, .ambush])
    )
    /// Before there were scenes.
    public static let second = Hazards(
        faults: sixth.faults,
        hazards: third.hazards.subtracting([.scene])
    )
    /// Before two hosts had one account.
    public static let third = Hazards(
        faults: sixth.faults,
        hazards: fourth.hazards.subtracting([.pair])
    )
    /// Before there were encores.
    public static let fourth = Hazards(
        faults: sixth.faults,
        hazards: fifth.hazards.subtracting([.encore])
    )
    /// Before somebody else had an account.
    public static let fifth = Hazards(
        faults: sixth.faults,
        hazards: sixth.hazards.subtracting([.lodger])
    )
    /// Before there were codas, and old answers that are given again and again.
    public static let sixth = Hazards(
        faults: seventh.faults.subtracting([.cached]),
        hazards: seventh.hazards.subtracting([.coda])
    )
    /// Before another device wrote what it remembered.
    public static let seventh = Hazards(
        faults: eighth.faults,
        hazards: eighth.hazards.subtracting([.reprise])
    )
    /// Before anybody kept order.
    public static let eighth = Hazards(
        faults: ninth.faults,
        hazards: ninth.hazards.subtracting([.household])
    )
    /// Before upstream forgot what lay beneath a change.
    public static let ninth = Hazards(
        faults: Set(Mishap.allCases),
        hazards: Set(Hazard.allCases).subtracting([.relapse])
    )

    /// What a list may name.
    public static var names: [String] {
        Mishap.allCases.map(\.rawValue) + Hazard.allCases.map(\.rawValue)
    }

    public init(faults: Set<Mishap>, hazards: Set<Hazard>) {
        self.faults = faults
        self.hazards = hazards
    }

    /// - Parameter list: `all`, `none`, names with commas between them, or the number of one of the sets above, by which
    ///   a world that was found with it can be played again.
    /// - Returns: Nil, if one of the names means nothing.
    public init?(list: String) {
        switch list {
        case "all": self = .all
        case "none": self = .none
        case "first": self = .first
        case "second": self = .second
        case "third": self = .third
        case "fourth": self = .fourth
        case "fifth": self = .fifth
        case "sixth": self = .sixth
        case "seventh": self = .seventh
        case "eighth": self = .eighth
        case "ninth": self = .ninth
        default:
            self = .none
            let names = list.split(separator: ",").map(String.init)
            guard !names.isEmpty else { return nil }
            for name in names {
                if let fault = Mishap(rawValue: name) {
                    faults.insert(fault)
                } else if let hazard = Hazard(rawValue: name) {
                    hazards.insert(hazard)
                } else {
                    return nil
                }
            }
        }
    }

    /// A list that names them.
    var list: String {
        if self == .all { return "all" }
        if self == .none { return "none" }
        let faults = Mishap.allCases.filter(faults.contains).map(\.rawValue)
        return (faults + Hazard.allCases.filter(hazards.contains).map(\.rawValue))
            .joined(separator: ",")
    }

    /// Some of these, so that no fault always hides another.
    func swarm(_ dice: Dice) -> Hazards {
        // A set has another order in each process.
        let faults = Mishap.allCases.filter { self.faults.contains($0) && dice.happens(35) }
        let hazards = Hazard.allCases.filter {
            self.hazards.contains($0) && dice.happens($0.chance)
        }
        return Hazards(faults: Set(faults), hazards: Set(hazards))
    }

    var orderedFaults: [Mishap] { Mishap.allCases.filter(faults.contains) }
}
