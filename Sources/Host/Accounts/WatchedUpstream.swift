import Bitwarden
import JSON
package import Messaging
package import Sync
import System
package import Vault

/// The upstream as the mesh asks for it: each call in the manner that its urgency wants, and each end
/// of one told to the network's monitor.
package struct WatchedUpstream: VaultUpstream {
    var account: UpstreamAccount
    let monitor: Address<NetworkMonitor.Message>
    /// Takes note of what a sync says of the account itself, and in the name of which sign-in.
    let learn: @Sendable (SyncAnswer, Int) async -> Void
    /// Whether the profile, asked for in the name of that sign-in, shows the account as it is known here; nil where
    /// nobody can tell.
    let recognise: (@Sendable (Profile, Int) async -> Bool)?
    private let recognition = Recognition()
    private let bell = AnswerBell()
    /// Takes note that upstream has ended the session of that sign-in.
    let signedOut: @Sendable (Int) async -> Void
    /// Keeps until when the server wants to be left alone.
    let keepHolds: @Sendable () async -> Void

    init(
        _ account: UpstreamAccount,
        _ link: ServerLink,
        learn: @escaping @Sendable (SyncAnswer, Int) async -> Void,
        recognise: @escaping @Sendable (Profile, Int) async -> Bool,
        signedOut: @escaping @Sendable (Int) async -> Void
    ) {
        self.account = account
        monitor = link.monitor.address
        self.learn = learn
        self.recognise = recognise
        self.signedOut = signedOut
        keepHolds = { await link.keepHolds() }
    }

    package init(
        _ account: UpstreamAccount,
        monitor: Address<NetworkMonitor.Message>,
        signedOut: @escaping @Sendable () async -> Void,
        keepHolds: @escaping @Sendable () async -> Void
    ) {
        self.account = account
        self.monitor = monitor
        learn = { _, _ in }
        recognise = nil
        self.signedOut = { _ in await signedOut() }
        self.keepHolds = keepHolds
    }

    package var leastClockOffset: Int64? { account.upstream.leastClockOffset }

    package var ofThisSession: any VaultUpstream {
        var other = self
        other.account = account.ofThisSession
        return other
    }

    /// - Parameter saysAway: Whether the server is away if the call comes to nothing. One that has hardly any time does
    ///   not say so, nor one to a store of files.
    func ask<Value: Sendable>(
        _ urgency: Urgency,
        saysAway: Bool = true,
        _ body: (UpstreamAccount) async throws(Setback) -> Value
    ) async throws(Setback) -> Value {
        let (wasSignedOut, signIn) = (account.session.isSignedOut, account.session.signIn)
        do throws(Setback) {
            let value = try await body(account.asking { $0.take(urgency) })
            tell(.answered)
            bell.ring()
            return value
        } catch {
            if let evidence = Evidence(error), saysAway || evidence != .unreachable {
                tell(evidence)
            }
            switch error.reason {
            case .signedOut:
                // Then upstream itself has just said so.
                if !wasSignedOut { tell(.answered) }
                if !mutated(.silentSignOut) { await signedOut(signIn) }
            case .throttled: await keepHolds()
            case .rejected, .stale, .missing, .unauthorised, .unavailable, .unreachable,
                .foreign, .malformed, .cancelled:
                break
            }
            throw error
        }
    }

    /// The session has ended, and no call has shown it.
    func noteSignOut() async {
        let signIn = account.session.signIn
        // Unless somebody has signed in since.
        if account.session.isSignedOut { await signedOut(signIn) }
    }

    /// A monitor that has too much to do has heard enough.
    private func tell(_ evidence: Evidence) { try? monitor.tryTell(.heard(evidence)) }

    package func cipher(_ id: String, _ urgency: Urgency) async throws(Setback) -> Cipher {
        try await ask(urgency) { account throws(Setback) in try await account.cipher(id) }
    }

    package func create(_ request: [UInt8], _ urgency: Urgency) async throws(Setback) -> Cipher {
        try await ask(urgency) { account throws(Setback) in try await account.create(request) }
    }

    package func create(
        _ request: [UInt8],
        in collectionIDs: [String],
        _ urgency: Urgency
    ) async throws(Setback) -> Cipher {
        try await ask(urgency) { account throws(Setback) in
            try await account.create(request, in: collectionIDs)
        }
    }

    package func update(
        _ id: String,
        _ request: [UInt8],
        _ urgency: Urgency
    ) async throws(Setback) -> Cipher {
        try await ask(urgency) { account throws(Setback) in
            try await account.update(id, request)
        }
    }

    package func adjust(
        _ id: String,
        folderID: String?,
        isFavourite: Bool,
        _ urgency: Urgency
    ) async throws(Setback) -> Cipher {
        try await ask(urgency) { account throws(Setback) in
            let request = PartialRequest(folderID: folderID, isFavorite: isFavourite)
            return try await account.update(id, request)
        }
    }

    package func trash(_ id: String, _ urgency: Urgency) async throws(Setback) {
        try await ask(urgency) { account throws(Setback) in try await account.trash(id) }
    }

    package func restore(_ id: String, _ urgency: Urgency) async throws(Setback) -> Cipher {
        try await ask(urgency) { account throws(Setback) in try await account.restore(id) }
    }

    package func delete(_ id: String, _ urgency: Urgency) async throws(Setback) {
        try await ask(urgency) { account throws(Setback) in try await account.delete(id) }
    }

    package func archive(_ id: String, _ urgency: Urgency) async throws(Setback) -> Cipher {
        try await ask(urgency) { account throws(Setback) in try await account.archive(id) }
    }

    package func unarchive(_ id: String, _ urgency: Urgency) async throws(Setback) -> Cipher {
        try await ask(urgency) { account throws(Setback) in try await account.unarchive(id) }
    }

    package func hasFolder(_ id: String, _ urgency: Urgency) async throws(Setback) -> Bool {
        try await ask(urgency) { account throws(Setback) in try await account.hasFolder(id) }
    }

    package func revision(_ urgency: Urgency) async throws(Setback) -> Int64? {
        try await ask(urgency) { account throws(Setback) in try await account.revision().number }
    }

    package func fetch(
        _ urgency: Urgency,
        asOf revision: Int64?
    ) async throws(Setback) -> Fetched {
        let (signIn, question) = (account.session.signIn, recognition.question(at: now))
        let fetched = try await ask(urgency) { account throws(Setback) in
            try await account.sync(asOf: AccountRevision(revision))
        }
        let isOurs = fetched.answer.profile.id == account.session.userID
        if isOurs { await learn(fetched.answer, signIn) }
        // Whoever has signed in meanwhile may have other keys, and is asked for anew.
        guard account.session.signIn == signIn else {
            throw Setback(.cancelled, operation: Operation.sync.words)
        }
        if isOurs {
            // It tells of other keys than are known, be they newer or of yesterday.
            guard !account.session.isSignedOut else {
                throw Setback(.signedOut, operation: Operation.sync.words)
            }
            recognition.confirm(question)
        }
        return await Fetched(fetched, of: account.session.userID)
    }

    package func requireSameAccount(_ urgency: Urgency) async throws(Setback) -> Bool {
        let arrival = now
        guard let recognise, !recognition.isKnown(to: arrival, at: arrival) else { return false }
        return try await recognition.inTurn(urgency) { () async throws(Setback) in
            guard !recognition.isKnown(to: arrival, at: now) else { return true }
            if let setback = recognition.failure(since: arrival) { throw setback }
            let (signIn, question) = (account.session.signIn, recognition.question(at: now))
            guard let profile = try await profile(urgency) else { return false }
            let isRecognised = await recognise(profile, signIn)
            // It says nothing of the keys of whoever has signed in meanwhile.
            guard account.session.signIn == signIn else {
                throw Setback(.cancelled, operation: "look at the account")
            }
            guard isRecognised else {
                throw Setback(.signedOut, operation: "look at the account")
            }
            recognition.confirm(question)
            return true
        }
    }

    /// Whoever waits for an edit does not wait long for it. A run takes the time it takes: on a slow line nothing would
    /// come to pass otherwise.
    ///
    /// - Returns: Nil where upstream has answered, but not with a profile.
    private func profile(_ urgency: Urgency) async throws(Setback) -> Profile? {
        do throws(Setback) {
            return try await ask(urgency) { account throws(Setback) in
                try await account.asking {
                    if urgency == .interactive { $0.deadline = Recognition.deadline }
                }.profile()
            }
        } catch {
            switch error.reason {
            case .rejected, .missing, .stale, .malformed, .unavailable(500): return nil
            case .unauthorised, .signedOut, .throttled, .unavailable, .unreachable, .foreign,
                .cancelled:
                recognition.fail(error, at: now)
                throw error
            }
        }
    }

    package func doubtAccount() { recognition.doubt() }

    func afterNextAnswer(_ body: @escaping @Sendable () -> Void) { bell.whenItRings(body) }

    /// Whether the hub would tell.
    func listens(_ isListening: Bool) { recognition.listens(isListening) }

    private var now: Duration { account.upstream.world.timekeeper.elapsed }

    package func switches(_ urgency: Urgency) async throws(Setback) -> Switches {
        let configuration = try await ask(urgency) { account throws(Setback) in
            try await account.upstream.configuration(account.manner)
        }
        return Switches(
            offlineChanges: configuration.isOn("offline-sync-enable-offline-changes"),
            resolution: configuration.isOn("offline-sync-enable-resolution")
        )
    }
}

