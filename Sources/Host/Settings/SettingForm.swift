/// Reads settings one by one and writes down what is in force.
struct SettingForm {
    private(set) var lines: [HostSettings.Line] = []
    private let sources: SettingSources

    init(_ sources: SettingSources) { self.sources = sources }

    /// Writes down a setting that was read already.
    mutating func note(_ name: String) {
        let choice = sources[name]
        write(name, choice?.values.last ?? "none", choice)
    }

    mutating func word<Word: CaseIterable & RawRepresentable<String>>(
        _ name: String,
        _ standard: Word
    ) throws(SettingFlaw) -> Word {
        let words = Word.allCases.map(\.rawValue)
        let wish = words.dropLast().joined(separator: ", ") + " or " + (words.last ?? "")
        return try read(name, standard.rawValue, wish) { Word(rawValue: $0) }
    }

    mutating func number(
        _ name: String,
        _ standard: Int,
        _ range: ClosedRange<Int>
    ) throws(SettingFlaw) -> Int {
        let wish = "a whole number from \(range.lowerBound) to \(range.upperBound)"
        return try read(name, String(standard), wish) { text in
            Int(text).flatMap { range.contains($0) ? $0 : nil }
        }
    }

    mutating func toggle(_ name: String) throws(SettingFlaw) -> Bool {
        // A switch on the command line has no value.
        let isFlag = sources[name]?.origin == .flag
        return try read(name, "false", "true or false") { text in
            text.isEmpty ? (isFlag ? true : nil) : ["true": true, "false": false][text]
        }
    }

    mutating func path(_ name: String) throws(SettingFlaw) -> String? {
        guard let choice = sources[name] else {
            write(name, "none", nil)
            return nil
        }
        return try read(name, "", "the name of a file") { text in
            text.isEmpty || text.utf8.contains(0) || choice.values.count != 1 ? nil : text
        }
    }

    mutating func place(
        _ name: String,
        _ standard: String
    ) throws(SettingFlaw) -> ListenPlace {
        try read(name, standard, Self.placeWish) { ListenPlace($0) }
    }

    mutating func upstream() throws(SettingFlaw) -> String? {
        guard let choice = sources["upstream"], let text = choice.values.last else {
            write("upstream", "none", nil)
            return nil
        }
        do {
            _ = try Bases(text)
        } catch {
            throw SettingFlaw("\(choice.place): \(error)")
        }
        write("upstream", text, choice)
        return text
    }

    mutating func state(_ environment: [String: String]) throws(SettingFlaw) -> String {
        let standard = HostSettings.standardState(environment)
        if standard == nil, sources["state"] == nil {
            throw SettingFlaw(
                "There is no home directory. Say where to keep the state: --state DIR."
            )
        }
        return try read("state", standard ?? "", "the name of a directory") {
            $0.isEmpty || $0.utf8.contains(0) ? nil : $0
        }
    }

    private static let placeWish = "HOST:PORT, unix:PATH, fd+listening://N or fd+connected://N"

    private mutating func read<Value>(
        _ name: String,
        _ standard: String,
        _ wish: String,
        _ convert: (String) -> Value?
    ) throws(SettingFlaw) -> Value {
        let choice = sources[name]
        let text = choice?.values.last ?? standard
        guard let value = convert(text) else {
            throw SettingFlaw("\(choice?.place ?? "--\(name)") wants \(wish), not '\(text)'.")
        }
        write(name, text.isEmpty ? "true" : text, choice)
        return value
    }

    private mutating func write(_ name: String, _ value: String, _ choice: Choice?) {
        lines.append(.init(name: name, value: value, origin: choice?.origin ?? .standard))
    }
}

extension SettingForm {
    /// `--hostname` and `--port` of `bw serve` stand for a `--listen`. The socket in the state
    /// directory is where the client commands look for the host, so it is there unless the operator
    /// names another.
    mutating func listen(_ state: String) throws(SettingFlaw) -> [ListenPlace] {
        let socket = ListenPlace.unix(path: "\(state)/holdfast.sock")
        let parts = [sources["hostname"], sources["port"]].compactMap { $0 }
        let given = sources["listen"]
        guard let part = parts.min(by: { $0.origin < $1.origin }) else {
            return try listed(given, socket)
        }
        if let given, given.origin < part.origin { return try listed(given, socket) }
        if let given, given.origin == part.origin {
            throw SettingFlaw("\(part.place) and \(given.place) say the same thing twice.")
        }
        let places = [try drawnUp()].with(socket)
        write("listen", text(of: places), part)
        return places
    }

    private mutating func listed(
        _ choice: Choice?,
        _ socket: ListenPlace
    ) throws(SettingFlaw) -> [ListenPlace] {
        guard let choice else {
            let places = [.tcp(host: "127.0.0.1", port: 8087), socket]
            write("listen", text(of: places), nil)
            return places
        }
        var places: [ListenPlace] = []
        for text in choice.values {
            guard let place = ListenPlace(text) else {
                throw SettingFlaw("\(choice.place) wants \(Self.placeWish), not '\(text)'.")
            }
            if places.contains(place), place.isNumbered {
                throw SettingFlaw("\(choice.place) has \(place) twice.")
            }
            places.append(place)
        }
        guard !places.isEmpty else { throw SettingFlaw("\(choice.place) names no address.") }
        places = places.with(socket)
        write("listen", text(of: places), choice)
        return places
    }

    private func drawnUp() throws(SettingFlaw) -> ListenPlace {
        let port = sources["port"]
        let number = port?.values.last ?? "8087"
        guard let number = Int(number), (0...65_535).contains(number) else {
            let place = port?.place ?? "--port"
            throw SettingFlaw("\(place) wants a number from 0 to 65535, not '\(number)'.")
        }
        let host = sources["hostname"]
        let name = host?.values.last ?? "localhost"
        guard let place = ListenPlace(hostname: name, port: number) else {
            throw SettingFlaw("\(host?.place ?? "--hostname") wants a host, not '\(name)'.")
        }
        return place
    }

    private func text(of places: [ListenPlace]) -> String {
        places.map(\.description).joined(separator: ", ")
    }
}

extension ListenPlace {
    /// Whether it can be there only once: a port that is picked can be picked again.
    fileprivate var isNumbered: Bool {
        if case .tcp(_, 0) = self { false } else { true }
    }
}

extension [ListenPlace] {
    fileprivate func with(_ socket: ListenPlace) -> Self {
        contains { if case .unix = $0 { true } else { false } } ? self : self + [socket]
    }
}
