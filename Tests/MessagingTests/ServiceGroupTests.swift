import System
import TestSupport
import Testing

@testable import Messaging

struct ServiceGroupTests {
    @Test(arguments: 0..<100 as Range<UInt64>)
    func `closing lets each drain, the last started first`(seed: UInt64) throws {
        let journal = Journal<String>()
        try SeededExecutor.run(seed: seed) { executor, time in
            let services = ["store", "resolver", "scheduler"].map {
                ScriptedService($0, time: time, journal: journal)
            }
            let group = ServiceGroup(services, patience: .seconds(60), time: time)
            try await withThrowingDiscardingTaskGroup { tasks in
                tasks.addTask { try await group.run() }
                for service in services {
                    for _ in 0..<3 { try await service.mailbox.address.tell(.work) }
                }
                await executor.dawdle()
                group.close()
                group.close()
            }
        }
        let expected = ["scheduler", "resolver", "store"].map { "\($0) ended after 3" }
        #expect(journal.entries == expected, "seed \(seed)")
    }

    @Test(arguments: 0..<100 as Range<UInt64>)
    func `when one fails the rest is closed, and its error comes out`(seed: UInt64) throws {
        let journal = Journal<String>()
        let failure = try SeededExecutor.run(seed: seed) { _, time in
            let services = ["store", "resolver", "scheduler"].map {
                ScriptedService($0, time: time, journal: journal)
            }
            let group = ServiceGroup(services, patience: .seconds(60), time: time)
            try await services[0].mailbox.address.tell(.work)
            try await services[1].mailbox.address.tell(.fail)
            return await #expect(throws: ServiceFailure.self) { try await group.run() }
        }
        #expect(failure?.reason is ScriptedService.Mishap, "seed \(seed)")
        #expect(failure?.service == "ScriptedService")
        #expect(journal.entries == ["scheduler ended after 0", "store ended after 1"])
    }

    @Test func `when one ends, the rest ends with it`() throws {
        let journal = Journal<String>()
        try SeededExecutor.run(seed: 1) { _, time in
            let services = ["store", "resolver"].map {
                ScriptedService($0, time: time, journal: journal)
            }
            services[0].close()
            try await ServiceGroup(services, patience: .seconds(60), time: time).run()
        }
        #expect(journal.entries == ["store ended after 0", "resolver ended after 0"])
    }

    @Test func `who takes too long is cancelled, and that is told`() throws {
        let journal = Journal<String>()
        let (failure, elapsed) = try SeededExecutor.run(seed: 1) { _, time in
            let service = ScriptedService("store", time: time, journal: journal)
            let group = ServiceGroup([service], patience: .seconds(60), time: time)
            for _ in 0..<100 { try await service.mailbox.address.tell(.work) }
            group.close()
            let failure = await #expect(throws: ServiceFailure.self) { try await group.run() }
            return (failure, time.elapsed)
        }
        #expect(failure?.reason as? TookTooLong == TookTooLong())
        #expect(elapsed == .seconds(60))
        #expect(journal.entries.isEmpty, "It did not end by itself.")
    }

    @Test(arguments: 0..<50 as Range<UInt64>)
    func `a group that is cancelled ends at once and without an error`(seed: UInt64) throws {
        let elapsed = try SeededExecutor.run(seed: seed) { executor, time in
            let services = ["store", "resolver"].map {
                ScriptedService($0, time: time, journal: Journal())
            }
            for service in services { try await service.mailbox.address.tell(.work) }
            let group = ServiceGroup(services, patience: .seconds(60), time: time)
            try await withThrowingDiscardingTaskGroup { tasks in
                tasks.addTask { try await group.run() }
                await executor.dawdle()
                tasks.cancelAll()
            }
            return time.elapsed
        }
        #expect(elapsed == .zero, "seed \(seed)")
    }

