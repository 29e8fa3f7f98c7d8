import HTTP
import JSON
import System

/// Shows how the host stands to everybody who looks, and asks for it once for all of them; the more
/// there is to ask for, the less often.
actor StatusBoard {
    private let household: any Household
    private nonisolated let readiness: Readiness
    private nonisolated let timekeeper: any Timekeeper
    private var latest: (look: Look, until: Duration)?
    private var isLooking = false

    private static let period = Duration.seconds(1)
    /// A look lasts so many times as long as it took.
    private static let share = 20
    /// Looks without news after which a line is sent that clients skip.
    private static let patience = 15

    private struct Look {
        let snapshot: StatusSnapshot
        let text: String
    }

    init(_ household: any Household, _ readiness: Readiness, _ timekeeper: any Timekeeper) {
        self.household = household
        self.readiness = readiness
        self.timekeeper = timekeeper
    }

    /// A snapshot at once, and another whenever something has changed.
    nonisolated func events() -> Response {
        .events { [self] stream in
            var shown = ""
            var silence = 0
            while readiness.stage != .stopping {
                let text = await look().text
                if text != shown {
                    try await stream.send(Event(text, name: "status", retry: 2_000))
                    (shown, silence) = (text, 0)
                } else if silence == Self.patience {
                    try await stream.comment()
                    silence = 0
                }
                silence += 1
                try await timekeeper.sleep(for: Self.period)
            }
        }
    }

    func page() async -> Response { StatusPage.response(await look().snapshot) }

    private func look() async -> Look {
        let began = timekeeper.elapsed
        if let latest, isLooking || began < latest.until { return latest.look }
        isLooking = true
        defer { isLooking = false }
        let snapshot = await StatusSnapshot(of: household)
        let text = String(decoding: JSON.Raw(snapshot).bytes, as: UTF8.self)
        let look = Look(snapshot: snapshot, text: text)
        let took = timekeeper.elapsed - began
        latest = (look, began + max(Self.period / 2, took * Self.share))
        return look
    }
}
