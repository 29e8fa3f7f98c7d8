import HTTP
import Sync
import Vault

/// What is pending, and what became of what was. Only keeping a copy needs an unlocked vault.
extension VaultAPI {
    static let queueRoutes: [Route] = [
        .account(
            .get,
            "/pending",
            Description("What upstream has not accepted yet.", answer: .list(.pendingChange))
        ) { _, desk in
            let heldUntil = desk.heldUntil
            let changes = try await desk.pending()
            return .list(
                changes.map { PendingObject(stored: $0, heldUntil: heldUntil) },
                elementSize: 512
            )
        },
        .account(
            .get,
            "/pending/{id}",
            Description("One pending change.", answer: .data(.pendingChange))
        ) { call, desk in
            let known = try await desk.knownChange(call.id)
            return .success(PendingObject(stored: known, heldUntil: desk.heldUntil))
        },
        .account(
            .post,
            "/pending/{id}/retry",
            Description(
                "Tries a change now, in spite of backoff and quarantine.",
                answer: .rest(.pendingChange)
            )
        ) { call, desk in
            let known = try await desk.knownChange(call.id)
            guard let left = try await desk.retry(known.summary.id) else { return .done }
            return .success(PendingObject(stored: left, heldUntil: desk.heldUntil))
        },
        .vault(
            .post,
            "/pending/{id}/save-copy",
            Description(
                "Keeps what is pending as a new item, and forgets the change.",
                answer: .data(.item),
                isEdit: true
            )
        ) { call, desk in
            let known = try await desk.knownChange(call.id)
            let written = try await desk.saveCopy(known.summary.id)
            return .success(written.value).with(written.place)
        },
        .account(
            .delete,
            "/pending/{id}",
            Description("Discards a change: upstream's version is shown again.", answer: .nothing)
        ) { call, desk in
            try await desk.discard(try await desk.knownChange(call.id).summary.id)
            return .done
        },
        .account(
            .get,
            "/receipts/{id}",
            Description(
                "What became of a queued edit, until a week after that.",
                answer: .data(.receipt)
            )
        ) { call, desk in
            guard let receipt = try await desk.receipt(call.id.lowercased()) else {
                throw DeskRefusal.notFound
            }
            return .success(ReceiptObject(receipt: receipt))
        },
        .account(
            .get,
            "/resolutions",
            Description(
                "How pending changes were resolved, the newest first.",
                query: [
                    Option("since", "Only what was resolved since that date.", .date),
                    Option(
                        "limit",
                        "How many at most: 1 to 1000, 100 if it is not said.",
                        .range(1...1_000)
                    ),
                ],
                answer: .list(.resolution)
            )
        ) { call, desk in
            let since = try call.moment("since")
            let limit = try call.limit("limit", usual: 100, most: 1_000)
            let entries = try await desk.resolutions(since: since, limit: limit)
            return .list(entries.map(ResolutionObject.init), elementSize: 384)
        },
    ]
}

extension AccountDesk {
    fileprivate func knownChange(_ id: String) async throws -> StoredChange {
        guard let change = try await pendingChange(id.lowercased()) else {
            throw DeskRefusal.notFound
        }
        return change
    }
}

extension VaultAPI.Call {
    fileprivate func moment(_ name: String) throws -> Moment? {
        guard let text = query[name] else { return nil }
        guard let moment = Revision(text)?.moment else {
            throw DeskRefusal.notAllowed("`\(name)` must be a date like 2026-01-05T08:12:44.901Z.")
        }
        return moment
    }

    fileprivate func limit(_ name: String, usual: Int, most: Int) throws -> Int {
        guard let text = query[name] else { return usual }
        guard let limit = Int(text), (1...most).contains(limit) else {
            throw DeskRefusal.notAllowed("`\(name)` must be a number from 1 to \(most).")
        }
        return limit
    }
}
