/// Which element of the old list each element of the new one continues, so that what did not change
/// keeps its bytes and what nobody here knows about stays with its element.
struct Pairing {
    private let new: [Contents]
    private let old: [Contents]
    private var origins: [Int?]
    private var isTaken: [Bool]

    /// The places in the old list, by position in the new one; nil for an element that is new.
    ///
    /// First whoever is the same and in the same place is found, then whoever is the same elsewhere,
    /// then whoever is known by the same name, and last whoever stands in the same place.
    static func origins(of new: [Contents], in old: [Contents]) -> [Int?] {
        var pairing = Pairing(new, old)
        pairing.pairInPlace { $0.isSame(as: $1) }
        pairing.pair(by: \.likeness) { $0.isSame(as: $1) }
        pairing.pair(by: \.identity) { _, _ in true }
        pairing.pairInPlace { _, _ in true }
        return pairing.origins
    }

    private init(_ new: [Contents], _ old: [Contents]) {
        (self.new, self.old) = (new, old)
        origins = Array(repeating: nil, count: new.count)
        isTaken = Array(repeating: false, count: old.count)
    }

    private mutating func pairInPlace(where fits: (Contents, Contents) -> Bool) {
        for index in new.indices.prefix(old.count) where origins[index] == nil {
            if !isTaken[index], fits(old[index], new[index]) { take(index, for: index) }
        }
    }

    /// In the order of the old list. Of many with one key each is passed over once when it is taken, so a long
    /// list takes no longer for it.
    private mutating func pair<Key: Hashable>(
        by key: (Contents) -> Key,
        where fits: (Contents, Contents) -> Bool
    ) {
        var places = Dictionary(grouping: old.indices.filter { !isTaken[$0] }) { key(old[$0]) }
            .mapValues { $0[...] }
        for index in new.indices where origins[index] == nil {
            let key = key(new[index])
            while let first = places[key]?.first, isTaken[first] { places[key]?.removeFirst() }
            let origin = places[key]?.first { !isTaken[$0] && fits(old[$0], new[index]) }
            if let origin { take(origin, for: index) }
        }
    }

    private mutating func take(_ origin: Int, for index: Int) {
        origins[index] = origin
        isTaken[origin] = true
    }
}

extension Contents {
    fileprivate var identity: String {
        shape.identity.flatMap { self[$0].text } ?? ""
    }

    /// The same for all that are the same, and hardly ever for others.
    fileprivate var likeness: Int {
        var hasher = Hasher()
        for (member, slot) in zip(shape.shown, slots) {
            switch member.kind {
            case .sealed, .text, .checksum, .key: hasher.combine(Array((slot.text ?? "").utf8))
            case .date: hasher.combine(slot.date)
            case .flag: hasher.combine(slot.bool ?? false)
            case .number(_, let null): hasher.combine(slot.int ?? null)
            case .texts, .kept, .mirror, .object, .list: break
            }
        }
        return hasher.finalize()
    }
}
