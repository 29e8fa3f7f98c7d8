import HTTP
import JSON

// What has to do with accounts and their keys.

extension Command {
    static let logout = Command(
        name: "logout",
        summary: "signs an account out and erases what is kept of it",
        flags: HostLine.accountFlags + [
            Flag(name: "discard-pending", help: "also if edits that were not sent would be lost")
        ],
        run: { invocation, console throws(Failure) in
            try invocation.allow(0)
            let line = try HostLine(invocation)
            let id = try await line.accountID(invocation)
            do throws(Failure) {
                let answer = try await line.askHost(
                    .delete,
                    "/accounts/\(Percent.encode(id))",
                    invocation.isOn("discard-pending") ? [("discardPending", "true")] : []
                )
                Showing(invocation, console).outcome(answer.json) { "Signed out." }
            } catch {
                throw error.sayingFlags
            }
        }
    )

    static let unlock = Command(
        name: "unlock",
        summary: "opens a vault with its master password",
        flags: HostLine.accountFlags + PasswordSource.flags,
        run: { invocation, console throws(Failure) in
            let source = try PasswordSource(invocation, prompt: "Master password")
            let line = try HostLine(invocation)
            try line.requireHost()
            let body = JSON.Raw.object(["password": try source.read()])
            let answer = try await console.waiting(for: "Unlocking…") { () throws(Failure) in
                try await line.ask(.post, "/unlock", body: Array(body.bytes))
            }
            Showing(invocation, console).words(answer.title ?? "Unlocked.", answer.json)
        }
    )

    static let lock = Command(
        name: "lock",
        summary: "forgets the keys of a vault until it is unlocked",
        flags: HostLine.accountFlags,
        run: { invocation, console throws(Failure) in
            let answer = try await HostLine(invocation).ask(.post, "/lock", body: emptyBody)
            Showing(invocation, console).words(answer.title ?? "Locked.", answer.json)
        }
    )

    static let sync = Command(
        name: "sync",
        summary: "sends what is pending and fetches what is new",
        flags: HostLine.accountFlags + [
            Flag(name: "force", help: "fetches everything, also if nothing seems new")
        ],
        run: { invocation, console throws(Failure) in
            let line = try HostLine(invocation)
            let query = invocation.isOn("force") ? [(name: "force", value: "true")] : []
            let answer = try await console.waiting(for: "Syncing…") { () throws(Failure) in
                try await line.ask(.post, "/sync", query, body: emptyBody)
            }
            let reason = answer.data?.shown("reason") ?? ""
            let isDeferred = answer.data?["outcome"]?.string == "deferred"
            let title = isDeferred ? "Not all is synced." : answer.title ?? "Synced."
            Showing(invocation, console).words(
                reason.isEmpty ? title : "\(title) \(reason)",
                answer.json
            )
        }
    )

    static let status = Command(
        name: "status",
        summary: "tells how an account stands",
        flags: HostLine.accountFlags,
        run: { invocation, console throws(Failure) in
            let line = try HostLine(invocation)
            let answer = try await line.ask(.get, "/status")
            let template = answer.data?["template"]
            if template?["status"]?.string == "unauthenticated", !invocation.isOn("json") {
                try await line.requireChoice(invocation)
            }
            Showing(invocation, console).fields(template?.raw ?? answer.json) {
                FieldList(
                    fields: [
                        ("Status", template?.shown("status") ?? ""),
                        ("Account", template?.shown("userEmail") ?? ""),
                        ("Id", template?.shown("userId") ?? ""),
                        ("Server", template?.shown("serverUrl") ?? ""),
                        ("Last sync", template?.shown("lastSync") ?? ""),
                    ].filter { !$0.1.isEmpty }
                )
            }
        }
    )

    static let accounts = Command(
        name: "accounts",
        summary: "lists the accounts of this host",
        flags: HostLine.flags,
        run: { invocation, console throws(Failure) in
            let answer = try await HostLine(invocation).askHost(.get, "/accounts")
            Showing(invocation, console).table(answer.list, none: "No account has signed in yet.") {
                Table(
                    headings: ["EMAIL", "STATUS", "NETWORK", "PENDING", "LAST SYNC", "ID"],
                    rows: (answer.data?.listed ?? []).map { account in
                        [
                            account.shown("email")
                                + (account["default"]?.bool == true ? " (default)" : ""),
                            account.shown("status"), account.shown("network"),
                            account["pending"]?.shown("total") ?? "", account.shown("lastSync"),
                            account.shown("id"),
                        ]
                    }
                )
            }
        }
    )

    static let emptyBody = Array("{}".utf8)
}

extension HostLine {
    /// The account that was named, or the default one.
    fileprivate func accountID(_ invocation: Invocation) async throws(Failure) -> String {
        guard let id = try await chosenID(invocation) else {
            throw Failure(status: .failure, message: "No account has signed in.")
        }
        return id
    }

    /// Fails where it has to be said which account is meant; that must not look as if nobody were signed in.
    fileprivate func requireChoice(_ invocation: Invocation) async throws(Failure) {
        _ = try await chosenID(invocation)
    }

    /// - Returns: Nil if nobody has signed in.
    private func chosenID(_ invocation: Invocation) async throws(Failure) -> String? {
        if let id = invocation.value("account") { return id }
        let accounts = try await askHost(.get, "/accounts").data?.listed ?? []
        if accounts.isEmpty { return nil }
        let chosen = accounts.first { $0["default"]?.bool == true }
        guard let account = chosen ?? (accounts.count == 1 ? accounts.first : nil) else {
            throw Failure(status: .usage, message: Failure.wayToName)
        }
        return account.shown("id")
    }
}

extension Invocation {
    /// Refuses operands beyond so many.
    func allow(_ count: Int) throws(Failure) {
        guard operands.count > count else { return }
        throw .surplus(operands[count], to: command)
    }
}

extension Failure {
    /// A word too many. What follows a command that takes a password may be that, and is not repeated to whoever
    /// reads along.
    static func surplus(_ word: String, to command: String) -> Failure {
        let rest =
            PasswordSource.commands.contains(command)
            ? "that much. A password comes from \(PasswordSource.alternatives)."
            : "'\(word)'."
        return Failure(
            status: .usage,
            message: "'holdfast \(command)' does not know what to do with \(rest)"
        )
    }
}

extension Answer {
    /// The headline of a message.
    var title: String? { data?["title"]?.string }
}

extension JSON.Raw {
    static func object(_ members: KeyValuePairs<String, String>) -> JSON.Raw {
        .object { json in
            for (name, value) in members { json.add(name, value) }
        }
    }
}
