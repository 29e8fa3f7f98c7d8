public import JSON

/// The shape in which the API answers: members in fixed order, none of those that belong to the
/// item's type left out.
extension Item: JSON.Writable {
    public func write(to json: inout JSON.Writer) {
        json.object { writeMembers(to: &$0) }
    }

    /// For whoever has something to say beside them.
    public func writeMembers(to object: inout JSON.ObjectWriter) {
        let shown = shown
        object.add("object", "item")
        shown.write(to: &object, isUnreadable: shown["name"].text == nil && !flaws.isEmpty) {
            $0 == type?.member
        }
    }
}

extension Contents: JSON.Writable {
    func write(to json: inout JSON.Writer) {
        json.object { write(to: &$0, isUnreadable: false) { _ in true } }
    }

    fileprivate func write(
        to json: inout JSON.ObjectWriter,
        isUnreadable: Bool,
        has isOwn: (String) -> Bool
    ) {
        for (member, content) in zip(shape.shown, slots) {
            if case .object = member.kind, !isOwn(member.name) { continue }
            if isUnreadable, member.name == "name" {
                json.add("name", Item.unreadableName)
            } else {
                member.kind.write(content, as: member.name, to: &json)
            }
        }
    }
}

extension Member.Kind {
    fileprivate func write(
        _ content: Content,
        as name: String,
        to json: inout JSON.ObjectWriter
    ) {
        switch self {
        case .sealed, .checksum, .key, .text: json.add(name, content.text)
        case .date: json.add(name, content.date)
        case .flag: json.add(name, content.bool ?? false)
        case .number(_, let null): json.add(name, content.int ?? null)
        case .texts, .kept, .mirror: content.writeList(as: name, to: &json)
        case .object: json.add(name, content.object)
        case .list: json.add(name, content.list)
        }
    }
}

extension Content {
    fileprivate func writeList(as name: String, to json: inout JSON.ObjectWriter) {
        guard case .plain(let raw) = self, raw.kind == .array else {
            return json.array(name) { _ in }
        }
        json.add(name, raw)
    }
}
