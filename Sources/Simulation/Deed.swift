/// One step of a script.
///
/// Items are named by their place among those that there are when the step is taken, so a script
/// stays a script when steps are taken out of it.
enum Deed: Hashable, Sendable {
    // The person at this host.
    case create
    case edit(Int, PlainField)
    case trash(Int)
    case restore(Int)
    case delete(Int)
    case favour(Int)
    case archive(Int, Bool)
    /// Into one of the folders, or into none.
    case move(Int, folder: Int)
    /// Writes what is shown, as it is shown.
    case resave(Int)
    case sync
    case retry
    case discard(Int)
    case saveCopy(Int)
    case lock, unlock
    case signIn

    // What time does, and what happens on the way to the server.
    case wait(Duration)
    case setHostClock(Duration)
    case cut, mend
    case drill(Bool)
    case strike(Mishap, times: Int)
    /// Once, to the next call of that kind.
    case strikeAt(Mishap, WireCall.Kind)

    case elsewhere(Elsewhere)
    case server(Server)
    case machine(Machine)

    /// The same person at another device.
    enum Elsewhere: Hashable, Sendable {
        case create
        case edit(Int, PlainField)
        case trash(Int)
        case restore(Int)
        case delete(Int)
        case favour(Int)
        case share(Int)
        case archive(Int, Bool)
        case move(Int, folder: Int)
        case dropFolder(Int)
        /// A backup copy goes, for good or into the trash.
        case sweep(Int, forGood: Bool)
        /// All that there is goes for good.
        case purge
        case rotateKeys
        case look(Int)
        /// Over whatever has come since it looked, with so many new passwords; dated by what it saw, or by nothing.
        case recall(passwords: Int, isDated: Bool)
    }

    /// What becomes of the server and of what it holds.
    enum Server: Hashable, Sendable {
        case setClock(Int)
        case setDigits(Int)
        case remember, rollBack
        case endSession
        case poison(Int)
    }

    /// What becomes of the process and its disk.
    enum Machine: Hashable, Sendable {
        case kill(after: Int)
        case cutPower(atCall: Int)
        case restart
        case fillDisk, freeDisk
        /// So many calls fail, or all of them.
        case breakDisk(times: Int?)
    }
}

/// A field that carries a value of its own in each item.
enum PlainField: String, CaseIterable, Hashable, Sendable {
    case name, notes, username, password
}

struct Step: Hashable, Sendable {
    let number: Int
    let deed: Deed
    /// Whether the next step does not wait for this one.
    let isAside: Bool
    /// So many turns pass before it.
    let turns: Int
    /// It does not happen before the host is in that phase, or a minute has passed.
    var awaits: Phase?
    /// So long somebody has the item open before they write.
    var lingers: Duration?
    /// The host at which it is taken, or that is lain in wait for.
    var host = 0
}

extension Step {
    /// One that is in no script.
    static func unscripted(_ deed: Deed, isAside: Bool) -> Step {
        Step(number: -1, deed: deed, isAside: isAside, turns: 0)
    }
}

extension Deed {
    /// In place of an item's number: the one that was made last.
    static let newest = Int.max
}

extension [PlainItem] {
    /// - Parameter place: Among those in the order in which they were made, and on from the first
    ///   again after the last.
    func pick(_ place: Int) -> PlainItem? {
        if isEmpty { return nil }
        if place == Deed.newest { return self.max { $0.number < $1.number } }
        let items = sorted {
            ($0.origin ?? "", $0.stamp ?? "", $0.id) < ($1.origin ?? "", $1.stamp ?? "", $1.id)
        }
        return items[place % items.count]
    }
}

extension PlainItem {
    /// Who was made later has the greater one.
    fileprivate var number: Int { origin.flatMap { Int($0.dropFirst(2)) } ?? 0 }
}

extension Deed: CustomStringConvertible {
    var description: String {
        switch self {
        case .create: "adds an item"
        case .edit(let item, let field): "edits the \(field) of item \(item)"
        case .trash(let item): "trashes item \(item)"
        case .restore(let item): "restores item \(item)"
        case .delete(let item): "deletes item \(item) for good"
        case .favour(let item): "changes whether item \(item) is a favourite"
        case .archive(let item, let isOn): "\(isOn ? "archives" : "unarchives") item \(item)"
        case .move(let item, let folder): "moves item \(item) to folder \(folder)"
        case .resave(let item): "saves item \(item) as it is"
        case .sync: "asks for a sync"
        case .retry: "has everything tried that is set aside"
        case .discard(let change): "discards change \(change)"
        case .saveCopy(let change): "keeps change \(change) as a copy"
        case .lock: "locks the vault"
        case .unlock: "unlocks the vault"
        case .signIn: "signs in again"
        case .wait(let time): "\(time.shown) pass"
        case .setHostClock(let step): "this host's clock is set by \(step.shown)"
        case .cut: "the network goes"
        case .mend: "the network comes back"
        case .drill(let isOn): "a drill \(isOn ? "begins" : "ends")"
        case .strike(let fault, let times): "\(fault) is to happen \(times) times"
        case .strikeAt(let fault, let kind): "\(fault) is to happen to a \(kind)"
        case .elsewhere(let deed): "another device \(deed)"
        case .server(let deed): "\(deed)"
        case .machine(let deed): "\(deed)"
        }
    }
}

