public import System

/// Runs services together.
///
/// They are started in the given order. When one ends or fails, when the group is closed, the rest
/// is closed in the reverse order, each with the time it needs to finish what it had accepted.
/// Whoever is not done when the group's patience ends is cancelled. A group is a service itself.
public final class ServiceGroup: Service {
    private typealias Event = GroupState.Event

    private let services: [any Service]
    private let patience: Duration
    private let time: any Timekeeper
    /// Carries nothing: all that can be asked of a group is to close.
    private let requests = Mailbox<Never>(name: "service-group", capacity: 1)

    /// - Parameters:
    ///   - services: Those that others rely on come first.
    ///   - patience: How long closing all of them may take.
    public init(_ services: [any Service], patience: Duration, time: any Timekeeper) {
        self.services = services
        self.patience = patience
        self.time = time
    }

    public func close() {
        requests.close()
    }

    /// Runs until all services have ended.
    ///
    /// - Throws: What went wrong first, with the name of the service.
    public func run() async throws(ServiceFailure) {
        if services.isEmpty { return }
        let failure = await withTaskGroup(of: Event?.self) { tasks in
            for number in services.indices {
                tasks.addTask { await self.runService(number) }
            }
            tasks.addTask { await self.waitForRequest() }
            return await conduct(&tasks)
        }
        guard let failure else { return }
        throw ServiceFailure(of: services[failure.service], reason: failure.reason)
    }

    private func conduct(
        _ tasks: inout TaskGroup<Event?>
    ) async -> (service: Int, reason: any Error)? {
        var state = GroupState(count: services.count)
        for await case let event? in tasks {
            for step in state.steps(after: event) {
                switch step {
                case .startPatience: tasks.addTask { await self.losePatience() }
                case .close(let service): services[service].close()
                case .cancelAll: tasks.cancelAll()
                }
            }
        }
        return state.failure
    }

    private func runService(_ number: Int) async -> Event {
        do {
            try await services[number].run()
            return .ended(service: number, failure: nil)
        } catch is CancellationError where Task.isCancelled {
            return .ended(service: number, failure: nil)
        } catch {
            return .ended(service: number, failure: error)
        }
    }

    private func waitForRequest() async -> Event {
        for await _ in requests {}
        return .closeRequested
    }

    private func losePatience() async -> Event? {
        do {
            try await time.sleep(for: patience)
            return .patienceEnded
        } catch {
            return nil
        }
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
