import JSON
import Records
import Sync
import Vault

/// A pending change as clients see it. Nothing of its content is shown.
struct PendingObject: JSON.Writable {
    let stored: StoredChange
    /// Before this nothing of the account is sent.
    let heldUntil: Moment?

    func write(to json: inout JSON.Writer) {
        let (summary, change) = (stored.summary, stored.change)
        json.object {
            $0.add("object", "pendingChange")
            $0.add("id", summary.id)
            $0.add("itemId", summary.lane.cipherID)
            $0.add("changeType", summary.type.rawValue)
            $0.add("state", summary.state.kind.rawValue)
            $0.add("originalRevisionDate", originalRevision?.moment.text)
            $0.add("createdDate", summary.created.text)
            $0.add("updatedDate", summary.updated.text)
            $0.add("offlinePasswordChangeCount", summary.passwordChanges)
            $0.add("attempts", change?.attemptCount ?? 0)
            $0.add("nextAttemptDate", summary.state.nextAttempt(heldUntil: heldUntil)?.text)
            $0.add("lastError", failure)
            $0.add("version", summary.version)
        }
    }

    /// What was made here and was found upstream after others had edited it stands on nothing that upstream ever said.
    private var originalRevision: Revision? {
        stored.summary.baseline.flatMap { $0 == .beforeAll ? nil : $0 }
    }

    /// Why it was not accepted, or why it cannot even be read.
    private var failure: FailureObject? {
        switch stored.reading {
        case .readable(let record):
            return record.change.lastFailure.map {
                FailureObject(kind: $0.kind.rawValue, message: $0.message)
            }
        case .newer(let reader):
            return FailureObject(
                kind: "newerRecord",
                message: "It was written by a newer host (record format \(reader)); run that one."
            )
        case .damaged(let damage):
            return FailureObject(kind: "damagedRecord", message: "Damaged: \(damage.rawValue).")
        }
    }
}

private struct FailureObject: JSON.Writable {
    let kind: String
    let message: String

    func write(to json: inout JSON.Writer) {
        json.object {
            $0.add("kind", kind)
            $0.add("message", message)
        }
    }
}

struct ReceiptObject: JSON.Writable {
    let receipt: Receipt

    func write(to json: inout JSON.Writer) {
        json.object { object in
            object.add("object", "receipt")
            object.add("id", receipt.id)
            object.add("itemId", receipt.cipherID)
            object.add("status", receipt.status.rawValue)
            object.add("resultItemId", receipt.resultCipherID)
            object.add("backupItemId", receipt.backupCipherID)
            object.object("dates") {
                $0.add("queued", receipt.queued.text)
                $0.add("sent", receipt.sent?.text)
                $0.add("observed", receipt.observed?.text)
                $0.add("ended", receipt.ended?.text)
            }
        }
    }
}

struct ResolutionObject: JSON.Writable {
    let entry: ResolutionEntry

    func write(to json: inout JSON.Writer) {
        json.object { object in
            object.add("object", "resolution")
            object.add("id", entry.sequence)
            object.add("pendingId", entry.pendingID)
            object.add("itemId", entry.cipherID)
            object.add("changeType", entry.type.rawValue)
            object.add("outcome", entry.note.outcome.rawValue)
            object.add("winner", entry.note.winner?.word)
            object.add("backupItemId", entry.note.backupCipherID)
            object.object("dates") {
                $0.add("recorded", entry.recorded.text)
                $0.add("resolved", entry.note.moment.text)
            }
        }
    }
}
