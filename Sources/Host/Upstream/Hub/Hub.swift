public import Bitwarden
import System
import Vault

/// What upstream tells on its own.
public enum HubNews: Hashable, Sendable {
    /// The line is there (again). What happened meanwhile was told to nobody, so the account's
    /// revision has to be looked at.
    case connected
    /// Something happened. `isOwn` if this account did it at this device.
    case event(HubEvent, isOwn: Bool)
    /// Nothing is heard for now. Only asking tells whether anything happens.
    case lost
    /// Upstream has ended the session, so there is nothing to hear until the user signs in again. It is new if upstream
    /// has said so just now.
    case signedOut(isNew: Bool)
}

/// An account's line to upstream's hub.
///
/// A message from it is a hint: it may be missing, come twice, or come before what it tells of can be
/// seen. What is true is what upstream says when asked.
public struct Hub: Sendable {
    private let account: UpstreamAccount
    private let address: String

    public init(_ account: UpstreamAccount) {
        self.account = account
        address = account.upstream.bases.hub
    }

    private var world: Upstream.World { account.upstream.world }

    /// Keeps the line, over every interruption and every end of the session, until it is cancelled.
    ///
    /// - Parameter rest: Waits that long before the next attempt, or less if something speaks for it.
    func run(
        resting rest: @Sendable (Duration) async -> Void,
        _ tell: @Sendable (HubNews) async -> Void
    ) async {
        var life = HubLife()
        var (refused, renewed): (String?, String?)
        while !Task.isCancelled {
            if let wait = account.upstream.restsFor {
                await rest(wait + HubLife.spread * world.chance.fraction())
                continue
            }
            let wasSignedOut = account.session.isSignedOut
            do throws(Setback) {
                let need = refused.map { SessionState.Need.other(than: $0) } ?? .fresh
                let token = try await account.session.token(need)
                if refused != nil { renewed = token }
                // A hub that does not take what was just renewed has another reason, and another renewal is in vain.
                refused = await listen(token, &life, tell) && token != renewed ? token : nil
            } catch {
                if error.reason == .signedOut {
                    await tell(.signedOut(isNew: !wasSignedOut))
                    await account.session.signedInAgain()
                    continue
                }
            }
            await rest(life.wait(chance: world.chance.fraction()))
        }
    }

    public func run(_ tell: @Sendable (HubNews) async -> Void) async {
        let timekeeper = world.timekeeper
        await run(resting: { try? await timekeeper.sleep(for: $0) }, tell)
    }

    /// One line, from its opening to its end.
    ///
    /// - Returns: Whether the token was the reason that there was none.
    private func listen(
        _ token: String,
        _ life: inout HubLife,
        _ tell: @Sendable (HubNews) async -> Void
    ) async -> Bool {
        let line: any HubLine
        do {
            line = try await open(token)
        } catch {
            if error.kind == .refused(status: 429) { life.beMild() }
            return error.kind == .refused(status: 401)
        }
        life.begin()
        let keeper = LineKeeper(of: line, world.timekeeper, world.alarms)
        keeper.begin()
        await read(line, &life, tell)
        keeper.stop()
        line.hangUp()
        if !Task.isCancelled, life.isGreeted { await tell(.lost) }
        return false
    }

    private func open(_ token: String) async throws(NetworkFailure) -> any HubLine {
        let address = address + "?access_token=\(segment: token)"
        let (metrics, start) = (account.upstream.metrics, world.timekeeper.elapsed)
        let line: any HubLine
        do throws(NetworkFailure) {
            line = try await world.network.openLine(
                address,
                headers: account.upstream.identity.headers
            )
            metrics.answered(.hub, 101, after: world.timekeeper.elapsed - start)
        } catch {
            switch error.kind {
            case .refused(let status):
                metrics.answered(.hub, status, after: world.timekeeper.elapsed - start)
            case .lost, .tooLarge, .exhausted, .ours:
                metrics.failed(.hub, after: world.timekeeper.elapsed - start)
            case .cancelled: break
            }
            throw error
        }
        try await line.send(text: String(decoding: HubHandshake.request, as: UTF8.self))
        return line
    }

    private func read(
        _ line: any HubLine,
        _ life: inout HubLife,
        _ tell: @Sendable (HubNews) async -> Void
    ) async {
        while let message = try? await line.next() {
            for step in life.take(message) {
                switch step {
                case .greeted: await tell(.connected)
                case .heard(let event): await tell(.event(event, isOwn: isOwn(event)))
                case .hangUp: return
                }
            }
        }
    }

    /// All accounts of a server are at one device. Of an organisation's item all members are told without the name of
    /// who has acted, who may be another account of ours.
    private func isOwn(_ event: HubEvent) -> Bool {
        let actor = event.userID ?? (event.organizationID == nil ? account.session.userID : nil)
        return event.contextID == account.upstream.identity.device.identifier
            && actor?.lowercased() == account.session.userID.lowercased()
    }
}
