import Host
import JSON
import System

/// Something that must never be, and was.
public struct Breach: Error, Hashable, Sendable, CustomStringConvertible {
    public let invariant: Invariant
    public let text: String

    init(_ invariant: Invariant, _ text: String) {
        self.invariant = invariant
        self.text = text
    }

    public var description: String { "\(invariant.rawValue): \(text)" }
}

/// Knows what everybody has written, sees what upstream and the hosts hold, and says what is wrong
/// with it. It shares nothing with the product.
final class Oracle: Sendable {
    let knowledge: Lock<Knowledge>
    private let history: History

    init(_ knowledge: Knowledge, _ history: History) {
        self.knowledge = Lock(knowledge)
        self.history = history
    }

    var breach: Breach? { knowledge.withLock { $0.breaches.first } }

    @discardableResult
    func with<Value: Sendable>(_ body: @Sendable (inout Knowledge) -> Value) -> Value {
        knowledge.withLock { body(&$0) }
    }

    func say(_ invariant: Invariant, _ text: String) {
        let isNews = knowledge.withLock { knowledge in
            knowledge.breaches.append(Breach(invariant, text))
            return knowledge.breaches.count == 1
        }
        if isNews { history.note("BREACH \(invariant.rawValue): \(text)") }
    }

    private func watch(_ body: (inout Knowledge) -> Void) {
        let found = knowledge.withLock { knowledge -> Breach? in
            let before = knowledge.breaches.count
            body(&knowledge)
            return before == 0 ? knowledge.breaches.first : nil
        }
        if let found { history.note("BREACH \(found)") }
    }

    /// What upstream holds after a request of that host's was carried out.
    func observe(
        _ items: [String: PlainItem],
        after call: WireCall,
        by host: Int,
        isLate: Bool
    ) {
        let author = Knowledge.Author.host(
            host,
            call.kind,
            known: call.knownRevision,
            left: call.left,
            isLate: isLate
        )
        watch { $0.observe(items, by: author) }
    }

    /// What upstream holds after somebody else has done something.
    func observe(_ items: [String: PlainItem], by author: Knowledge.Author) {
        watch { $0.observe(items, by: author) }
    }

    /// The request leaves.
    func asked(_ call: WireCall, by host: Int, at now: Duration) {
        watch { knowledge in
            knowledge.noteRequest(isIdentity: call.kind == .token, "\(call)", by: host, at: now)
        }
    }

    /// Nobody knows what becomes of what was sent.
    func doubt(at host: Int, about id: String? = nil) {
        with { knowledge in
            knowledge.doubts[host, default: 0] += 1
            guard let id, let origin = knowledge.upstream[id]?.origin else { return }
            knowledge.origins[origin]?.isInDoubt = true
        }
    }

    func throttled(_ call: WireCall, of host: Int, for wait: Duration, at now: Duration) {
        let isIdentity = call.kind == .token
        with { knowledge in
            let hold = max(knowledge.holds[host]?[isIdentity] ?? .zero, now + wait)
            knowledge.holds[host, default: [:]][isIdentity] = hold
            knowledge.latestHold = max(knowledge.latestHold, now + wait)
        }
    }

    /// What upstream said has reached that host; others may have changed it since.
    func delivered(
        _ call: WireCall,
        _ answer: NetworkAnswer,
        of items: [String: PlainItem],
        to host: Int,
        at now: Duration
    ) {
        switch call.kind {
        case .list: with { $0.deliver(nil, of: items, to: host, at: now) }
        case .compare, .push, .restore:
            with { [id = call.cipherID] in $0.deliver(id, of: items, to: host, at: now) }
        case .create, .backup:
            let id = (try? JSON.Document(answer.body))?.root["id"]?.string
            with { $0.deliver(id ?? "", of: items, to: host, at: now) }
        case .token, .revision, .trash, .delete, .other: break
        }
    }

    func look(
        at shown: [PlainItem],
        _ occasion: String,
        by host: Int,
        isWhole: Bool,
        told: Set<String>
    ) {
        watch { $0.look(at: shown, occasion, by: host, isWhole: isWhole, told: told) }
    }

    func look(atBase base: [String: Knowledge.Stamp], of host: Int, isReading: Bool) {
        watch { $0.look(atBase: base, of: host, isReading: isReading) }
    }

    /// The newest item upstream is here, too.
    func lookForNews(_ shown: [PlainItem]) {
        watch { knowledge in
            guard !knowledge.hasLied, !knowledge.hasOddStamps,
                let news = Array(knowledge.upstream.values).pick(Deed.newest)
            else { return }
            if !shown.contains(where: { $0.origin == news.origin }) {
                knowledge.breach(
                    .poisonContained,
                    "\(news.origin ?? "") is not here, because another item is refused upstream"
                )
            }
        }
    }

    /// Something that was shown was not there for whoever edited it.
    func missed(_ origin: String) { watch { $0.miss(origin) } }

    func judge(shown: [[PlainItem]]) { watch { $0.judge(shown: shown) } }
}
