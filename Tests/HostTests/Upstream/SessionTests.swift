import FoundationEssentials
import System
import TestSupport
import Testing
import Vault

@testable import Host

final class SessionTests: Sendable {
    private let time = VirtualTimekeeper()
    private let renewals = Lock(0)
    private let kept = Lock<[String]>([])

    private func tokens(_ access: String, secondsLeft: Int64) -> Tokens {
        Tokens(
            userID: "me",
            access: access,
            expires: Moment(time.now).advanced(bySeconds: secondsLeft),
            renewal: .refresh(token: "r", clientID: "cli")
        )
    }

    private func session(
        secondsLeft: Int64,
        _ renew: @escaping @Sendable (Int) async throws(Setback) -> SessionState.Renewal
    ) -> Session {
        Session(tokens: tokens("old", secondsLeft: secondsLeft), timekeeper: time) { tokens in
            self.kept.withLock { $0.append(tokens.access) }
        } renew: { _ async throws(Setback) in
            let number = self.renewals.withLock { renewals in
                renewals += 1
                return renewals
            }
            return try await renew(number)
        }
    }

    private static let away = Setback(
        .unreachable(.tried("nobody")),
        operation: "renew the session"
    )

    @Test func `a token with more than five minutes left is used as it is`() async throws {
        let session = session(secondsLeft: 301) { _ throws(Setback) in throw Self.away }
        #expect(try await session.token() == "old")
        #expect(renewals.withLock(\.self) == 0)
    }

    @Test func `T-39 all who need a token share one renewal`() async throws {
        let gate = Gate()
        let session = session(secondsLeft: 300) { number in
            await gate.pass()
            return .renewed(self.tokens("new \(number)", secondsLeft: 3_600))
        }
        try await withThrowingTaskGroup { callers in
            for _ in 0..<50 { callers.addTask { try await session.token() } }
            await gate.arrivals(1)
            gate.open()
            for try await token in callers { #expect(token == "new 1") }
        }
        #expect(renewals.withLock(\.self) == 1)
        #expect(kept.withLock(\.self) == ["new 1"])
    }

    @Test func `who was refused with an older token than there is renews nothing`() async throws {
        let session = session(secondsLeft: 3_600) { _ throws(Setback) in throw Self.away }
        #expect(try await session.token(.other(than: "older")) == "old")
        #expect(renewals.withLock(\.self) == 0)
    }

    @Test func `T-39 only a refusal signs out, and what is kept stays`() async {
        let session = session(secondsLeft: 0) { _ in .refused }
        for _ in 0..<2 {
            await #expect(throws: Setback(.signedOut, operation: "renew the session")) {
                try await session.token()
            }
        }
        #expect(session.isSignedOut && renewals.withLock(\.self) == 1)
        #expect(session.tokens.access == "old")
    }

    @Test func `a session in doubt needs a new token, and without one it is not used`() async throws
    {
        let session = session(secondsLeft: 3_600) { number throws(Setback) in
            if number == 1 { throw Self.away }
            return .renewed(self.tokens("new", secondsLeft: 3_600))
        }
        session.doubt()
        await #expect(throws: Self.away) { try await session.token() }
        #expect(try await session.token() == "new")
        #expect(try await session.token() == "new")
        #expect(renewals.withLock(\.self) == 2)
    }

    @Test func `after signing in again it goes on`() async throws {
        let session = session(secondsLeft: 0) { _ in .refused }
        _ = try? await session.token()
        session.signIn(tokens("fresh", secondsLeft: 3_600))
        // Whoever comes only now to wait for that need not wait.
        await session.signedInAgain()
        #expect(try await session.token() == "fresh")
    }

