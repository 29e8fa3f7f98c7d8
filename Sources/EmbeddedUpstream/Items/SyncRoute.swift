import Bitwarden
import HTTP
import JSON

extension Routes {
    mutating func addSync() {
        on(.get, "/api/sync", .sync) { call, world throws(Refusal) in
            Reply(json: world.sync(call))
        }
        on(.get, "/api/accounts/revision-date", .revisionDate) { call, world throws(Refusal) in
            // An account that is not there any more was last changed at the beginning of all time.
            let milliseconds = world.accounts[call.userID]?.revised.milliseconds
            return Reply(json: JSON.Raw(milliseconds ?? -62_135_596_800_000))
        }
        on(.get, "/api/accounts/profile", .profile) { call, world throws(Refusal) in
            Reply(json: .object { world.writeProfile(call.userID, to: &$0) })
        }
        for method in [Method.put, .post] {
            on(method, "/api/accounts/profile", .profile) { call, world throws(Refusal) in
                let json = try call.json()
                world.accounts[call.userID]?.name = json[anyCase: "name"]?.string
                world.touch(call.userID, call)
                return Reply(json: .object { world.writeProfile(call.userID, to: &$0) })
            }
        }
    }
}

extension World {
    fileprivate func sync(_ call: Call) -> JSON.Raw {
        let ciphers = visibleCiphers(of: call.userID).filter { shows($0, to: call) }
        let leavesDomainsOut = call.target.query["excludeDomains"]?.lowercased() == "true"
        return .object(capacity: ciphers.count * 2_048 + 8_192) { object in
            object.add("object", "sync")
            object.object("profile") { writeProfile(call.userID, to: &$0) }
            object.add("folders", folders(of: call.userID))
            object.add("collections", collections(of: call.userID))
            object.array("ciphers") { list in
                for cipher in ciphers {
                    list.add(render(cipher, for: call.userID, .details, origin: call.origin))
                }
            }
            object.add("domains", leavesDomainsOut ? JSON.Raw.null : EquivalentDomains.raw)
            object.array("policies") { _ in }
            object.add("sends", sends(of: call.userID))
            object.object("userDecryption") { options in
                options.object("masterPasswordUnlock") {
                    accounts[call.userID]?.unlock.write(
                        to: &$0,
                        .camel,
                        isRepeated: personality.repeatsWrappedKey
                    )
                }
            }
        }
    }

    /// Clients that are too old for a type are not shown its items.
    private func shows(_ cipher: StoredCipher, to call: Call) -> Bool {
        let version = ClientVersion(call.headers["Bitwarden-Client-Version"])
        switch cipher.type {
        case 5:
            guard let version else { return personality.wantsVersionHeader }
            return version >= ClientVersion(year: 2024, month: 12, patch: 0)
        case 6...8:
            let isOn = featureStates["pm-32009-new-item-types"]?.bool ?? false
            return isOn
                && (version.map { $0 >= ClientVersion(year: 2026, month: 2, patch: 0) } ?? false)
        default: return true
        }
    }

    func writeProfile(_ userID: String, to object: inout JSON.ObjectWriter) {
        guard let account = accounts[userID] else { return }
        if personality.repeatsWrappedKey { object.add("_status", 0) }
        object.add("id", account.id)
        object.add("name", account.shownName)
        object.add("email", account.email)
        object.add("emailVerified", true)
        object.add("premium", true)
        object.add("premiumFromOrganization", false)
        object.add("culture", "en-US")
        object.add("twoFactorEnabled", account.authenticatorKey != nil)
        object.add("key", account.wrappedUserKey)
        object.add("privateKey", account.keys.wrappedPrivateKey)
        object.object("accountKeys") { account.keys.write(to: &$0, .camel) }
        object.add("securityStamp", account.securityStamp)
        object.add("forcePasswordReset", false)
        object.add("usesKeyConnector", false)
        object.add("avatarColor", String?.none)
        object.add("creationDate", personality.stamp(account.created))
        object.add("verifyDevices", true)
        object.array("organizations") { list in
            for id in account.organizationIDs.sorted() {
                if let membership = membership(userID, in: id) { list.add(membership) }
            }
        }
        object.array("providers") { _ in }
        object.array("providerOrganizations") { _ in }
        object.add("object", "profile")
    }
}

/// Three numbers, as a client says them.
struct ClientVersion: Comparable {
    let year: Int
    let month: Int
    let patch: Int

    init(year: Int, month: Int, patch: Int) {
        (self.year, self.month, self.patch) = (year, month, patch)
    }

    init?(_ text: String?) {
        let numbers = (text ?? "").split(separator: ".").map { Int($0) }
        guard numbers.count == 3, let year = numbers[0], let month = numbers[1],
            let patch = numbers[2]
        else { return nil }
        self.init(year: year, month: month, patch: patch)
    }

    static func < (one: Self, other: Self) -> Bool {
        (one.year, one.month, one.patch) < (other.year, other.month, other.patch)
    }
}

/// Domains that belong together. What is there by default is of no use to anybody here but as a
/// shape.
enum EquivalentDomains {
    static let raw = JSON.Raw.object { object in
        object.array("equivalentDomains") { _ in }
        object.array("globalEquivalentDomains") { list in
            list.object {
                $0.add("type", 0)
                $0.add("domains", ["youtube.com", "google.com", "gmail.com"])
                $0.add("excluded", false)
            }
            list.object {
                $0.add("type", 1)
                $0.add("domains", ["apple.com", "icloud.com"])
                $0.add("excluded", false)
            }
        }
        object.add("object", "domains")
    }
}
