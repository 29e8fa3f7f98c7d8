import CWebsockets
import Synchronization
import System

/// The sockets' thread, as seen from all others.
final class WebSocketDriver: Sendable {
    enum Command: Sendable {
        case open(WebSocketLink)
        case resolved(UInt64, AddressBook.Answer)
        case cancel(UInt64)
        case resume(UInt64)
        case send(UInt64, Letter)
        case takeBack(UInt64, UInt64)
        case goodbye(UInt64, UInt16)
        case count(CheckedContinuation<Int?, Never>)
        case stop
    }

    let inbox = Inbox<Command>()
    private let lastID = Atomic<UInt64>(0)

    init(
        configuration: WebSocketClient.Configuration,
        timekeeper: any Timekeeper,
        addressBook: AddressBook,
        startThread: ThreadStart
    ) throws(SystemError) {
        try startThread("websockets") { [self] in
            WebSocketLoop(
                self,
                configuration: configuration,
                timekeeper: timekeeper,
                addressBook: addressBook
            ).run()
        }
    }

    func nextID() -> UInt64 { lastID.add(1, ordering: .relaxed).newValue }

    func post(_ command: Command) { inbox.post(command) }

    /// - Returns: Why the command is not taken over, if it is not.
    func submit(_ command: Command) -> WebSocketError.Reason? {
        switch inbox.submit(command) {
        case nil: nil
        case .cancelled: .cancelled
        case .closed: .local("the client is closed")
        }
    }

    func count() async -> Int { await inbox.ask { .count($0) } ?? 0 }

    func stop() { inbox.close(with: .stop) }
}
