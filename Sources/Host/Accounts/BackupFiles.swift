import Logging
import Sync
import System
import Vault

/// Gives backup copies the files of the items that they were made of. It works whenever a sync has
/// ended; nobody waits for it, and whatever becomes of a file, item and copy stay as they are.
final class BackupFiles: Sendable {
    private let userID: String
    private let office: Office
    /// Gives the file to its copy, and says whether the copy is still there.
    private let copy: @Sendable (BackupFile) async throws(DeskRefusal) -> Bool
    private let pace = Lock(Pace.idle)

    private enum Pace {
        case idle, busy
        /// Another sync has ended meanwhile, so there may be something that was not seen.
        case again
    }

    init(
        of userID: String,
        _ office: Office,
        copying copy: @escaping @Sendable (BackupFile) async throws(DeskRefusal) -> Bool
    ) {
        self.userID = userID
        self.office = office
        self.copy = copy
    }

    /// Copies the files that are due. If somebody is at it already, they look again when they are done.
    ///
    /// - Returns: How long it is until something is to be tried again. What could not be tried now, because the vault
    ///   is locked or the disk is full, waits for the next sync.
    func work() async -> Duration? {
        let begins = pace.withLock { pace in
            defer { pace = pace == .idle ? .busy : .again }
            return pace == .idle
        }
        guard begins else { return nil }
        repeat { await look() } while looksAgain()
        let now = office.surroundings.now
        return present.filter { !$0.due.hasCome(at: now) }.map { $0.due - now }.min()
    }

    private var present: [BackupFile] {
        (try? office.store.reader.backupFiles(of: userID)) ?? []
    }

    private func looksAgain() -> Bool {
        pace.withLock { pace in
            defer { pace = pace == .again ? .busy : .idle }
            return pace == .again
        }
    }

    private func look() async {
        let now = office.surroundings.now
        for file in present where file.due.hasCome(at: now) {
            guard !Task.isCancelled, await work(on: file) else { return }
        }
    }

    /// - Returns: Whether there is any use in going on.
    private func work(on file: BackupFile) async -> Bool {
        do throws(DeskRefusal) {
            if try await copy(file) { office.surroundings.metrics.copiedFile(.copied) }
        } catch {
            switch error {
            case .locked, .noAccount, .busy, .noRoom, .store, .unsettled: return false
            case .upstream(let setback) where setback.reason == .cancelled: return false
            case .upstream(let setback) where file.failures < Self.borne(setback.failureClass):
                await postpone(file)
                return false
            // The account may have another key than what is known here of the item.
            case .unfit(.unreadable) where file.failures < Self.borne(.transient):
                await postpone(file)
                return true
            // The item may have gone first, and its files with it.
            case .notFound, .upstream, .unfit, .notAllowed, .wrongPassword, .needsSecondFactor,
                .needsNewDeviceCode:
                giveUp(file, error)
            }
        }
        let _: Void? = try? await office.ask { .files(.forget(file, $0)) }
        return true
    }

    private func postpone(_ file: BackupFile) async {
        let chance = office.surroundings.chance.fraction()
        let wait = Backoff.wait(after: Int64(file.failures + 1), chance: chance)
        let due = office.surroundings.now + wait
        let _: Void? = try? await office.ask { .files(.postpone(file, until: due, $0)) }
    }

    private func giveUp(_ file: BackupFile, _ error: DeskRefusal) {
        office.surroundings.metrics.copiedFile(.failed)
        office.surroundings.log.error(
            "A backup copy does not get a file of its item.",
            because: error,
            ["account": userID, "cipher": file.backupID]
        )
    }

    /// So often it may fail and is tried again.
    private static func borne(_ failure: FailureClass) -> Int {
        switch failure {
        case .permanent: 1
        case .transient, .batch: 100
        }
    }
}
