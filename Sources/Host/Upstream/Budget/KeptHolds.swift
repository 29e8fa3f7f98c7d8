import Logging
import Messaging
package import Sync

/// Until when a server wants to be left alone, over restarts of this host: they are nothing to the server.
package struct KeptHolds: Sendable {
    private let upstream: Upstream
    private let store: PendingStore
    private let surroundings: Surroundings

    package init(_ upstream: Upstream, _ store: PendingStore, _ surroundings: Surroundings) {
        (self.upstream, self.store) = (upstream, store)
        self.surroundings = surroundings
    }

    private var setting: String { "not before \(upstream.bases.server)" }

    /// - Returns: whether the server still wants to be left alone with all but sign-ins.
    package func restore() -> Bool {
        guard let text = try? store.reader.setting(setting), let holds = Holds(text) else {
            return false
        }
        upstream.holds = holds
        return upstream.holds.api != nil
    }

    package func keep() async {
        do {
            var holds = upstream.holds
            holds.noted = surroundings.now
            let text = holds.text
            try await store.address.askRegardless { .set(setting, to: text, $0) }.get()
        } catch {
            surroundings.log.warning("A wait was not kept for a restart.", because: error)
        }
    }
}
