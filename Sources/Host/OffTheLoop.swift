/// Does what takes a while, where whoever asks may be the loop that answers everybody else.
func offTheLoop<Value: Sendable, Failure: Error>(
    _ body: @Sendable () async throws(Failure) -> Value
) async throws(Failure) -> Value {
    try await withTaskExecutorPreference(globalConcurrentExecutor) { () async throws(Failure) in
        try await body()
    }
}
