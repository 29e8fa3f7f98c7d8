import Messaging
import Metrics
import Testing

struct ChannelMetricsTests {
    private let registry = Registry()
    private let channels: ChannelMetrics

    init() {
        channels = ChannelMetrics(
            registry,
            channels: ["resolver", "repository"],
            timekeeper: StillTime()
        )
    }

    /// The figures of one channel: messages, depth, capacity, and how many waits.
    private func figures(of name: String) async throws -> [Double] {
        let samples = try OpenMetricsText(await registry.text(.openMetrics)).check()
        return ["messages_total", "depth", "capacity", "wait_seconds_count"].compactMap { figure in
            samples.first {
                $0.name == "holdfast_channel_" + figure && $0.labels["channel"] == name
            }?.value
        }
    }

    private func read(_ mailbox: Mailbox<Int>, count: Int) async {
        let reader = mailbox.makeAsyncIterator()
        for _ in 0..<count { _ = await reader.next() }
    }

    @Test func `every channel is there from the start`() async throws {
        #expect(try await figures(of: "resolver") == [0, 0, 0, 0])
        #expect(try await figures(of: "repository") == [0, 0, 0, 0])
    }

    @Test func `lines of one name are shown together`() async throws {
        let mailboxes = [4, 6].map { Mailbox<Int>(name: "resolver", capacity: $0) }
        let watches = mailboxes.map { channels.watch($0.address) }
        for mailbox in mailboxes {
            for number in 0..<3 { try await mailbox.address.tell(number) }
        }
        #expect(try await figures(of: "resolver") == [0, 6, 10, 0])

        for mailbox in mailboxes { await read(mailbox, count: 3) }
        #expect(try await figures(of: "resolver") == [6, 0, 10, 6])
        #expect(try await figures(of: "repository") == [0, 0, 0, 0])
        withExtendedLifetime(watches) {}
    }

    @Test func `a line that goes takes nothing from the total`() async throws {
        let mailbox = Mailbox<Int>(name: "repository", capacity: 4)
        var watch: ChannelMetrics.Watch? = channels.watch(mailbox.address)
        for number in 0..<3 { try await mailbox.address.tell(number) }
        await read(mailbox, count: 3)
        #expect(try await figures(of: "repository") == [3, 0, 4, 3])

        withExtendedLifetime(watch) {}
        watch = nil
        #expect(try await figures(of: "repository") == [3, 0, 0, 3])
    }

    @Test func `what a line never reads does not wait any more once it has hung up`() async throws {
        var mailbox: Mailbox<Int>? = Mailbox(name: "repository", capacity: 8)
        let address = try #require(mailbox?.address)
        let watch = channels.watch(address)
        for number in 0..<5 { try await address.tell(number) }
        #expect(try await figures(of: "repository") == [0, 5, 8, 0])
        mailbox = nil
        #expect(throws: Undelivered.closed) { try address.tryTell(5) }
        #expect(try await figures(of: "repository") == [0, 0, 8, 0])
        withExtendedLifetime(watch) {}
    }

    @Test func `what was sent before a line was watched waits as well`() async throws {
        let mailbox = Mailbox<Int>(name: "repository", capacity: 8)
        for number in 0..<3 { try await mailbox.address.tell(number) }
        let watches = [channels.watch(mailbox.address), channels.watch(mailbox.address)]
        #expect(try await figures(of: "repository").prefix(2) == [0, 3])
        await read(mailbox, count: 3)
        #expect(try await figures(of: "repository").prefix(2) == [3, 0])
        withExtendedLifetime(watches) {}
    }

    @Test func `a watch of a channel that was not announced stops the program`() async {
        await #expect(processExitsWith: .failure) {
            let channels = ChannelMetrics(
                Registry(),
                channels: ["resolver"],
                timekeeper: StillTime()
            )
            _ = channels.watch(Mailbox<Int>(name: "somebody").address)
        }
    }
}
