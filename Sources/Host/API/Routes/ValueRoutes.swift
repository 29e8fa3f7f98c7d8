import Crypto
import HTTP
import JSON
import System
import Vault
import Sync

/// One value of an item as plain text, for those who want no more than that.
extension VaultAPI {
    static let valueRoutes: [Route] = ItemValue.allCases.map { value in
        .vault(
            .get,
            "/object/\(value.rawValue)/{id}",
            Description(value.summary, answer: .string)
        ) { call, desk in
            let item = try await desk.findItem(call.id, having: value)
            let text = try value.text(of: item)
            if value == .totp { try await desk.requirePremium(for: item) }
            return .string(try await value.answer(text, call))
        }
    }
}

enum ItemValue: String, CaseIterable {
    case username, password, uri, totp, notes, exposed

    fileprivate var summary: String {
        switch self {
        case .username: "A login's user name."
        case .password: "A login's password."
        case .uri: "A login's first address."
        case .totp: "The one-time password of the moment."
        case .notes: "An item's notes."
        case .exposed: "How often a login's password was found among leaked ones."
        }
    }

    /// What the item has of it; nil for nothing, and for what is blank.
    func text(in item: Item) -> String? {
        let text =
            switch self {
            case .username: item.login?.username
            case .password, .exposed: item.login?.password
            case .uri: item.login?.uris.first?.uri
            case .totp: item.login?.totp
            case .notes: item.notes
            }
        return text?.allSatisfy(\.isWhitespace) == false ? text : nil
    }

    /// The same, or the refusal that says what is missing. What cannot be decrypted is not called
    /// missing.
    fileprivate func text(of item: Item) throws -> String {
        if let text = text(in: item) { return text }
        if let flaw = item.flaws.first(where: concerns) {
            throw DeskRefusal.notAllowed(flaw.description)
        }
        guard self == .notes || item.type == .login else {
            throw DeskRefusal.notAllowed("Not a login.")
        }
        throw DeskRefusal.notAllowed("No \(noun) available for this \(owner).")
    }

    private var noun: String {
        switch self {
        case .totp: "TOTP"
        case .exposed: "password"
        case .username, .password, .uri, .notes: rawValue
        }
    }

    private var owner: String { self == .notes ? "item" : "login" }

    /// Whether the flaw can be the reason why there is no such value.
    private func concerns(_ flaw: Flaw) -> Bool {
        flaw.isOfTheWhole || flaw.path.steps.isEmpty || flaw.path == path.prefix(flaw.path)
            || flaw.path.prefix(path) == path
    }

    private var path: JSON.Path {
        switch self {
        case .username, .password, .totp: ["login", .member(rawValue)]
        case .exposed: ["login", "password"]
        case .uri: ["login", "uris", 0]
        case .notes: ["notes"]
        }
    }

    /// What is answered about that text.
    fileprivate func answer(_ text: String, _ call: VaultAPI.Call) async throws -> String {
        switch self {
        case .totp: return try Self.code(of: text, at: Moment(call.api.timekeeper.now))
        case .exposed:
            do throws(BreachesUnknown) {
                return String(try await call.api.breaches.count(of: text))
            } catch {
                throw DeskRefusal.notAllowed(error.description)
            }
        case .username, .password, .uri, .notes: return text
        }
    }
}

extension ItemValue {
    private static func code(of key: String, at moment: Moment) throws -> String {
        do throws(CryptoError) {
            return try OneTimePassword(key).code(atSeconds: moment.ticks / Moment.ticksPerSecond)
        } catch {
            throw DeskRefusal.notAllowed("Couldn't generate TOTP code.")
        }
    }
}

extension AccountDesk {
    /// By id; or by a search among those that have such a value, so that a name which two items
    /// share is clear enough if one of them has it.
    fileprivate func findItem(_ text: String, having value: ItemValue) async throws -> Item {
        if text.isIdentifier { return try await knownItem(text) }
        let candidates = try await items().filter {
            !$0.item.cipher.isInTrash && value.text(in: $0.item) != nil
        }
        return try candidates.one(by: text).item
    }

    /// Some things are for accounts that are paid for, and for what belongs to an organization that
    /// is.
    func requirePremium(for item: Item) async throws {
        if item.cipher.organizationID != nil { return }
        guard try await outline.isPremium else { throw DeskRefusal.premium }
    }
}

extension JSON.Path {
    /// As much of it as the other is long.
    fileprivate func prefix(_ other: JSON.Path) -> JSON.Path {
        JSON.Path(Array(steps.prefix(other.steps.count)))
    }
}
