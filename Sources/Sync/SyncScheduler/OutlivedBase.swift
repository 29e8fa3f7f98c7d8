internal import Crypto
internal import JSON
internal import Logging
internal import Vault

extension SyncScheduler {
    /// Fetches what upstream holds before anything is sent, if base is under a key that the account had before. Nothing
    /// of it can be read until then, and what is pending may wait for long.
    func renewOutlivedBase(_ urgency: Urgency) async throws(Finding) {
        guard canResolve, let live = try? reader.liveCount(of: userID), live > 0, isBaseOutlived
        else { return }
        do throws(Finding) {
            _ = try await refresh(isFull: true, urgency, leaving: Leftovers(live: live))
        } catch {
            switch error.setback?.reason {
            case .unauthorised, .signedOut, .throttled, .unreachable, .cancelled: throw error
            // What is pending may be taken all the same.
            case .rejected, .stale, .missing, .unavailable, .foreign, .malformed, nil:
                surroundings.log.warning(
                    "What is under the account's former key could not be fetched anew.",
                    ["account": userID, "reason": error.reason]
                )
            }
        }
    }

    private var isBaseOutlived: Bool {
        guard let keys = keys.keys, let slices = try? reader.slices(of: userID, .profile) else {
            return false
        }
        return slices.contains { keys.outlives($0) }
    }
}

extension KeyRing {
    /// Whether the account has got another key since upstream showed this profile: the private key in it is always
    /// under the account's own. Where none has been opened, that says nothing.
    fileprivate func outlives(_ profile: BaseSlice) -> Bool {
        guard publicKey != nil, !profile.isDamaged,
            let json = (try? JSON.Document(profile.json))?.root,
            let wrapped = json[anyCase: "privateKey"]?.string
        else { return false }
        do throws(CryptoError) {
            _ = try user.openSecret(wrapped)
            return false
        } catch {
            return error == .notAuthentic
        }
    }
}
