internal import Glibc
internal import Messaging
internal import System

/// What the resolver writes down, through the store's mailbox.
///
/// It goes on in spite of cancellation: what upstream has done is done, and whoever is stopped before
/// that is written down would only have to find it out again.
struct Ledger: Sendable {
    let store: Address<PendingStore.Message>
    let timekeeper: any Timekeeper

    func ask<Value: Sendable>(
        _ message: (PendingStore.Answer<Value>) -> PendingStore.Message
    ) async throws(StoreError) -> Value {
        let answer: Result<Value, StoreError>
        do throws(Undelivered) {
            answer = try await store.askRegardless(message)
        } catch {
            throw .system(SystemError("ask the store (\(error))", code: ECANCELED))
        }
        return try answer.get()
    }

    /// Asks until it is written down, and gives up after some seconds: then what was sent is found
    /// upstream by its ciphertext.
    func insist<Value: Sendable>(
        _ message: (PendingStore.Answer<Value>) -> PendingStore.Message
    ) async throws(StoreError) -> Value {
        for pause in Self.pauses {
            do throws(StoreError) {
                return try await ask(message)
            } catch {
                guard (try? await timekeeper.sleep(for: pause)) != nil else { break }
            }
        }
        return try await ask(message)
    }

    private static let pauses: [Duration] = [.milliseconds(50), .milliseconds(500), .seconds(2)]
}
