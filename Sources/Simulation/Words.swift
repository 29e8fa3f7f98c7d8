import Messaging
import Sync
import Vault

/// What a history says of what went wrong.
enum Words {
    static func of(_ error: any Error) -> String {
        switch error {
        case let setback as Setback: "\(setback.operation), \(word(setback.reason))"
        case is CancellationError: "cancelled"
        case let refusal as Repository.Refusal: word(refusal)
        case let error as Undelivered: "\(error)"
        default: "\(type(of: error))"
        }
    }

    static func word(_ reason: Setback.Reason) -> String {
        switch reason {
        case .rejected(let words): "rejected with \(words.status)"
        case .stale: "stale"
        case .missing: "missing"
        case .unauthorised: "unauthorised"
        case .signedOut: "signed out"
        case .throttled: "throttled"
        case .unavailable(let status): "unavailable, \(status)"
        case .unreachable: "unreachable"
        case .foreign: "foreign"
        case .malformed: "malformed"
        case .cancelled: "cancelled"
        }
    }

    static func word(_ refusal: Repository.Refusal) -> String {
        switch refusal {
        case .locked: "locked"
        case .notFound: "not found"
        case .inTrash: "in the trash"
        case .unfit: "unfit"
        case .outOfDate: "out of date"
        case .unreadable: "unreadable"
        case .contentless: "contentless"
        case .upstream(let setback): "upstream: \(word(setback.reason))"
        case .hindered(let note): "hindered: \(note.kind.rawValue)"
        case .store(let error): "store: \(kind(error))"
        case .unsettled(let error): "unsettled: \(error.map(kind) ?? "ending")"
        case .busy: "busy"
        }
    }

    private static func kind(_ error: StoreError) -> String {
        switch error {
        case .database: "database"
        case .system: "system"
        case .held: "held"
        case .queueFull: "full"
        case .noAccount: "no account"
        case .notAccepting: "not accepting"
        }
    }
}