    @Test func `I17 what was begun before a sign-in gets no token from after it`() async throws {
        let session = session(secondsLeft: 3_600) { _ in .refused }
        let before = session.signIn
        #expect(try await session.token(of: before) == "old")
        session.signIn(tokens("fresh", secondsLeft: 3_600))
        await #expect(throws: Setback(.cancelled, operation: "renew the session")) {
            try await session.token(of: before)
        }
        #expect(try await session.token(of: session.signIn) == "fresh")
    }

    @Test func `the end of an earlier sign-in does not end the one that came after it`()
        async throws
    {
        let session = session(secondsLeft: 3_600) { _ in .refused }
        let before = session.signIn
        session.signIn(tokens("fresh", secondsLeft: 3_600))
        #expect(!session.signOut(of: before) && !session.isSignedOut)
        #expect(session.signOut(of: session.signIn) && session.isSignedOut)
    }

    @Test(arguments: [true, false])
    func `what becomes of tokens from before a sign-in says nothing of those that came with it`(
        _ isRefused: Bool
    ) async throws {
        let gate = Gate()
        let session = session(secondsLeft: 0) { _ in
            await gate.pass()
            return isRefused ? .refused : .renewed(self.tokens("renewed", secondsLeft: 3_600))
        }
        async let token = session.token()
        await gate.arrivals(1)
        session.signIn(tokens("fresh", secondsLeft: 3_600))
        gate.open()
        #expect(try await token == "fresh")
        #expect(!session.isSignedOut && kept.withLock(\.self).isEmpty)
    }

    @Test(arguments: [
        Setback.Reason.unreachable(.tried("x")), .unavailable(status: 500),
        .throttled(until: Moment(ticks: 0)), .foreign(.page(status: 403)), .malformed("x"),
        .rejected(Rejection(status: 400, message: "x")),
    ])
    func `nothing else signs out`(_ reason: Setback.Reason) async throws {
        let setback = Setback(reason, operation: "renew the session")
        let expiring = session(secondsLeft: 10) { _ throws(Setback) in throw setback }
        #expect(try await expiring.token() == "old", "There are ten seconds left.")
        let expired = session(secondsLeft: 0) { _ throws(Setback) in throw setback }
        await #expect(throws: setback) { try await expired.token() }
        await #expect(throws: setback) { try await expiring.token(.other(than: "old")) }
        #expect(!expired.isSignedOut && !expiring.isSignedOut)
    }

    @Test(arguments: [SessionState.Need.fresh, .other(than: "old")])
    func `a renewal that fails leaves the present token to whoever was not refused with it`(
        _ need: SessionState.Need
    ) async throws {
        let gate = Gate()
        let session = session(secondsLeft: 10) { _ async throws(Setback) in
            await gate.pass()
            throw Self.away
        }
        let renewing = Task { try await session.token(need) }
        await gate.arrivals(1)
        let other = need == .fresh ? SessionState.Need.other(than: "old") : .fresh
        let waiting = Task.immediate { try await session.token(other) }
        gate.open()
        let (unrefused, refused) = need == .fresh ? (renewing, waiting) : (waiting, renewing)
        #expect(try await unrefused.value == "old")
        await #expect(throws: Self.away) { try await refused.value }
        #expect(renewals.withLock(\.self) == 1)
    }

    @Test func `a renewal that its caller gives up is taken over by who waits`() async throws {
        let first = Gate()
        let session = session(secondsLeft: 0) { number async throws(Setback) in
            guard number == 1 else { return .renewed(self.tokens("new", secondsLeft: 3_600)) }
            await first.pass()
            throw Setback(.cancelled, operation: "renew the session")
        }
        let patient = try await withThrowingTaskGroup(of: String?.self) { callers in
            callers.addTask {
                await withTaskGroup(of: String?.self) { hasty in
                    hasty.addTask { try? await session.token() }
                    await first.arrivals(1)
                    hasty.cancelAll()
                    first.open()
                    return await hasty.next() ?? nil
                }
            }
            await first.arrivals(1)
            callers.addTask { try await session.token() }
            return try await callers.reduce(into: []) { $0.append($1) }
        }
        #expect(patient.compactMap(\.self) == ["new"])
        #expect(renewals.withLock(\.self) == 2)
    }

    @Test func `who waits and is cancelled waits no longer`() async throws {
        let gate = Gate()
        let session = session(secondsLeft: 0) { _ in
            await gate.pass()
            return .renewed(self.tokens("new", secondsLeft: 3_600))
        }
        try await withThrowingTaskGroup(of: Void.self) { callers in
            callers.addTask { _ = try await session.token() }
            await gate.arrivals(1)
            await withTaskGroup(of: Setback.Reason?.self) { waiters in
                for _ in 0..<20 {
                    waiters.addTask {
                        do throws(Setback) {
                            _ = try await session.token()
                            return nil
                        } catch {
                            return error.reason
                        }
                    }
                }
                waiters.cancelAll()
                for await reason in waiters { #expect(reason == .cancelled) }
            }
            gate.open()
            try await callers.waitForAll()
        }
        #expect(session.tokens.access == "new")
    }
}
