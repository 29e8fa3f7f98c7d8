import Crypto
import HTTP
import JSON
import Sync
import Vault

/// Where the account stands, and what changes that. None of these needs an unlocked vault.
extension VaultAPI {
    static let stateRoutes: [Route] = [
        .anybody(.get, "/status", Description("Where the account stands.", answer: .data(.status)))
        { _, desk in
            let outline = try await desk?.outline
            return .template(JSON.Raw(StatusObject(outline: outline)))
        },
        .anybody(
            .post,
            "/unlock",
            Description(
                "Unlocks the vault with the master password.",
                body: .json(.object([.init("password", .text)])),
                answer: .data(.message)
            ),
            unlock
        ),
        .anybody(.post, "/lock", Description("Locks the vault.", answer: .data(.message))) {
            call,
            desk in
            if desk == nil, call.isOpen { throw DeskRefusal.noDefaultAccount }
            await desk?.lock()
            return .success(MessageObject(title: "Your vault is locked."))
        },
        .account(
            .post,
            "/sync",
            Description(
                "Sends what is pending, then takes over what upstream holds.",
                query: [
                    .flag("force", "Also if nothing has changed upstream."),
                    .flag("last", "Only says when everything was taken over last."),
                ],
                answer: .data(.either([.message, .string]))
            ),
            sync
        ),
    ]

    private static let unlock: @Sendable (Call, (any AccountDesk)?) async throws -> Response = {
        call,
        desk in
        guard let desk else {
            throw call.isOpen
                ? DeskRefusal.noDefaultAccount : DeskRefusal.notAllowed("No active account found")
        }
        let body = try await call.json()
        guard let password = body.root["password"]?.string, !password.isEmpty else {
            throw DeskRefusal.notAllowed(
                """
                Master password is required. Try again in interactive mode or provide a password \
                file or environment variable.
                """
            )
        }
        try await desk.unlock(Secret(utf8: password))
        return .success(call.api.unlockedMessage())
    }

    /// The key is one that nobody needs: clients of `bw serve` look for it and never send it back.
    private func unlockedMessage() -> MessageObject {
        let key = Base64.text(of: Secret(random: 64, from: entropy).revealedBytes())
        return MessageObject(
            title: "Your vault is now unlocked!",
            message: """

                To unlock your vault, set your session key to the `BW_SESSION` environment \
                variable. ex:
                $ export BW_SESSION="\(key)"
                > $env:BW_SESSION="\(key)"

                You can also pass the session key to any command with the `--session` option. ex:
                $ bw list items --session \(key)
                """,
            raw: key
        )
    }

    private static let sync: @Sendable (Call, any AccountDesk) async throws -> Response = {
        call,
        desk in
        if call.has("last") { return .string(try await desk.outline.lastSync?.text) }
        let report = try await desk.sync(isForced: call.has("force"))
        guard report.outcome != .failed else {
            let words = report.reason ?? report.setback?.description
            throw DeskRefusal.notAllowed(words ?? "Syncing failed.")
        }
        let pending = try await desk.standing.pending
        return .success(
            MessageObject(
                title: "Syncing complete.",
                sync: SyncOutcome(report: report, pending: pending)
            )
        )
    }
}
