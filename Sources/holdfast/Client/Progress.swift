import System

extension Console {
    /// Does something that may take long, and says so once it takes longer than a second.
    func waiting<Result: Sendable>(
        for words: String,
        _ timekeeper: any Timekeeper = SystemTimekeeper(),
        _ body: () async throws(Failure) -> Result
    ) async throws(Failure) -> Result {
        // It is cancelled, and has cleared its line, when the scope is left.
        async let _: Void = tick(words, timekeeper)
        return try await body()
    }

    private func tick(_ words: String, _ timekeeper: any Timekeeper) async {
        guard let showProgress else { return }
        var seconds = 0
        while (try? await timekeeper.sleep(for: .seconds(1))) != nil {
            seconds += 1
            showProgress("\(words) \(seconds) s")
        }
        if seconds > 0 { showProgress("") }
    }
}
