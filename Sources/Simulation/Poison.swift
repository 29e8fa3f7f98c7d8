/// An item to which nothing can be written, whatever it is.
struct Poison: Sendable {
    let id: String
    let mishap: Mishap

    /// - Parameter place: Decides what it is that happens.
    init(_ id: String, _ place: Int) {
        let mishaps: [Mishap] = [.invalid, .portal, .badGateway]
        self.id = id
        mishap = mishaps[Int(place.magnitude % UInt(mishaps.count))]
    }

    /// Whether upstream itself says no; else something on the way swallows it.
    var isRefusal: Bool { mishap == .invalid }
}
