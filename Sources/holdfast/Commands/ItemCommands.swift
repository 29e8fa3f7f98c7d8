import HTTP
import JSON
import System

// What has to do with what is in a vault.

extension Command {
    static let list = Command(
        name: "list",
        summary: "lists what is in a vault",
        operands: "[items|folders|collections|organizations|sends|trash]",
        choices: ListKind.allCases.map(\.rawValue),
        flags: HostLine.accountFlags + [
            Flag(name: "search", value: "TEXT", mayBeEmpty: true, help: "only what has that in it"),
            Flag(name: "url", value: "URL", help: "only logins for that address"),
            Flag(
                name: "folder-id",
                value: "ID",
                help: "only what is in that folder; null is none, notnull any"
            ),
            Flag(
                name: "collection-id",
                value: "ID",
                help: "or in that collection; null is none, notnull any"
            ),
            Flag(
                name: "organization-id",
                value: "ID",
                help: "or that organization's; null is nobody's, notnull any's"
            ),
        ],
        run: { invocation, console throws(Failure) in
            try invocation.allow(1)
            let kind: ListKind = try invocation.word(.items)
            let query = try kind.query(invocation)
            let answer = try await HostLine(invocation).ask(.get, kind.path, query)
            Showing(invocation, console).table(answer.list, none: "There is none.") {
                kind.table(answer.data?.listed ?? [])
            }
        }
    )

    static let get = Command(
        name: "get",
        summary: "shows an item or one thing of it, what items lie in, or a template of them",
        operands: "[item|username|password|uri|totp|notes|folder|collection|organization|template] "
            + "ID-OR-SEARCH",
        choices: Part.allCases.map(\.rawValue),
        flags: HostLine.accountFlags,
        run: { invocation, console throws(Failure) in
            try invocation.allow(2)
            let isWhole = invocation.operands.count == 1
            let part: Part = isWhole ? .item : try invocation.word(.item)
            guard let search = invocation.operands.last, !search.isEmpty else {
                throw Failure(status: .usage, message: "Say which item: holdfast get ID-OR-SEARCH.")
            }
            let path = "/object/\(part.rawValue)/\(Percent.encode(search))"
            let answer = try await HostLine(invocation).ask(.get, path)
            let showing = Showing(invocation, console)
            switch part {
            case .item, .folder, .collection, .organization:
                showing.fields(answer.json) { FieldList(item: answer.data) }
            case .username, .password, .uri, .totp, .notes:
                showing.words(answer.data?.shown("data") ?? "", answer.json)
            case .template:
                let template = answer.data?["template"]?.raw ?? answer.json
                showing.words(template.text, template)
            }
        }
    )

    static let create = Command(
        name: "create",
        summary: "makes an item or a folder of the JSON on standard input",
        operands: "[item|folder]",
        choices: Kind.allCases.map(\.rawValue),
        flags: HostLine.accountFlags,
        run: { invocation, console throws(Failure) in
            try invocation.allow(1)
            let kind = try invocation.word(Kind.item)
            let line = try HostLine(invocation)
            try line.requireHost()
            let body = try console.jsonOnInput(.object)
            let answer = try await line.ask(
                .post,
                "/object/\(kind.rawValue)",
                body: body
            )
            Showing(invocation, console).outcome(answer.edited) { answer.sentence }
        }
    )

    static let edit = Command(
        name: "edit",
        summary:
            "replaces an item, a folder or an item's collections by the JSON on standard input",
        operands: "[item|folder|item-collections] ID",
        choices: Change.allCases.map(\.rawValue),
        flags: HostLine.accountFlags,
        run: { invocation, console throws(Failure) in
            let (kind, id) = try invocation.kindAndID(Change.item)
            let line = try HostLine(invocation)
            try line.requireHost()
            let body = try console.jsonOnInput(kind == .collections ? .array : .object)
            let path = "/object/\(kind.rawValue)/\(Percent.encode(id))"
            let answer = try await line.ask(.put, path, body: body)
            Showing(invocation, console).outcome(answer.edited) { answer.sentence }
        }
    )