extension Deed.Elsewhere: CustomStringConvertible {
    var description: String {
        switch self {
        case .create: "adds an item"
        case .edit(let item, let field): "edits the \(field) of item \(item)"
        case .trash(let item): "trashes item \(item)"
        case .restore(let item): "restores item \(item)"
        case .delete(let item): "deletes item \(item) for good"
        case .favour(let item): "makes a favourite of item \(item), or none"
        case .share(let item): "gives item \(item) to an organisation"
        case .archive(let item, let isOn): "\(isOn ? "archives" : "unarchives") item \(item)"
        case .move(let item, let folder): "moves item \(item) to folder \(folder)"
        case .dropFolder(let folder): "deletes folder \(folder)"
        case .sweep(let copy, let forGood):
            "\(forGood ? "deletes" : "trashes") backup copy \(copy)"
        case .purge: "deletes everything"
        case .rotateKeys: "gives the account a new key"
        case .look(let item): "looks at item \(item)"
        case .recall(let passwords, let isDated):
            "writes what it remembers, with \(passwords) new passwords"
                + (isDated ? "" : ", and does not say since when")
        }
    }
}

extension Deed.Server: CustomStringConvertible {
    var description: String {
        switch self {
        case .setClock(let seconds): "upstream's clock is \(seconds) s off"
        case .setDigits(let digits): "upstream's stamps have \(digits) digits"
        case .remember: "upstream makes a snapshot"
        case .rollBack: "upstream is set back to its snapshot"
        case .endSession: "upstream ends the session"
        case .poison(let item): "upstream takes nothing more for item \(item)"
        }
    }
}

extension Deed.Machine: CustomStringConvertible {
    var description: String {
        switch self {
        case .kill(let turns): "the process is killed after \(turns) turns"
        case .cutPower(let call): "the power goes at the disk's call \(call)"
        case .restart: "the host is restarted in order"
        case .fillDisk: "the disk is full"
        case .freeDisk: "the disk is well again"
        case .breakDisk(let times): "the disk fails" + (times.map { " \($0) times" } ?? "")
        }
    }
}

extension Deed {
    /// What it is a case of, where it can happen at any moment.
    var hazard: Hazard? {
        switch self {
        case .elsewhere(let deed): deed.hazard
        case .server(let deed): deed.hazard
        case .machine(let deed): deed.hazard
        case .lock, .unlock: .lock
        case .cut, .mend: .outage
        case .drill: .drill
        case .setHostClock: .hostClock
        case .move, .resave: .household
        case .create, .edit, .trash, .restore, .delete, .favour, .archive, .sync, .retry, .discard,
            .saveCopy, .signIn, .wait, .strike, .strikeAt:
            nil
        }
    }
}

extension Deed.Elsewhere {
    fileprivate var hazard: Hazard {
        switch self {
        case .create, .edit, .trash, .restore, .delete, .favour: .otherDevice
        case .share: .organisation
        case .archive, .move, .dropFolder, .sweep, .purge: .household
        case .rotateKeys: .rotation
        case .look, .recall: .reprise
        }
    }
}

extension Deed.Server {
    fileprivate var hazard: Hazard? {
        switch self {
        case .setClock: .upstreamClock
        case .setDigits: .digits
        case .remember: nil
        case .rollBack: .rollBack
        case .endSession: .sessionEnd
        case .poison: .poison
        }
    }
}

extension Deed.Machine {
    fileprivate var hazard: Hazard? {
        switch self {
        case .kill: .kill
        case .cutPower: .powerCut
        case .restart: .restart
        case .fillDisk: .diskFull
        case .freeDisk: nil
        case .breakDisk: .diskError
        }
    }
}

extension Duration {
    /// In seconds, with three digits.
    var shown: String {
        let milliseconds = Int64(self / .milliseconds(1))
        let (whole, rest) = (milliseconds.magnitude / 1_000, milliseconds.magnitude % 1_000)
        let fraction = String(rest + 1_000).dropFirst()
        return "\(milliseconds < 0 ? "-" : "")\(whole).\(fraction) s"
    }
}

extension Step {
    /// Another deed under the same number.
    mutating func play(_ other: Step) {
        var step = Step(
            number: number,
            deed: other.deed,
            isAside: other.isAside,
            turns: other.turns
        )
        (step.awaits, step.lingers, step.host) = (other.awaits, other.lingers, other.host)
        self = step
    }
}
