internal import System
internal import Vault

/// What is done for the store by the clock and by nobody's wish.
public enum Chore: String, CaseIterable, Sendable {
    /// What is pending is copied, for the day on which the file is damaged.
    case copyPending
    /// Receipts are kept for a week after they have ended, and so is what was settled.
    case forgetReceipts

    var interval: Duration {
        switch self {
        case .copyPending, .forgetReceipts: .seconds(3_600)
        }
    }

    static let secondsOfReceipts: Int64 = 7 * 24 * 3_600
    /// A host that is told to end has ten seconds for all that it has to do.
    static let timeForLastCopy: Duration = .seconds(1)
}

/// How a chore ended.
public struct ChoreReport: Sendable {
    public let chore: Chore
    /// Nothing if it was done. It is tried again when it is due the next time.
    public let error: StoreError?
}

extension Store {
    /// Does the chore now and whenever it is due, until the task is cancelled.
    func keep(doing chore: Chore, reporting report: @Sendable (ChoreReport) -> Void) async {
        repeat {
            let error = await self.error(doing: chore)
            // Being stopped is no failure.
            if Task.isCancelled { return }
            report(ChoreReport(chore: chore, error: error))
        } while (try? await time.sleep(for: chore.interval)) != nil
    }

    /// Copies what is pending once more when all messages are answered, or the copy would lack what
    /// was edited last. If the time is too short for it, the copy of last time stays.
    func keepLastCopy(reporting report: @escaping @Sendable (ChoreReport) -> Void) async {
        guard directory != nil, !Task.isCancelled else { return }
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                let error = await self.error(doing: .copyPending)
                // That the time is over is no failure.
                if Task.isCancelled { return }
                report(ChoreReport(chore: .copyPending, error: error))
            }
            group.addTask { try? await self.time.sleep(for: Chore.timeForLastCopy) }
            await group.next()
            group.cancelAll()
        }
    }

    private func error(doing chore: Chore) async -> StoreError? {
        do throws(StoreError) {
            switch chore {
            case .copyPending: try await copyPending()
            case .forgetReceipts:
                try await forgetReceipts(before: now.advanced(bySeconds: -Chore.secondsOfReceipts))
            }
            return nil
        } catch {
            return error
        }
    }
}
