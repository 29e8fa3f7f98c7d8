/// Which element of the old list each element of the new one continues, so that what did not change
/// keeps its bytes and what nobody here knows about stays with its element.
enum Pairing {
    /// The places in the old list, by position in the new one; nil for an element that is new.
    ///
    /// First whoever is the same and in the same place is found, then whoever is the same elsewhere,
    /// then whoever is known by the same name, and last whoever stands in the same place.
    static func origins(of new: [Contents], in old: [Contents]) -> [Int?] {
        var origins = [Int?](repeating: nil, count: new.count)
        var isTaken = [Bool](repeating: false, count: old.count)
        let places = Dictionary(grouping: old.indices) { old[$0].identity }

        func pair(
            _ candidates: (Int) -> [Int],
            where fits: (Contents, Contents) -> Bool = { _, _ in true }
        ) {
            for index in new.indices where origins[index] == nil {
                let origin = candidates(index).first { candidate in
                    old.indices.contains(candidate) && !isTaken[candidate]
                        && fits(old[candidate], new[index])
                }
                guard let origin else { continue }
                origins[index] = origin
                isTaken[origin] = true
            }
        }

        let inPlace = { (index: Int) in [index] }
        let byName = { (index: Int) in places[new[index].identity] ?? [] }
        pair(inPlace) { $0.isSame(as: $1) }
        pair(byName) { $0.isSame(as: $1) }
        pair(byName)
        pair(inPlace)
        return origins
    }
}

extension Contents {
    fileprivate var identity: String {
        shape.identity.flatMap { self[$0].text } ?? ""
    }
}
