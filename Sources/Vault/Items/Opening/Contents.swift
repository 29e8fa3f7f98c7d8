import JSON

/// The members of one object in the clear: those that the API shows, in its order.
struct Contents: Sendable {
    let shape: Shape
    private(set) var slots: [Content]

    /// All members empty.
    init(_ shape: Shape) {
        self.shape = shape
        slots = Array(repeating: .none, count: shape.shown.count)
    }

    init(_ shape: Shape, slots: [Content]) {
        self.shape = shape
        self.slots = slots
    }

    subscript(name: String) -> Content {
        get { index(of: name).map { slots[$0] } ?? .none }
        set {
            guard let index = index(of: name) else { return }
            slots[index] = newValue
        }
    }

    /// Whether nothing differs that the API shows.
    func isSame(as other: Contents) -> Bool {
        shape.shown.indices.allSatisfy { index in
            shape.shown[index].kind.isSame(slots[index], other.slots[index])
        }
    }

    private func index(of name: String) -> Int? {
        shape.index(of: name).flatMap { $0 < slots.count ? $0 : nil }
    }
}

/// What one member holds.
enum Content: Sendable {
    /// Null, missing, or not to be opened.
    case none
    case text(String)
    /// What was never encrypted, as upstream spells it.
    case plain(JSON.Raw)
    case object(Contents)
    case list([Contents])

    var text: String? {
        switch self {
        case .text(let text): text
        case .plain(let raw): raw.string
        case .none, .object, .list: nil
        }
    }

    /// A date in the API's spelling; what is no date, as it is.
    var date: String? {
        text.map { DateText.shown($0) ?? $0 }
    }

    var int: Int? {
        if case .plain(let raw) = self { raw.int } else { nil }
    }

    var bool: Bool? {
        if case .plain(let raw) = self { raw.bool } else { nil }
    }

    var object: Contents? {
        if case .object(let contents) = self { contents } else { nil }
    }

    var list: [Contents] {
        if case .list(let list) = self { list } else { [] }
    }

    /// Text that there is something in.
    init(_ text: String?) {
        if let text, !text.isEmpty { self = .text(text) } else { self = .none }
    }

    init(date: String?) {
        self = date.map { .plain(JSON.Raw($0)) } ?? .none
    }
}

extension Member.Kind {
    /// Whether two contents of this kind say the same. An empty text is as good as none, and so is an
    /// empty list.
    func isSame(_ one: Content, _ other: Content) -> Bool {
        switch self {
        case .date:
            return one.date == other.date
        case .sealed, .text, .checksum, .key:
            // To the byte: two passwords that only look the same are two passwords.
            return (one.text ?? "").utf8.elementsEqual((other.text ?? "").utf8)
        case .flag:
            return one.bool ?? false == other.bool ?? false
        case .number(_, let null):
            return one.int ?? null == other.int ?? null
        case .texts, .kept, .mirror:
            return one.raws == other.raws
        case .object:
            guard let one = one.object else { return other.object == nil }
            return other.object.map { one.isSame(as: $0) } ?? false
        case .list:
            return one.list.count == other.list.count
                && zip(one.list, other.list).allSatisfy { $0.isSame(as: $1) }
        }
    }
}

extension Content {
    fileprivate var raws: [JSON.Raw] {
        guard case .plain(let raw) = self else { return [] }
        guard raw.kind == .array, let document = try? JSON.Document(raw) else { return [raw] }
        return document.root.array?.map(\.raw) ?? []
    }
}
