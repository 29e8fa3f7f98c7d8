import JSON

/// An item as a caller of the API sends it, to be created or to replace one.
///
/// Members that the API does not know are ignored, as are those that only upstream sets. All others
/// are held to their kind here, before anything is changed.
public struct ItemBody: Sendable {
    let type: ItemType?
    let contents: Contents
    /// What is there and not null: an edit keeps the rest of these.
    let present: Set<String>
    /// Whether the item is in no archive afterwards, whatever the body says of that.
    private(set) var isOutOfArchive = false

    public init(_ bytes: [UInt8]) throws(EditRefusal) {
        let document: JSON.Document
        do throws(JSON.Failure) {
            document = try JSON.Document(bytes)
        } catch {
            throw .notJSON(error)
        }
        do throws(JSON.Mismatch) {
            try self.init(document.root)
        } catch {
            throw .unfit(error)
        }
        if case .other(let number) = type { throw .unknownType(number) }
    }

    private init(_ body: JSON.Value) throws(JSON.Mismatch) {
        type = try body.read("type", as: Int?.self).map(ItemType.init)
        var contents = try Contents(body: body, .item)
        // Upstream's ids are in small letters, and callers write them as they like. An empty one is none.
        for name in ["organizationId", "folderId"] {
            guard let id = contents[name].text else { continue }
            contents[name] = id.isEmpty ? .none : .plain(JSON.Raw(id.lowercased()))
        }
        let collectionIDs = contents["collectionIds"].texts
        if !collectionIDs.isEmpty {
            contents["collectionIds"] = .plain(JSON.Raw(collectionIDs.asIdentifiers))
        }
        if let seen = contents["revisionDate"].text, !DateText.isDate(seen) {
            throw JSON.Mismatch(DateText.expectation, at: ["revisionDate"])
        }
        self.contents = contents
        present = Set(
            Shape.item.members.map(\.name).filter { body[$0].map { !$0.isNull } ?? false }
        )
    }

    public func outOfArchive() -> ItemBody {
        var body = self
        body.isOutOfArchive = true
        return body
    }

    public var folderID: String? { contents["folderId"].text }
    public var organizationID: String? { contents["organizationId"].text }
    public var collectionIDs: [String] { contents["collectionIds"].texts }
    /// Which revision the caller has seen, in whatever spelling; nil if they name none.
    public var revision: Revision? { contents["revisionDate"].text.flatMap { Revision($0) } }
}

extension [String] {
    /// As upstream spells ids, each once.
    public var asIdentifiers: [String] {
        var seen: Set<String> = []
        return map { $0.lowercased() }.filter { seen.insert($0).inserted }
    }
}

extension Contents {
    init(body: JSON.Value, _ shape: Shape) throws(JSON.Mismatch) {
        guard body.kind == .object else { throw JSON.Mismatch("must be an object") }
        self.init(shape)
        for member in shape.members where member.isWritable {
            guard let value = body[member.name], !value.isNull else { continue }
            do throws(JSON.Mismatch) {
                self[member.name] = try member.kind.content(ofBody: value)
            } catch {
                throw error.within(.member(member.name))
            }
        }
    }
}

extension Member {
    /// Whether the API takes it. Files come and go on ways of their own.
    fileprivate var isWritable: Bool {
        uses.contains(.shown) && name != "attachments" && name != "id"
    }
}

extension Member.Kind {
    fileprivate func content(ofBody value: JSON.Value) throws(JSON.Mismatch) -> Content {
        switch self {
        case .sealed: Content(try String(json: value))
        case .text, .checksum, .key, .kept, .mirror: .plain(JSON.Raw(try String(json: value)))
        case .date: try date(ofBody: value)
        case .flag: .plain(JSON.Raw(try Bool(json: value)))
        // Whether it is in its range is asked only of what is new; see ``Merge``.
        case .number: .plain(JSON.Raw(try Int(json: value)))
        // What is a list for others, too, who take one for a list of one.
        case .texts where value.kind == .string: .plain(JSON.Raw([try String(json: value)]))
        case .texts: .plain(JSON.Raw(try [String](json: value)))
        case .object(let shape): .object(try Contents(body: value, shape))
        case .list(let shape): .list(try list(ofBody: value, shape))
        }
    }

    /// Whether it is one at all is asked only of what is new, too.
    private func date(ofBody value: JSON.Value) throws(JSON.Mismatch) -> Content {
        let text = try String(json: value)
        return .plain(JSON.Raw(DateText.isDate(text) ? DateText.shown(text) ?? text : text))
    }

    private func list(
        ofBody value: JSON.Value,
        _ shape: Shape
    ) throws(JSON.Mismatch) -> [Contents] {
        guard let elements = value.array else { throw JSON.Mismatch("must be an array") }
        var list: [Contents] = []
        for (position, element) in elements.enumerated() {
            do throws(JSON.Mismatch) {
                list.append(try Contents(body: element, shape))
            } catch {
                throw error.within(.element(position))
            }
        }
        return list
    }
}

extension JSON.Mismatch {
    func within(_ step: JSON.Step) -> JSON.Mismatch {
        JSON.Mismatch(expectation, at: JSON.Path([step] + path.steps))
    }
}

extension Content {
    var texts: [String] {
        guard case .plain(let raw) = self, let document = try? JSON.Document(raw) else { return [] }
        return document.root.array?.compactMap(\.string) ?? []
    }
}
