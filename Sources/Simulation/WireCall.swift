import HTTP
import Host
import JSON
import System

/// One request on its way.
struct WireCall: Sendable, CustomStringConvertible {
    /// What the host is about, as far as the wire shows it.
    enum Kind: String, CaseIterable, Hashable, Sendable {
        case token, revision, list, compare, create, backup, push, trash, restore, delete
        case other
    }

    let method: HTTP.Method
    let path: String
    let headers: Headers
    let body: [UInt8]
    var kind: Kind
    /// It is not about the account of the story.
    var isLodgers = false
    let cipherID: String?
    /// How long the client waits for the answer.
    let limit: Duration
    let description: String
    /// When it left.
    let left: Duration

    init(_ request: Client.Request, _ history: History, at now: Duration) {
        left = now
        method = request.method
        path = request.path
        headers = request.headers
        body = request.content
        limit = request.deadlines?.total ?? .seconds(60)
        let route = path.prefix { $0 != "?" }
        let parts = route.split(separator: "/").map(String.init)
        let isCipher = parts.count > 2 && parts[1] == "ciphers"
        cipherID = isCipher ? parts[2] : nil
        kind = Self.kind(request.method, parts)
        let shown = parts.map { $0.utf8.count == 36 ? history.name($0) : $0 }
        description = "\(request.method) /\(shown.joined(separator: "/"))"
    }

    private static func kind(_ method: HTTP.Method, _ parts: [String]) -> Kind {
        switch (method, parts.first ?? "", parts.dropFirst().first ?? "", parts.last ?? "") {
        case (_, "identity", _, _): .token
        case (_, _, _, "revision-date"): .revision
        case (_, _, "sync", _): .list
        case (.get, _, "ciphers", _): .compare
        case (.post, _, "ciphers", _): .create
        case (.put, _, "ciphers", "delete"): .trash
        case (.put, _, "ciphers", "restore"): .restore
        case (.put, _, "ciphers", _): .push
        case (.delete, _, "ciphers", _): .delete
        default: .other
        }
    }

    var isWrite: Bool { kind.isWrite }

    /// Whether the oracle looks what it has changed.
    var isObserved: Bool { isWrite && !isLodgers }

    /// What the request says that it is based on.
    var knownRevision: String? {
        (try? JSON.Document(body))?.root["lastKnownRevisionDate"]?.string
    }
}

extension WireCall.Kind {
    var isWrite: Bool {
        switch self {
        case .create, .backup, .push, .trash, .restore, .delete: true
        case .token, .revision, .list, .compare, .other: false
        }
    }
}

extension Mishap {
    /// What the server says of one account's items is no matter of the other's.
    func concerns(_ call: WireCall) -> Bool {
        let isOnesOwn = [.stale, .partial, .cached, .interlude].contains(self)
        return concerns(call.kind) && !(call.isLodgers && isOnesOwn)
    }

    /// Whether it can happen to such a call.
    func concerns(_ kind: WireCall.Kind) -> Bool {
        switch self {
        case .stale, .partial, .cached: kind == .list
        // Nobody repeats what may make a second item.
        case .twice: kind == .push || kind == .delete || kind == .trash
        case .interlude: [.push, .delete, .compare, .restore].contains(kind)
        case .invalid, .conflict, .tooLarge, .serverErrorAfter, .commitLate: kind.isWrite
        case .forbidden: kind.isWrite || kind == .compare
        case .missing: kind.isWrite || kind == .compare
        case .unauthorised: kind != .token
        default: true
        }
    }
}

/// What syncs were answered with before.
final class SyncCache: Sendable {
    private struct State {
        var answers: [NetworkAnswer] = []
        var thinned: [UInt8]?
        var kept: NetworkAnswer?
    }

    private let state = Lock(State())

    func keep(_ answer: NetworkAnswer) {
        state.withLock { state in
            state.answers.removeAll { $0.body == answer.body }
            state.answers.append(answer)
            if state.answers.count > 6 { state.answers.removeFirst() }
        }
    }

    /// One that is out of date; never the same twice, for then it would be the truth.
    func old(_ dice: Dice) -> NetworkAnswer? {
        state.withLock { state in
            let choices = Array(state.answers.indices.dropLast())
            guard !choices.isEmpty else { return nil }
            return state.answers.remove(at: dice.pick(choices))
        }
    }

    /// One that was kept by somebody on the way, who gives the same to whoever asks.
    func cached(_ dice: Dice) -> NetworkAnswer? {
        state.withLock { state in
            let choices = Array(state.answers.dropLast())
            if state.kept == nil, !choices.isEmpty { state.kept = dice.pick(choices) }
            return state.kept
        }
    }

    /// Another key comes with another stamp, and a list that has the former one is not taken over.
    func forget() { state.withLock { ($0.answers, $0.kept) = ([], nil) } }

    /// Whether that is another part of the truth than the one that was told last.
    func isNews(_ thinned: NetworkAnswer) -> Bool {
        state.withLock { state in
            defer { state.thinned = thinned.body }
            return state.thinned != thinned.body
        }
    }
}

extension Line {
    /// The same sync without some of its items.
    static func thinned(_ answer: NetworkAnswer, _ dice: Dice) -> NetworkAnswer {
        guard let document = try? JSON.Document(answer.body),
            let ciphers = document.root["ciphers"]?.array
        else { return answer }
        let share = dice.pick([0, 5, 30, 70])
        let kept = JSON.Raw.array { array in
            for cipher in ciphers where dice.happens(share) { array.add(cipher) }
        }
        var edit = JSON.Edit(document)
        guard (try? edit.set([.member("ciphers")], to: kept)) != nil else { return answer }
        var thinned = answer
        thinned.body = edit.bytes
        return thinned
    }
}
