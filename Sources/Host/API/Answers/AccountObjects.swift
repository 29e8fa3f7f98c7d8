public import JSON
import Sync

extension AccountStanding: JSON.Writable {
    public func write(to json: inout JSON.Writer) {
        json.object {
            $0.add("object", "account")
            $0.add("id", id)
            $0.add("email", email)
            $0.add("server", server)
            $0.add("status", status.rawValue)
            $0.add("default", isDefault)
            $0.add("lastSync", lastSync?.text)
            $0.add("lastOutcome", lastReport?.outcome.rawValue)
            $0.add("network", network.rawValue)
            $0.add("pending", pending)
        }
    }
}

extension AccountStanding.Pending: JSON.Writable {
    /// What is being sent at this moment counts in the total only.
    public func write(to json: inout JSON.Writer) {
        json.object {
            $0.add("total", total)
            $0.add("ready", ready)
            $0.add("backingOff", backingOff)
            $0.add("quarantined", quarantined)
            $0.add("oldest", oldest?.text)
        }
    }
}

/// What `/status` tells.
struct StatusObject: JSON.Writable {
    /// Nil where nobody is signed in.
    let outline: AccountOutline?

    /// The date is left out rather than null before the first sync: a client that is generated from
    /// the published description takes a date or nothing.
    func write(to json: inout JSON.Writer) {
        json.object {
            $0.add("serverUrl", outline?.server)
            if let date = outline?.lastSync { $0.add("lastSync", date.text) }
            if let outline, outline.status != .signedOut {
                $0.add("userEmail", outline.email)
                $0.add("userId", outline.id)
            }
            $0.add("status", word)
        }
    }

    private var word: String {
        switch outline?.status {
        case .locked: "locked"
        case .unlocked: "unlocked"
        case .signedOut, nil: "unauthenticated"
        }
    }
}

/// What came of a sync, beside the words of `bw serve`.
struct SyncOutcome {
    let report: SyncReport
    let pending: AccountStanding.Pending

    func write(to object: inout JSON.ObjectWriter) {
        object.add("outcome", report.outcome.rawValue)
        object.add("reason", report.reason)
        object.add("pending", pending)
    }
}

extension NetworkStanding: JSON.Writable {
    public func write(to json: inout JSON.Writer) {
        json.object {
            $0.add("object", "network")
            $0.add("mode", isDrill ? "offline" : "auto")
            $0.add("state", state.rawValue)
            $0.add("since", since.text)
        }
    }
}
