public import JSON

/// A fault as it is ordered over HTTP:
///
/// ```json
/// {"operation": "createCipher", "account": "a@example.com", "first": 2, "times": 1,
///  "probability": 0.5, "effect": {"kind": "commitLate", "seconds": 3}}
/// ```
extension Fault: JSON.Readable {
    public init(json: JSON.Value) throws(JSON.Mismatch) {
        let effect: Effect = try json.read("effect")
        var operation: Operation?
        if let name = try json.read("operation", as: String?.self) {
            guard let known = Operation(rawValue: name) else {
                throw JSON.Mismatch("must be the name of an operation", at: ["operation"])
            }
            operation = known
        }
        self.init(effect, on: operation)
        account = try json.read("account")
        first = try json.read("first", as: Int?.self) ?? 1
        times =
            json["times"].map(\.isNull) == true ? nil : try json.read("times", as: Int?.self) ?? 1
        probability = try json.read("probability", as: Double?.self) ?? 1
        guard first >= 1, times ?? 1 >= 1, (0...1).contains(probability) else {
            throw JSON.Mismatch("must be counted from 1, with a probability from 0 to 1")
        }
    }
}

extension Fault.Effect: JSON.Readable {
    public init(json: JSON.Value) throws(JSON.Mismatch) {
        let kind: String = try json.read("kind")
        if let effect = Self.simple[kind] {
            self = effect
        } else if let effect = try Self(kind, json) {
            self = effect
        } else {
            throw JSON.Mismatch("must be the name of an effect", at: ["kind"])
        }
        if try json.read("reset", as: Bool?.self) == true { self = .abruptly(self) }
    }

    private static let simple: [String: Self] = [
        "drop": .drop, "loseAnswer": .loseAnswer, "hang": .hang, "twice": .twice, "stale": .stale,
        "missing": .missing, "invalid": .invalid, "unauthorized": .unauthorized,
        "invalidGrant": .invalidGrant, "outdated": .outdated,
        "loseEvents": .loseEvents, "empty": .keepOnly(0),
        "captivePortal": .answer(.captivePortal, isCarriedOut: false),
        "ban": .answer(.ban, isCarriedOut: false),
        "badGateway": .answer(.badGateway, isCarriedOut: false),
        "forbidden": .answer(.forbidden, isCarriedOut: false),
        "conflict": .answer(.conflict, isCarriedOut: false),
        "tooLarge": .answer(.tooLarge, isCarriedOut: false),
    ]

    private init?(_ kind: String, _ json: JSON.Value) throws(JSON.Mismatch) {
        switch kind {
        case "commitLate": self = .commitLate(try Self.duration(json))
        case "goAway": self = .goAway(try Self.duration(json))
        case "delay": self = .delay(try Self.duration(json))
        case "delayAnswer": self = .delayAnswer(try Self.duration(json))
        case "overtaken": self = .overtaken(try Self.duration(json))
        case "tellEarly": self = .tellEarly(try Self.duration(json))
        case "stall":
            self = .stall(
                after: try json.number("bytes", within: Self.counts),
                try Self.duration(json)
            )
        case "truncate": self = .truncate(try json.number("bytes", within: Self.counts))
        case "wrongLength": self = .wrongLength(try json.number("bytes", within: Self.counts))
        case "bomb": self = .bomb(try json.number("bytes", within: Self.counts))
        case "partial": self = .keepOnly(try json.number("items", within: Self.counts))
        case "reshape": self = .reshape(try json.read("changes"))
        case "interlude": self = .interlude(try json.read("calls"))
        case "throttled":
            let wait = json["retryAfter"].flatMap { $0.string ?? $0.int.map(String.init) }
            self = .answer(.tooManyRequests(retryAfter: wait), isCarriedOut: false)
        case "status":
            let isCarriedOut = try json.read("carriedOut", as: Bool?.self) ?? false
            self = .answer(try Canned(json: json), isCarriedOut: isCarriedOut)
        default: return nil
        }
    }

    /// How many bytes or items. More would be this server's own end.
    private static let counts = 0...1 << 32

    private static func duration(_ json: JSON.Value) throws(JSON.Mismatch) -> Duration {
        let seconds: Double = try json.read("seconds")
        guard (0...86_400).contains(seconds) else {
            throw JSON.Mismatch("must be from 0 to 86400", at: ["seconds"])
        }
        return .milliseconds(Int(seconds * 1_000))
    }
}

extension JSON.Value {
    func number(
        _ name: String,
        within range: ClosedRange<Int>
    ) throws(JSON.Mismatch) -> Int {
        guard let number = try number(orNil: name, within: range) else {
            throw JSON.Mismatch("must be a whole number", at: [.member(name)])
        }
        return number
    }

    func number(
        orNil name: String,
        within range: ClosedRange<Int>
    ) throws(JSON.Mismatch) -> Int? {
        guard let number = try read(name, as: Int?.self) else { return nil }
        guard range.contains(number) else {
            let (least, most) = (range.lowerBound, range.upperBound)
            throw JSON.Mismatch("must be from \(least) to \(most)", at: [.member(name)])
        }
        return number
    }
}

extension Canned: JSON.Readable {
    /// Without a body, an API's own refusal is made up; `"html": "…"` is a page, `"json": …` a value.
    public init(json: JSON.Value) throws(JSON.Mismatch) {
        let status: Int = try json.read("status")
        guard (200...599).contains(status) else {
            throw JSON.Mismatch("must be from 200 to 599", at: ["status"])
        }
        if let page = try json.read("html", as: String?.self) {
            self = .html(status, page)
        } else if let body = json["json"] {
            self = .json(status, String(decoding: body.raw.bytes, as: UTF8.self))
        } else {
            self = .refusal(status, "An unhandled server error has occurred.")
        }
        for header in json["headers"]?.object.map(Array.init) ?? [] {
            headers.append((name: header.name.string, value: header.value.string ?? ""))
        }
    }
}

extension Reshaping: JSON.Readable {
    public init(json: JSON.Value) throws(JSON.Mismatch) {
        guard let steps = json["path"]?.array else {
            throw JSON.Mismatch("must be an array", at: ["path"])
        }
        path = JSON.Path(
            steps.compactMap { step in
                step.int.map(JSON.Step.element) ?? step.string.map(JSON.Step.member)
            }
        )
        if let value = json["set"] {
            change = .set(value.raw.copy)
        } else if let name = json["rename"]?.string {
            change = .rename(name)
        } else {
            change = .remove
        }
    }
}

extension ScriptedCall: JSON.Readable {
    public init(json: JSON.Value) throws(JSON.Mismatch) {
        method = try json.read("method")
        path = try json.read("path")
        body = json["body"].map { Array($0.raw.bytes) } ?? []
    }
}
