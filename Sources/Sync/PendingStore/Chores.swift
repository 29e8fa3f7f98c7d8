internal import System
public import Vault

/// What is done for the store by the clock and by nobody's wish.
public enum Chore: String, CaseIterable, Sendable {
    /// What is pending is copied, for the day on which the file is damaged.
    case copyPending
    /// Receipts that have ended are kept for a week, and so is what was settled.
    case forgetReceipts

    var interval: Duration {
        switch self {
        case .copyPending, .forgetReceipts: .seconds(3_600)
        }
    }

    static let secondsOfReceipts: Int64 = 7 * 24 * 3_600
}

/// How a chore ended.
public struct ChoreReport: Sendable {
    public let chore: Chore
    public let moment: Moment
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
            report(ChoreReport(chore: chore, moment: now, error: error))
        } while (try? await time.sleep(for: chore.interval)) != nil
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
