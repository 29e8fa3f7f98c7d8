import HTTP
import JSON

extension Command {
    static let pending = Command(
        name: "pending",
        summary: "shows and settles edits that the server has not accepted yet",
        operands: "[list|show|retry|discard|save-copy] [ID]",
        choices: Deed.allCases.map(\.rawValue),
        flags: HostLine.accountFlags,
        run: { invocation, console throws(Failure) in
            let deed: Deed = try invocation.word(.list)
            let line = try HostLine(invocation)
            let showing = Showing(invocation, console)
            guard let method = deed.method else {
                try invocation.allow(1)
                let answer = try await line.ask(.get, "/pending")
                return showing.table(answer.list, none: "Nothing is pending.") {
                    Table(pending: answer.data?.listed ?? [])
                }
            }
            let path = "/pending/\(Percent.encode(try invocation.id(of: deed)))" + deed.ending
            let body = method == .post ? emptyBody : nil
            let answer = try await console.waiting(for: "Asking the server…") {
                () throws(Failure) in
                try await line.ask(method, path, body: body)
            }
            if deed == .show {
                return showing.fields(answer.json) { FieldList(change: answer.data) }
            }
            showing.outcome(answer.json) { deed.sentence(of: answer.data) }
        }
    )
}

/// What can be done about a pending change.
private enum Deed: String, CaseIterable {
    case list, show, retry, discard
    case saveCopy = "save-copy"

    /// Nil for the whole list.
    var method: HTTP.Method? {
        switch self {
        case .list: nil
        case .show: .get
        case .retry, .saveCopy: .post
        case .discard: .delete
        }
    }

    var ending: String {
        switch self {
        case .retry, .saveCopy: "/\(rawValue)"
        case .list, .show, .discard: ""
        }
    }

    /// - Parameter left: What is pending still.
    func sentence(of left: JSON.Value?) -> String {
        switch self {
        case .list, .show: ""
        case .retry:
            if let error = left?.lastError {
                "Tried again; it is still pending: \(error)"
            } else if left?["attempts"]?.int != nil {
                "It is tried as soon as the vault is open, the server answers, and resolution is switched on."
            } else {
                "Tried again; the server has it."
            }
        case .discard: "Discarded; the vault shows the server's version again."
        case .saveCopy: "Kept as an item of its own."
        }
    }
}

extension Invocation {
    fileprivate func id(of deed: Deed) throws(Failure) -> String {
        try allow(2)
        guard operands.count == 2, !operands[1].isEmpty else {
            throw Failure(
                status: .usage,
                message: "Say which change: holdfast pending \(deed.rawValue) ID."
            )
        }
        return operands[1]
    }
}

extension Table {
    fileprivate init(pending changes: [JSON.Value]) {
        self.init(
            headings: ["CHANGE", "STATE", "SINCE", "ATTEMPTS", "NEXT", "ID", "LAST ERROR"],
            rows: changes.map { change in
                [
                    change.shown("changeType"), change.shown("state"),
                    change.shown("createdDate"), change.shown("attempts"),
                    change.shown("nextAttemptDate"), change.shown("id"), change.lastError ?? "",
                ]
            }
        )
    }
}

extension FieldList {
    fileprivate init(change: JSON.Value?) {
        let names = [
            ("Change", "changeType"), ("State", "state"), ("Item", "itemId"),
            ("Since", "createdDate"), ("Updated", "updatedDate"), ("Attempts", "attempts"),
            ("Next attempt", "nextAttemptDate"), ("Id", "id"),
        ]
        fields = names.map { ($0.0, change?.shown($0.1) ?? "") }.filter { !$0.1.isEmpty }
        if let error = change?.lastError { fields.append(("Last error", error)) }
    }
}

extension JSON.Value {
    /// Why a change was not accepted when it was last tried.
    fileprivate var lastError: String? {
        guard let error = self["lastError"], !error.isNull else { return nil }
        return "\(error.shown("kind")): \(error.shown("message"))"
    }
}
