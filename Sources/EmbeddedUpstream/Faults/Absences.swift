import Messaging
import System

/// Has the server be away for as long as it is told, once for each time it is told.
final class Absences: Sendable {
    private let mailbox = Mailbox<Duration>(name: "absences")
    private let time: any Timekeeper

    init(time: any Timekeeper) {
        self.time = time
    }

    var address: Address<Duration> { mailbox.address }

    func run(at entrance: Entrance?) async {
        for await duration in mailbox {
            await entrance?.close(within: .zero)
            try? await time.sleep(for: duration)
            // Somebody else may have got the address meanwhile, and has to leave it first.
            while !Task.isCancelled, entrance?.hasOpened() == false {
                try? await time.sleep(for: .milliseconds(100))
            }
        }
    }

    func close() { mailbox.close() }
}

extension Entrance {
    fileprivate func hasOpened() -> Bool { (try? open()) != nil }
}