    @Test(arguments: 0..<50 as Range<UInt64>)
    func `a companion goes along until the services have ended, and may end before them`(
        seed: UInt64
    ) throws {
        let journal = Journal<String>()
        try SeededExecutor.run(seed: seed) { _, time in
            let service = ScriptedService("store", time: time, journal: journal)
            for _ in 0..<3 { try await service.mailbox.address.tell(.work) }
            let group = ServiceGroup(
                [service],
                companions: [
                    { try? await time.sleep(for: .seconds(1)) },
                    {
                        try? await time.sleep(for: .seconds(100))
                        journal.note("cancelled \(Task.isCancelled) after \(time.elapsed)")
                    },
                ],
                patience: .seconds(60),
                time: time
            )
            group.close()
            try await group.run()
        }
        let expected = ["store ended after 3", "cancelled true after 3.0 seconds"]
        #expect(journal.entries == expected, "seed \(seed)")
    }

    @Test func `a group of none ends at once`() async throws {
        try await ServiceGroup([], patience: .zero, time: VirtualTimekeeper()).run()
    }

    @Test func `a group is a service of another group`() throws {
        let journal = Journal<String>()
        try SeededExecutor.run(seed: 1) { _, time in
            let store = ScriptedService("store", time: time, journal: journal)
            let api = ScriptedService("api", time: time, journal: journal)
            let inner = ServiceGroup([api], patience: .seconds(60), time: time)
            let outer = ServiceGroup([store, inner], patience: .seconds(60), time: time)
            outer.close()
            try await outer.run()
        }
        #expect(journal.entries == ["api ended after 0", "store ended after 0"])
    }
}

/// The group's mind, without a task.
struct GroupStateTests {
    var state = GroupState(count: 3)

    @Test mutating func `closes the last first, then the one before it`() {
        #expect(state.steps(after: .closeRequested) == [.startPatience, .close(service: 2)])
        #expect(state.steps(after: .closeRequested) == [])
        #expect(state.steps(after: .ended(2)) == [.close(service: 1)])
        #expect(state.steps(after: .ended(1)) == [.close(service: 0)])
        #expect(state.steps(after: .ended(0)) == [.cancelAll])
        #expect(state.failure == nil)
    }

    @Test mutating func `does not wait for who ended out of turn`() {
        _ = state.steps(after: .closeRequested)
        #expect(state.steps(after: .ended(1)) == [])
        #expect(state.steps(after: .ended(2)) == [.close(service: 0)])
    }

    @Test mutating func `one that ends has the rest closed`() {
        #expect(state.steps(after: .ended(2)) == [.startPatience, .close(service: 1)])
    }

    @Test mutating func `the first failure is the one that is told`() {
        struct Mishap: Error {}
        _ = state.steps(after: .ended(service: 1, failure: Mishap()))
        _ = state.steps(after: .ended(service: 2, failure: TookTooLong()))
        #expect(state.failure?.service == 1)
        #expect(state.failure?.reason is Mishap)
    }

    @Test mutating func `impatience cancels everything and names who was waited for`() {
        _ = state.steps(after: .closeRequested)
        #expect(state.steps(after: .patienceEnded) == [.cancelAll])
        #expect(state.failure?.service == 2)
        #expect(state.failure?.reason is TookTooLong)
    }
}

extension GroupState.Event {
    fileprivate static func ended(_ service: Int) -> Self {
        .ended(service: service, failure: nil)
    }
}

/// Works a second at every message and notes when it has ended by itself.
private final class ScriptedService: Service {
    enum Message: Sendable {
        case work
        case fail
    }
    struct Mishap: Error {}

    let mailbox = Mailbox<Message>(name: "scripted")
    private let name: String
    private let time: VirtualTimekeeper
    private let journal: Journal<String>

    init(_ name: String, time: VirtualTimekeeper, journal: Journal<String>) {
        self.name = name
        self.time = time
        self.journal = journal
    }

    func close() { mailbox.close() }

    func run() async throws {
        var count = 0
        for await message in mailbox {
            if case .fail = message { throw Mishap() }
            try await time.sleep(for: .seconds(1))
            count += 1
        }
        try Task.checkCancellation()
        journal.note("\(name) ended after \(count)")
    }
}