/// Tells whoever waits for it, once, that upstream has answered the account.
private final class AnswerBell: Sendable {
    private let waiter = Lock<(@Sendable () -> Void)?>(nil)

    func whenItRings(_ body: @escaping @Sendable () -> Void) { waiter.withLock { $0 = body } }

    func ring() { waiter.withLock { $0.take() }?() }
}

extension Manner {
    mutating func take(_ urgency: Urgency) {
        switch urgency {
        case .patient: patienceInLine = .seconds(120)
        case .interactive:
            patience = .seconds(5)
            deadline = .seconds(15)
            isWaitedFor = true
        case .insistent:
            // A time that upstream has set is told to whoever asks, and not waited for.
            patience = .zero
            patienceInLine = .seconds(10)
            isForced = true
            isWaitedFor = true
        }
    }
}

extension Fetched {
    /// Large vaults take a while, so it is not done where the caller is at home.
    @concurrent
    fileprivate init(_ fetched: SyncFetched, of userID: String) async {
        let answer = fetched.answer
        let ciphers = answer.ciphers.compactMap { BaseCipher($0, of: userID) }
        self.init(
            picture: fetched.picture,
            ciphers: ciphers,
            slices: [BaseSlice(.profile, json: Array(answer.profileText.bytes))]
                + answer.profile.memberships.map {
                    BaseSlice(.organization, id: $0.organizationID, json: Array($0.raw.bytes))
                }
                + answer.folders.slices(.folder)
                + answer.collections.slices(.collection)
                + answer.sends.slices(.send)
                + answer.policies.slices(.policy),
            isWhole: ciphers.count == answer.ciphers.count
        )
    }
}

extension Sequence<JSON.Piece> {
    fileprivate func slices(_ kind: BaseSlice.Kind) -> [BaseSlice] {
        compactMap { piece in
            piece["id"]?.string.map { BaseSlice(kind, id: $0, json: Array(piece.raw.bytes)) }
        }
    }
}

extension BaseCipher {
    /// Nil for what has no id or no stamp: nothing could be made of it.
    fileprivate init?(_ piece: JSON.Piece, of userID: String) {
        guard let id = piece["id"]?.string,
            let revision = piece["revisionDate"]?.string.flatMap({ Revision($0) })
        else { return nil }
        self.init(
            lane: Lane(userID: userID, cipherID: id),
            revision: revision,
            isTrashed: piece["deletedDate"]?.string != nil,
            isArchived: piece["archivedDate"]?.string != nil,
            organizationID: piece["organizationId"]?.string,
            json: Array(piece.raw.bytes)
        )
    }
}
