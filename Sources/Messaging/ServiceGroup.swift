public import System

/// Runs services together.
///
/// They are started in the given order. When one ends or fails, when the group is closed, the rest
/// is closed in the reverse order, each with the time it needs to finish what it had accepted.
/// Whoever is not done when the group's patience ends is cancelled. A group is a service itself.
///
/// Companions go along for as long as the services run, and are cancelled when these have ended. Nobody
/// waits for what they do, and their own end is nothing to the others.
public final class ServiceGroup: Service {
    private let services: [any Service]
    private let companions: [@Sendable () async -> Void]
    private let patience: Duration
    private let time: any Timekeeper
    private let state: Lock<GroupState>
    /// Says that patience begins; is closed when everybody is to be cancelled.
    private let signals = Mailbox<Void>(name: "service-group", capacity: 1)

    /// - Parameters:
    ///   - services: Those that others rely on come first.
    ///   - patience: How long closing all of them may take.
    public init(
        _ services: [any Service],
        companions: [@Sendable () async -> Void] = [],
        patience: Duration,
        time: any Timekeeper
    ) {
        self.services = services
        self.companions = companions
        self.patience = patience
        self.time = time
        state = Lock(GroupState(count: services.count))
    }

    public func close() { take(.closeRequested) }

    /// Runs until all services have ended.
    ///
    /// - Throws: What went wrong first, with the name of the service.
    public func run() async throws(ServiceFailure) {
        if services.isEmpty { return }
        await withDiscardingTaskGroup { tasks in
            for number in services.indices {
                tasks.addTask { await self.runService(number) }
            }
            for companion in companions { tasks.addTask { await companion() } }
            for await _ in signals {
                tasks.addTask { await self.losePatience() }
            }
            tasks.cancelAll()
        }
        guard let failure = state.withLock(\.failure) else { return }
        throw ServiceFailure(of: services[failure.service], reason: failure.reason)
    }

    /// Whoever has something to tell does what follows from it: a task that did it for them would wait
    /// beside the services of each account.
    private func take(_ event: GroupState.Event) {
        for step in state.withLock({ $0.steps(after: event) }) {
            switch step {
            case .startPatience: try? signals.address.tryTell(())
            case .close(let service): services[service].close()
            case .cancelAll: signals.close()
            }
        }
    }

    private func runService(_ number: Int) async {
        var failure: (any Error)?
        do {
            try await services[number].run()
        } catch is CancellationError where Task.isCancelled {
            // It was told to.
        } catch {
            failure = error
        }
        take(.ended(service: number, failure: failure))
    }

    private func losePatience() async {
        guard (try? await time.sleep(for: patience)) != nil else { return }
        take(.patienceEnded)
    }
}

/// A service that could not go on, and why.
public struct ServiceFailure: Error, CustomStringConvertible {
    /// The service's type.
    public let service: String
    public let reason: any Error

    init(of service: any Service, reason: any Error) {
        self.service = String(describing: type(of: service))
        self.reason = reason
    }

    public var description: String { "\(service) ended with an error: \(reason)" }
}
