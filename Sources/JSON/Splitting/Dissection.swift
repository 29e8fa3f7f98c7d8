/// What a ``JSON/Split`` knows of one member; of the whole body, without a name.
struct PartPlaces {
    var name: Place
    var value: Place
    /// Counted over all arrays.
    var elements: Range<Int>?
}

/// The walk that splits a body.
struct Dissection {
    /// Of each element its own place, then that of each field picked; an end of 0 stands for a
    /// field that is not there.
    private(set) var places: [Place] = []
    private(set) var parts: [PartPlaces] = []

    private let picks: Picks
    private static let nowhere = Place(Extent(start: 0, end: 0))

    static func dissect(
        _ bytes: [UInt8],
        picking names: [String],
        depthLimit: Int
    ) throws(JSON.Failure) -> Dissection {
        try bytes.span.withUnsafeBufferPointer { text throws(JSON.Failure) in
            try Cursor.walk(text, depthLimit: depthLimit) { (cursor) throws(JSON.Failure) in
                var dissection = Dissection(picks: Picks(names))
                try dissection.body(&cursor)
                return dissection
            }
        }
    }

    private init(picks: Picks) {
        self.picks = picks
    }

    private mutating func body(_ cursor: inout Cursor) throws(JSON.Failure) {
        parts.append(PartPlaces(name: Self.nowhere, value: Self.nowhere))
        guard try cursor.peek() == .openBrace else {
            let (extent, elements) = try part(&cursor, depth: 0)
            parts[0].value = Place(extent)
            parts[0].elements = elements
            return
        }
        let extent = try cursor.object(depth: 0) { (cursor, name) throws(JSON.Failure) in
            let (extent, elements) = try part(&cursor, depth: 1)
            parts.append(PartPlaces(name: Place(name), value: Place(extent), elements: elements))
        }
        parts[0].value = Place(extent)
    }

    private mutating func part(
        _ cursor: inout Cursor,
        depth: Int
    ) throws(JSON.Failure) -> (Extent, elements: Range<Int>?) {
        guard try cursor.peek() == .openBracket else {
            return (try cursor.skip(depth: depth), nil)
        }
        let first = elementCount
        let extent = try cursor.array(depth: depth) { (cursor) throws(JSON.Failure) in
            try element(&cursor, depth: depth + 1)
        }
        return (extent, first..<elementCount)
    }

    private var elementCount: Int { places.count / (picks.count + 1) }

    private mutating func element(
        _ cursor: inout Cursor,
        depth: Int
    ) throws(JSON.Failure) {
        let index = places.count
        for _ in 0...picks.count { places.append(Self.nowhere) }
        guard try cursor.peek() == .openBrace else {
            places[index] = Place(try cursor.skip(depth: depth))
            return
        }
        let extent = try cursor.object(depth: depth) { (cursor, name) throws(JSON.Failure) in
            let pick = picks.index(of: name, in: cursor.text)
            let extent = try cursor.skip(depth: depth + 1)
            if let pick { places[index + 1 + pick] = Place(extent) }
        }
        places[index] = Place(extent)
    }
}

/// The names that are looked for in every element, their first letter in either case.
private struct Picks {
    private let names: [[UInt8]]
    /// A bit for each length that a name has, because the length is enough to pass over most.
    private let lengths: UInt64

    init(_ names: [String]) {
        self.names = names.map { Array($0.utf8) }
        lengths = names.reduce(0) { $0 | Self.bit(ofLength: $1.utf8.count) }
    }

    var count: Int { names.count }

    private static func bit(ofLength length: Int) -> UInt64 { 1 << min(length, 63) }

    @inline(__always)
    func index(of name: Extent, in text: UnsafeBufferPointer<UInt8>) -> Int? {
        let bit = Self.bit(ofLength: name.end - name.start - 2)
        guard name.hasEscapes || lengths & bit != 0 else { return nil }
        return names.firstIndex { pick in
            pick.withUnsafeBufferPointer { text.name(at: name, is: $0, .anyCase) }
        }
    }
}