    static let delete = Command(
        name: "delete",
        summary: "moves an item to the trash, or deletes it for good; or deletes a folder",
        operands: "[item|folder] ID",
        choices: Kind.allCases.map(\.rawValue),
        flags: HostLine.accountFlags + [
            Flag(name: "permanent", help: "for good, from the trash as well")
        ],
        run: { invocation, console throws(Failure) in
            let (kind, id) = try invocation.kindAndID(Kind.item)
            let path = "/object/\(kind.rawValue)/\(Percent.encode(id))"
            let query = invocation.isOn("permanent") ? [(name: "permanent", value: "true")] : []
            let answer = try await HostLine(invocation).ask(.delete, path, query)
            Showing(invocation, console).outcome(answer.edited) { answer.sentence }
        }
    )

    static let restore = Command(
        name: "restore",
        summary: "takes an item out of the trash",
        operands: "ID",
        flags: HostLine.accountFlags,
        run: { invocation, console throws(Failure) in
            let path = "/restore/item/\(Percent.encode(try invocation.onlyID()))"
            let answer = try await HostLine(invocation).ask(.post, path, body: emptyBody)
            Showing(invocation, console).outcome(answer.edited) { answer.sentence }
        }
    )

    static let move = Command(
        name: "move",
        summary: "gives an item to an organization, into the collections on standard input",
        operands: "ID ORGANIZATION-ID",
        flags: HostLine.accountFlags,
        run: { invocation, console throws(Failure) in
            try invocation.allow(2)
            let ids = invocation.operands.filter { !$0.isEmpty }.map(Percent.encode)
            guard ids.count == 2 else {
                throw Failure(
                    status: .usage,
                    message: "Say what goes where: holdfast move ID ORGANIZATION-ID."
                )
            }
            let line = try HostLine(invocation)
            try line.requireHost()
            let body = try console.jsonOnInput(.array)
            let answer = try await line.ask(.post, "/move/\(ids[0])/\(ids[1])", body: body)
            Showing(invocation, console).outcome(answer.edited) { answer.sentence }
        }
    )
}

/// What can be made and deleted.
private enum Kind: String, CaseIterable {
    case item, folder
}

private enum Change: String, CaseIterable {
    case item, folder
    case collections = "item-collections"
}

/// What standard input is to be.
private enum Shape: String {
    case object, array
}

/// What can be asked for: an item, one thing of it, what it lies in, and the shape of a new one.
private enum Part: String, CaseIterable {
    case item, username, password, uri, totp, notes, folder, collection, organization, template
}

private enum ListKind: String, CaseIterable {
    case items, folders, collections, organizations, sends, trash

    var path: String {
        switch self {
        case .trash: "/list/object/items"
        case .sends: "/list/object/send"
        case .items, .folders, .collections, .organizations: "/list/object/\(rawValue)"
        }
    }

    /// What narrows the list, in the host's words.
    func query(_ invocation: Invocation) throws(Failure) -> [(name: String, value: String)] {
        var query = self == .trash ? [(name: "trash", value: "true")] : []
        if let text = invocation.value("search") { query.append(("search", text)) }
        for (flag, name) in Self.filters {
            guard let text = invocation.value(flag) else { continue }
            guard isNarrowed(by: flag) else {
                throw Failure(
                    status: .usage,
                    message: "--\(flag) does not go with 'holdfast list \(rawValue)'."
                )
            }
            query.append((name, text))
        }
        return query
    }

    private static let filters: KeyValuePairs = [
        "url": "url", "folder-id": "folderid", "collection-id": "collectionid",
        "organization-id": "organizationid",
    ]

    private func isNarrowed(by flag: String) -> Bool {
        switch self {
        case .items, .trash: true
        case .collections: flag == "organization-id"
        case .folders, .organizations, .sends: false
        }
    }

    func table(_ values: [JSON.Value]) -> Table {
        switch self {
        case .items, .trash:
            Table(
                headings: ["NAME", "USERNAME", "STATE", "ID"],
                rows: values.map { item in
                    [
                        item.shown("name"), item["login"]?.shown("username") ?? "",
                        item["sync"]?.shown("state") ?? "", item.shown("id"),
                    ]
                }
            )
        case .folders, .collections, .organizations, .sends:
            Table(
                headings: ["NAME", "ID"],
                rows: values.map { [$0.shown("name"), $0.shown("id")] }
            )
        }
    }
}

