import Bitwarden
import HTTP
import JSON
import System
import Vault

/// Texts that are shown to whoever has their address. They are upstream's, so none of this but the
/// reading works offline.
extension VaultAPI {
    static let sendRoutes: [Route] =
        ["/list/object/send", "/send/list"].map { path in
            .vault(.get, path, Description("The sends.", query: [.search], answer: .list(.send))) {
                call,
                desk in
                .list(try await desk.sends().listed(by: call.option("search")))
            }
        } + [
            .vault(
                .get,
                "/object/send/{id}",
                Description("A send, by its id or a search.", answer: .data(.send))
            ) { call, desk in
                .success(try await desk.sends().one(by: call.id))
            },
            .vault(
                .post,
                "/object/send",
                Description(
                    "Makes a send of a text.",
                    query: sendOptions,
                    body: .json(.sendBody),
                    answer: .data(.send),
                    isEdit: true
                )
            ) { call, desk in
                .success(try await desk.addSend(try await call.sendDraft(over: nil))).with(.saved)
            },
            .vault(
                .put,
                "/object/send/{id}",
                Description(
                    "Replaces a send.",
                    body: .json(.sendBody),
                    answer: .data(.send),
                    isEdit: true
                )
            ) { call, desk in
                let old = try await desk.knownSend(call.id)
                let draft = try await call.sendDraft(over: old)
                return .success(try await desk.updateSend(old.answer.id, draft)).with(.saved)
            },
            .vault(
                .delete,
                "/object/send/{id}",
                Description("Deletes a send.", answer: .nothing, isEdit: true)
            ) { call, desk in
                try await desk.deleteSend(try await desk.knownSend(call.id).answer.id)
                return .done.with(.saved)
            },
            .vault(
                .post,
                "/send/{id}/remove-password",
                Description(
                    "Takes the password off a send.",
                    answer: .data(.send),
                    isEdit: true
                )
            ) { call, desk in
                let id = try await desk.knownSend(call.id).answer.id
                return .success(try await desk.removeSendPassword(id)).with(.saved)
            },
        ]

    private static let sendOptions: [Option] = [
        Option("text", "The text, if the body has none."),
        .flag("hidden", "The text is shown only when asked for."),
        Option("password", "What a reader must know, if the body has none."),
        Option("email", "Not supported: a send for certain readers is refused."),
        Option("emails", "Likewise."),
        Option("maxAccessCount", "How often it can be read."),
    ]
}

extension AccountDesk {
    fileprivate func knownSend(_ id: String) async throws -> ViewedSend {
        let known = try await sends().first { $0.answer.id.lowercased() == id.lowercased() }
        guard let known else { throw DeskRefusal.notFound }
        return known
    }
}

extension VaultAPI.Call {
    /// What the client wants, with the options of the query for what the body leaves out. A send
    /// that is there keeps its type.
    fileprivate func sendDraft(over old: ViewedSend?) async throws -> SendDraft {
        // What is left out is not wanted; what is said in a way that nobody understands is refused, lest
        // the send be open to more people than it should.
        let body = try await json().root
        try check(type: try read("type", of: body), against: old)
        try refuseEmails(body, over: old)
        let name: String? = try read("name", of: body)
        var draft = SendDraft(
            name: name ?? "",
            text: try sendText(body, old),
            deletion: try deletion(body)
        )
        draft.notes = try read("notes", of: body)
        let text = body["text"].flatMap { $0.isNull ? nil : $0 }
        let isHidden: Bool? = try text.flatMap { try read("hidden", of: $0) }
        draft.isHidden = isHidden ?? has("hidden")
        let given: String? = try read("password", of: body)
        let password = given ?? option("password")
        draft.password = password?.isEmpty == true ? nil : password
        draft.maxAccessCount = try maxAccessCount(body)
        draft.expiration = try expiration(body)
        let isDisabled: Bool? = try read("disabled", of: body)
        let hidesEmail: Bool? = try read("hideEmail", of: body)
        (draft.isDisabled, draft.hidesEmail) = (isDisabled ?? false, hidesEmail ?? false)
        return draft
    }

    /// Without them everybody with the address could read it. Those of a send that is there stay, and can be said again.
    private func refuseEmails(_ body: JSON.Value, over old: ViewedSend?) throws {
        let present = old?.answer.emails ?? []
        let given = body["emails"].flatMap { $0.isNull ? nil : $0 }
        let isKept =
            given.map { given in
                given.array.map { $0.elementsEqual(present) { $0.string == $1 } }
                    ?? (given.string == present.joined(separator: ","))
            } ?? true
        guard isKept && option("email", "emails") == nil else {
            throw DeskRefusal.notAllowed(
                "Sends for certain emails are not supported. Use a password."
            )
        }
    }

    private func check(type: Int?, against old: ViewedSend?) throws {
        if let old {
            guard type == nil || type == old.answer.type else {
                throw DeskRefusal.notAllowed("Cannot change a Send's type")
            }
        } else if let type, type != SendAnswer.text, type != SendAnswer.file {
            throw DeskRefusal.notAllowed("type must be \(SendAnswer.text), for a text.")
        } else if type == SendAnswer.file {
            throw DeskRefusal.notAllowed(
                """
                Creating a file-based Send is unsupported through the `serve` command at this \
                time.
                """
            )
        }
    }

    private func sendText(_ body: JSON.Value, _ old: ViewedSend?) throws -> String {
        if let text = body["text"]?["text"]?.string ?? option("text"), !text.isEmpty { return text }
        if let old, old.answer.type == SendAnswer.file { return "" }
        throw DeskRefusal.notAllowed("A text Send needs its text: `text.text` is missing.")
    }

    private func deletion(_ body: JSON.Value) throws -> Moment {
        guard let date = body["deletionDate"]?.string.flatMap(Self.date),
            date > Moment(api.timekeeper.now)
        else {
            throw DeskRefusal.notAllowed(
                "Must specify a valid deletion date after the current time"
            )
        }
        return date
    }

    /// A day by itself begins at midnight, UTC.
    private static func date(_ text: String) -> Moment? {
        Revision(text)?.moment ?? Revision(text + "T00:00:00Z")?.moment
    }

    private func expiration(_ body: JSON.Value) throws -> Moment? {
        guard let value = body["expirationDate"], !value.isNull else { return nil }
        guard let date = value.string.flatMap(Self.date) else {
            throw DeskRefusal.notAllowed("Unable to parse expirationDate: \(value.string ?? "")")
        }
        return date
    }

    private func maxAccessCount(_ body: JSON.Value) throws -> Int? {
        if let value = body["maxAccessCount"], !value.isNull {
            guard let count = try? Int(json: value), count > 0 else { throw Self.badCount }
            return count
        }
        guard let text = option("maxAccessCount") else { return nil }
        guard let count = Int(text), count > 0 else { throw Self.badCount }
        return count
    }

    private static let badCount = DeskRefusal.notAllowed(
        "maxAccessCount must be a whole number above 0."
    )
}
