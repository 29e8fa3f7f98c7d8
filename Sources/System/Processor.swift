import Glibc

/// What the process has had of the machine's processors.
public enum Processor {
    /// Of all of them together, since the process began.
    public static var timeSpent: Duration {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}