extension FieldList {
    /// What a person wants to see of an item, or of its folder; the password is asked for by its name.
    fileprivate init(item: JSON.Value?) {
        let login = item?["login"]
        let uris = login?["uris"]?.array?.map { $0.shown("uri") } ?? []
        let all =
            [
                ("Name", item?.shown("name")), ("Username", login?.shown("username")),
                ("Password", login?["password"]?.string == nil ? nil : "••••••••"),
                ("Notes", item?.shown("notes")), ("Changed", item?.shown("revisionDate")),
                ("State", item?["sync"]?.shown("state")), ("Id", item?.shown("id")),
            ] + uris.map { ("URI", $0) }
        fields = all.compactMap { name, value in
            guard let value, !value.isEmpty else { return nil }
            return (name, value)
        }
    }
}

extension Invocation {
    /// The first operand as one of a few words.
    func word<Word: CaseIterable & RawRepresentable<String>>(
        _ standard: Word
    ) throws(Failure) -> Word {
        guard let text = operands.first else { return standard }
        if let word = Word(rawValue: text) { return word }
        let words = Word.allCases.map(\.rawValue).joined(separator: ", ")
        throw Failure(
            status: .usage,
            message: "'holdfast \(command)' wants one of \(words), not '\(text)'."
        )
    }

    /// The one operand that there must be.
    func onlyID() throws(Failure) -> String {
        try allow(1)
        guard let id = operands.first, !id.isEmpty else {
            throw Failure(status: .usage, message: "Say which: holdfast \(command) ID.")
        }
        return id
    }

    /// What is named before an id, and the id; if that is alone, the standard kind is meant.
    fileprivate func kindAndID<Word: CaseIterable & RawRepresentable<String>>(
        _ standard: Word
    ) throws(Failure) -> (kind: Word, id: String) {
        guard operands.count > 1 else { return (standard, try onlyID()) }
        try allow(2)
        let kind = try word(standard)
        guard !operands[1].isEmpty else {
            throw Failure(
                status: .usage,
                message: "Say which: holdfast \(command) \(kind.rawValue) ID."
            )
        }
        return (kind, operands[1])
    }
}

extension Console {
    /// The JSON on standard input, found to be of its shape before the host is asked.
    fileprivate func jsonOnInput(_ shape: Shape) throws(Failure) -> [UInt8] {
        let bytes: [UInt8]
        do {
            bytes = try input()
        } catch {
            throw Failure(status: .failure, message: error.description)
        }
        do {
            let root = try JSON.Document(bytes).root
            guard shape == .object ? root.object != nil : root.array != nil else {
                throw Failure(
                    status: .failure,
                    message: "Standard input must be a JSON \(shape.rawValue)."
                )
            }
        } catch let failure as Failure {
            throw failure
        } catch {
            throw Failure(status: .failure, message: "Standard input: \(error)")
        }
        return bytes
    }
}

extension Answer {
    /// What came of an edit, and whether it is upstream or waits here.
    fileprivate var edited: JSON.Raw {
        guard let members = (try? JSON.Document(Array(json.bytes)))?.root.object else {
            return json
        }
        return .object { object in
            for member in members { object.add(member.name.string, member.value) }
            object.add("disposition", headers["Holdfast-Disposition"])
            object.add("receipt", headers["Holdfast-Receipt"])
        }
    }

    /// Whether an edit is upstream or waits here.
    fileprivate var sentence: String {
        let name = data?.shown("name") ?? ""
        let id = data?.shown("id") ?? ""
        let what = name.isEmpty ? "Done" : "\(name) (\(id))"
        guard headers["Holdfast-Disposition"] == "queued" else { return "\(what): saved." }
        let receipt = headers["Holdfast-Receipt"].map { ", receipt \($0)" } ?? ""
        return "\(what): kept here until the server can be reached\(receipt)."
    }
}
