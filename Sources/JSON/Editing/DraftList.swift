/// An array or object while it is being edited: its entries, and the bytes that were between them.
///
/// Each entry that was there keeps the comma and the white space before it. So taking one away
/// removes one stretch of bytes, and no other byte moves.
struct DraftList: Sendable {
    struct Entry {
        /// Empty in an array.
        var name = ""
        /// The name as it was spelled, with all up to the value.
        var head: ArraySlice<UInt8>
        /// What was between the entry before and this one.
        var separator: ArraySlice<UInt8>?
        var content: Draft

        /// To the byte: names that only look the same are two names.
        func isNamed(_ other: String) -> Bool { name.utf8.elementsEqual(other.utf8) }
    }

    let kind: JSON.Kind
    var entries: [Entry]

    private let style: Style

    init(_ value: JSON.Value) {
        let bytes = value.document.bytes
        let spots = value.spots
        kind = value.kind
        style = Style(of: value, spots)
        var end: Int?
        entries = spots.map { spot in
            defer { end = spot.value.extent.end }
            return Entry(
                name: spot.name?.string ?? "",
                head: bytes[spot.start..<spot.value.extent.start],
                separator: end.map { bytes[$0..<spot.start] },
                content: .kept(spot.value)
            )
        }
    }

    func write(to bytes: inout [UInt8]) {
        bytes.append(kind == .object ? .openBrace : .openBracket)
        for (index, entry) in entries.enumerated() {
            bytes += index == 0 ? style.lead : entry.separator ?? style.separator
            bytes += entry.head
            entry.content.write(to: &bytes)
        }
        if !entries.isEmpty || style.wasEmpty { bytes += style.tail }
        bytes.append(kind == .object ? .closeBrace : .closeBracket)
    }
}

// MARK: - Changes

extension DraftList {
    func index(of step: JSON.Step) -> Int? {
        switch step {
        case .member(let name): entries.lastIndex { $0.isNamed(name) }
        case .element(let position): entries.indices.contains(position) ? position : nil
        }
    }

    /// A member that is missing is added as `null`, as is the element behind the last.
    mutating func index(making step: JSON.Step) -> Int? {
        if let index = index(of: step) { return index }
        switch step {
        case .member(let name):
            entries.append(Entry(name: name, head: style.head(name), content: .written(.null)))
        case .element(let position):
            guard position == entries.count else { return nil }
            entries.append(Entry(head: [], content: .written(.null)))
        }
        return entries.count - 1
    }

    mutating func remove(_ step: JSON.Step) {
        switch step {
        case .member(let name): entries.removeAll { $0.isNamed(name) }
        case .element(let position): entries.remove(at: position)
        }
    }
}

// MARK: - The original

/// An element or a member in the original.
private struct Spot {
    var name: JSON.Name?
    var value: JSON.Value

    var start: Int { (name?.extent ?? value.extent).start }
}

extension JSON.Value {
    fileprivate var spots: [Spot] {
        let members = object?.map { Spot(name: $0.name, value: $0.value) }
        return members ?? array?.map { Spot(value: $0) } ?? []
    }
}

/// The white space and the commas of an array or object, for what is added to it.
private struct Style {
    let wasEmpty: Bool
    var lead: ArraySlice<UInt8> = []
    var tail: ArraySlice<UInt8> = []
    var separator: ArraySlice<UInt8> = [.comma]
    private var colon: ArraySlice<UInt8> = [.colon]

    init(of value: JSON.Value, _ spots: [Spot]) {
        let bytes = value.document.bytes
        let inside = value.extent.start + 1..<value.extent.end - 1
        wasEmpty = spots.isEmpty
        guard let first = spots.first, let last = spots.last else {
            tail = bytes[inside]
            return
        }
        lead = bytes[inside.lowerBound..<first.start]
        tail = bytes[last.value.extent.end..<inside.upperBound]
        separator = [.comma] + lead
        if spots.count > 1 { separator = bytes[first.value.extent.end..<spots[1].start] }
        if let name = first.name { colon = bytes[name.extent.end..<first.value.extent.start] }
    }

    func head(_ name: String) -> ArraySlice<UInt8> { JSON.Raw(name).bytes + colon }
}
