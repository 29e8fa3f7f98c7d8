import System

/// The accounts of this test, in a host that may have others.
final class Guests: Sendable {
    /// Their addresses end with it, and nobody else's do.
    private let domain: String
    /// Whether the host has any of them, as far as anybody can know.
    private let haveArrived = Lock(false)

    private static let departuresAtOnce = 16

    /// - Parameter elapsed: Tells them from the accounts of other tests.
    init(at elapsed: Duration) {
        domain = "\(Int64(elapsed / .microseconds(1))).load.example"
    }

    func address(of user: Int) -> String { "user\(user)@\(domain)" }

    /// - Returns: The account's id.
    func signIn(_ email: String, at host: HostSide, server: String) async throws -> String {
        do {
            let account = try await host.signIn(email, OtherDevice.password, server: server)
            haveArrived.withLock { $0 = true }
            return account
        } catch let failure as LoadFailure where failure.isOutcomeUnknown {
            haveArrived.withLock { $0 = true }
            throw failure
        }
    }

    /// Takes all of them out of the host.
    ///
    /// - Returns: What hindered that, in a sentence, if anything did.
    func depart(from host: HostSide, counting tell: @Sendable (Int) -> Void) async -> String? {
        guard haveArrived.withLock(\.self) else { return nil }
        do {
            let accounts = try await host.accounts().filter { $0.email.hasSuffix("@\(domain)") }
            tell(accounts.count)
            let hindrances = try await inTurn(accounts, atOnce: Self.departuresAtOnce) { account in
                await Self.hindrance(erasing: account.id, at: host)
            }.compactMap(\.self)
            guard let reason = hindrances.first else { return nil }
            // Those whose sign-in came to nothing the host itself takes out.
            let left = try await host.accounts().count { $0.email.hasSuffix("@\(domain)") }
            guard left > 0 else { return nil }
            return "\(left) of the test's accounts are still at \(host.url): \(reason) " + advice
        } catch {
            return "The test's accounts may still be at \(host.url): \(Self.reason(error)) "
                + advice
        }
    }

    private var advice: String {
        "There, `holdfast logout --account ID --discard-pending` takes out each …@\(domain) that "
            + "`holdfast accounts` shows."
    }

    /// Whoever ends the departure is told what is left of it, and not that nothing has to be done.
    private static func reason(_ error: any Error) -> String {
        if Task.isCancelled { return "the departure was ended." }
        let words = "\(error)"
        return words.hasSuffix(".") ? words : words + "."
    }

    private static func hindrance(erasing account: String, at host: HostSide) async -> String? {
        do {
            try await host.erase(account)
            return nil
        } catch {
            return reason(error)
        }
    }
}
