public import Bitwarden
import HTTP
import JSON
public import Vault

// The account as a whole.

/// The number by which upstream tells that anything of an account has changed.
///
/// Only whether it is the same number says something: it can go back when a server is restored.
public enum AccountRevision: Hashable, Sendable {
    case number(Int64)
    /// Upstream has none to tell.
    case unknown

    public init(_ number: Int64?) { self = number.map { .number($0) } ?? .unknown }

    public var number: Int64? {
        if case .number(let number) = self { number } else { nil }
    }
}

/// All of an account as upstream says it is.
public struct SyncFetched: Sendable {
    public let answer: SyncAnswer
    /// Asked for before the rest, if at all, so that a change in between is not missed.
    public let revision: AccountRevision
    /// What decides whether it is believed.
    public let picture: SyncPicture
}

extension UpstreamAccount {
    /// Cheap enough to be asked before every sync, to do without.
    public func revision() async throws(Setback) -> AccountRevision {
        let call = Call(.revisionDate, .get, "/accounts/revision-date")
        guard let number: Int = try await send(call).read(Int?.self, of: call) else {
            return .unknown
        }
        // A negative one is how Bitwarden says that the account is gone.
        guard number >= 0 else { throw Setback(.signedOut, operation: call.operation.words) }
        return .number(Int64(number))
    }

    /// Everything, and the revision that it has at least.
    public func sync() async throws(Setback) -> SyncFetched {
        try await sync(asOf: revision())
    }

    /// - Parameter revision: What was asked for just before, if it was.
    public func sync(asOf revision: AccountRevision) async throws(Setback) -> SyncFetched {
        let call = Call(.sync, .get, "/sync?excludeDomains=true").large
        let answer = try await send(call)
        return try await Self.read(answer, revision, call)
    }

    /// Large vaults take a while to read, so it is not done where the caller is at home.
    @concurrent
    private static func read(
        _ answer: NetworkAnswer,
        _ revision: AccountRevision,
        _ call: Call
    ) async throws(Setback) -> SyncFetched {
        do throws(NotASync) {
            let sync = try SyncAnswer(answer.body)
            return SyncFetched(
                answer: sync,
                revision: revision,
                picture: SyncPicture(sync, revision)
            )
        } catch {
            throw call.malformed("\(error)")
        }
    }

    public func profile() async throws(Setback) -> Profile {
        let call = Call(.profile, .get, "/accounts/profile")
        return try await send(call).read(of: call)
    }

    /// Anybody's whom upstream knows.
    func publicKey(of userID: String) async throws(Setback) -> [UInt8] {
        let call = Call(.publicKey, .get, "/users/\(segment: userID)/public-key", about: .user)
        return try await send(call).read(PublicKeyAnswer.self, of: call).publicKey
    }

    /// Which domains have one login, in upstream's own text.
    func domains() async throws(Setback) -> [UInt8] {
        let call = Call(.domains, .get, "/settings/domains")
        let answer = try await send(call)
        guard let document = try? JSON.Document(answer.body), document.root.kind == .object else {
            throw call.malformed("no list of domains")
        }
        return answer.body
    }
}

extension SyncPicture {
    /// What has no id in the list is nobody's; see ``Fetched/isWhole``. A list of nothing else is none.
    public init(_ sync: SyncAnswer, _ revision: AccountRevision) {
        var ciphers: [String: Moment?] = [:]
        ciphers.reserveCapacity(sync.ciphers.count)
        for cipher in sync.ciphers {
            guard let id = cipher["id"]?.string else { continue }
            let revision = cipher["revisionDate"]?.string.flatMap { Revision($0) }
            ciphers.updateValue(revision?.moment, forKey: id)
        }
        self.init(
            profileID: sync.profile.id,
            ciphers: ciphers.isEmpty && sync.ciphers.count > 0 ? nil : ciphers,
            accountRevision: revision.number
        )
    }
}
