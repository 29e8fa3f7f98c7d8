import Crypto
import HTTP
import Host
import JSON
import System
import Vault

/// Somebody else, who has an account at the same host and nothing to do with the first.
///
/// Only this host edits it. So what it holds in the end follows from what was accepted, whatever became
/// of the other account, and the two never have anything in common but the house.
final class Lodger: Sendable {
    let userID: String
    let ring: KeyRing
    let dice: Dice
    /// At the server, where nothing goes wrong.
    private let eye: UpstreamAccount
    private let state = Lock(State())

    private struct State {
        /// The words of each field of each item, in their order.
        var edits: [String: [Word]] = [:]
        var words: Set<String> = []
        var origins: Set<String> = []
        var ids: Set<String> = []
        var busy: Set<String> = []
        var underWay = 0
        var count = 0
        /// Whose token that is.
        var subjects: [String: String] = [:]
    }

    private struct Word {
        let text: String
        var fate = Knowledge.Word.Fate.begun
    }

    static let email = "bob@example.com"
    private static let mark = "r~"

    init(_ eye: UpstreamAccount, userID: String, ring: KeyRing, dice: Dice) {
        (self.eye, self.userID, self.ring, self.dice) = (eye, userID, ring, dice)
    }

    // MARK: What is written

    /// - Returns: Nil if somebody is at that item already.
    func begin(_ origin: String?) -> String? {
        state.withLock { state in
            var name = origin
            if name == nil {
                state.count += 1
                name = "\(Self.mark)\(state.count)"
            }
            guard let name, state.busy.insert(name).inserted else { return nil }
            state.origins.insert(name)
            state.underWay += 1
            return name
        }
    }

    func end(_ origin: String) {
        state.withLock { state in
            state.busy.remove(origin)
            state.underWay -= 1
        }
    }

    var isBusy: Bool { state.withLock { $0.underWay > 0 } }

    func newWord(_ field: PlainField, of origin: String) -> String {
        state.withLock { state in
            state.count += 1
            let text = "\(Self.mark)\(state.count)~\(field.rawValue.prefix(2))"
            state.words.insert(text)
            state.edits[Self.key(origin, field), default: []].append(Word(text: text))
            return text
        }
    }

    private static func key(_ origin: String, _ field: PlainField) -> String {
        "\(origin) \(field.rawValue)"
    }

    func conclude(
        _ text: String,
        _ field: PlainField,
        of origin: String,
        _ fate: Knowledge.Word.Fate
    ) {
        state.withLock { state in
            let key = Self.key(origin, field)
            guard let place = state.edits[key]?.firstIndex(where: { $0.text == text }) else {
                return
            }
            state.edits[key]?[place].fate = fate
        }
    }

    var words: Set<String> { state.withLock(\.words) }

    // MARK: What is whose

    func isOwn(_ item: PlainItem) -> Bool {
        let (origins, words) = state.withLock { ($0.origins, $0.words) }
        return item.origin.map(origins.contains) ?? false && item.words.allSatisfy(words.contains)
    }

    func hasPart(in item: PlainItem) -> Bool {
        ([item.origin ?? ""] + item.words).contains { $0.hasPrefix(Self.mark) }
    }

    /// Whether a request is sent in the lodger's name.
    func hasSent(_ call: WireCall, _ renewal: Tokens.Renewal) -> Bool {
        if call.kind == .token {
            guard case .refresh(let token, _) = renewal else { return false }
            return String(decoding: call.body, as: UTF8.self).contains(token)
        }
        guard let token = call.headers["Authorization"] else { return false }
        return state.withLock { state in
            if let subject = state.subjects[token] { return subject == userID }
            let subject = Self.subject(of: token)
            state.subjects[token] = subject
            return subject == userID
        }
    }

    /// As the middle part of the token says.
    private static func subject(of token: String) -> String {
        let parts = token.split(separator: ".")
        guard parts.count == 3 else { return "" }
        var text = String(parts[1]).replacing("-", with: "+").replacing("_", with: "/")
        text += String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
        guard let bytes = try? Base64.bytes(of: text) else { return "" }
        return (try? JSON.Document(bytes))?.root["sub"]?.string ?? ""
    }

    /// What is wrong with a request: it concerns an item of the other's, or brings what is under the
    /// other's key.
    func flaw(
        of call: WireCall,
        isOwn: Bool,
        others: (ids: Set<String>, rings: [KeyRing])
    ) -> String? {
        if let id = call.cipherID {
            let isForeign = isOwn ? others.ids.contains(id) : state.withLock { $0.ids.contains(id) }
            if isForeign { return "\(call) is sent with the token of another account" }
        }
        guard let json = (try? JSON.Document(call.body))?.root, let name = json["name"]?.string
        else { return nil }
        var item = PlainItem(id: "", revision: "")
        item.key = json["key"]?.string
        let isReadable = (isOwn ? others.rings : [ring]).contains { ring in
            (try? item.sealer(under: ring.user)?.open(name)) != nil
        }
        return isReadable ? "\(call) brings what is under the key of another account" : nil
    }

    // MARK: What is there

    func look() async throws -> [PlainItem] {
        try await eye.asking { $0.isForced = true }.ciphers().compactMap {
            PlainItem.read($0.document.root, rings: [ring])
        }
    }

    /// What is shown is the lodger's, and so are requests about it.
    func see(_ items: [PlainItem]) {
        state.withLock { $0.ids.formUnion(items.map(\.id)) }
    }

    /// What was accepted last is there, or what was written after it: upstream may have that although it
    /// was refused, because the request came twice.
    ///
    /// - Parameter hasOddStamps: Upstream cannot tell then what is older, and lets a late request undo
    ///   what came after it.
    func judge(_ items: [PlainItem], hasOddStamps: Bool) -> [Breach] {
        let there = Set(items.flatMap(\.words))
        let edits = state.withLock(\.edits)
        let foreign = items.filter { !isOwn($0) || !$0.flaws.isEmpty }.map {
            Breach(
                .accountsApart,
                "the lodger has an item that nobody there wrote: \($0.words) \($0.flaws)"
            )
        }
        if hasOddStamps { return foreign }
        let lost = edits.keys.sorted().compactMap { key -> Breach? in
            let words = edits[key] ?? []
            guard let last = words.lastIndex(where: { $0.fate == .saved || $0.fate == .queued })
            else { return nil }
            if words[last...].contains(where: { there.contains($0.text) }) { return nil }
            return Breach(
                .nothingLost,
                "\(words[last].text) of the lodger was accepted and is nowhere"
            )
        }
        return foreign + lost
    }
}
