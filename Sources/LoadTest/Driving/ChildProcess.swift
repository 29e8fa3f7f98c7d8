import Glibc
import System

/// A program that runs beside this one, in a group of its own: what is typed at the terminal does not
/// reach it. It does not outlive this one, however this one ends.
final class ChildProcess: Sendable {
    let id: pid_t
    private let timekeeper: any Timekeeper
    private let isReaped = Lock(false)
    private let leash: Leash

    /// - Parameter output: The file that gets all that it says.
    init(
        _ program: String,
        _ arguments: [String],
        output: String,
        timekeeper: any Timekeeper
    ) throws(LoadFailure) {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        let leash = try Leash()
        posix_spawn_file_actions_adddup2(&actions, leash.end, 0)
        let flags = O_WRONLY | O_CREAT | O_APPEND
        posix_spawn_file_actions_addopen(&actions, 1, output, flags, 0o600)
        posix_spawn_file_actions_adddup2(&actions, 1, 2)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP))
        var words = ([program] + arguments).map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        var child = pid_t()
        var surroundings = Self.environment
        let code = posix_spawn(&child, program, &actions, &attributes, &words, &surroundings)
        guard code == 0 else {
            throw LoadFailure("\(program) cannot be started: \(String(cString: strerror(code))).")
        }
        id = child
        self.leash = leash
        self.timekeeper = timekeeper
        leash.fasten(to: child)
    }

    /// This one's, but for what would be settings of a host: those of a test are all said to it.
    private static var environment: [UnsafeMutablePointer<CChar>?] {
        var entries: [UnsafeMutablePointer<CChar>?] = []
        var place = environ
        while let entry = place.pointee {
            if strncmp(entry, settings, strlen(settings)) != 0 { entries.append(entry) }
            place += 1
        }
        return entries + [nil]
    }

    private static let settings = "HOLDFAST_"

    var isRunning: Bool {
        isReaped.withLock { isReaped in
            if isReaped { return false }
            var status: Int32 = 0
            isReaped = waitpid(id, &status, WNOHANG) != 0
            return !isReaped
        }
    }

    func signal(_ number: Int32) {
        isReaped.withLock { if !$0 { _ = Glibc.kill(id, number) } }
    }

    /// Has it end, at once if it does not heed the request in that time.
    func end(within patience: Duration) async {
        signal(SIGTERM)
        let deadline = timekeeper.elapsed + patience
        while isRunning, timekeeper.elapsed < deadline { await rest() }
        if isRunning { await killNow() }
    }

    /// Ends it as a loss of power would.
    func killNow() async {
        signal(SIGKILL)
        while isRunning { await rest() }
    }

    /// A cancelled caller waits as well, without resting: what was started is not left behind.
    private func rest() async {
        do throws(CancellationError) {
            try await timekeeper.sleep(for: .milliseconds(20))
        } catch {
            poll(nil, 0, 20)
        }
    }

    deinit {
        signal(SIGKILL)
        if !isReaped.withLock(\.self) {
            var status: Int32 = 0
            waitpid(id, &status, 0)
        }
    }
}

/// A pipe that is never written to. The kernel kills whoever it is fastened to when this program has
/// ended and with it the writing end, which needs nothing of either program. (What the kernel offers for
/// that outright, `PR_SET_PDEATHSIG`, comes when the thread ends that has started the child.)
private final class Leash: Sendable {
    /// What the child has as its standard input.
    let end: Int32
    private let hand: Int32

    init() throws(LoadFailure) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else {
            throw LoadFailure("No pipe can be made: \(String(cString: strerror(errno))).")
        }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        (end, hand) = (ends[0], ends[1])
    }

    func fasten(to child: pid_t) {
        _ = fcntl(end, F_SETOWN, child)
        _ = fcntl(end, Self.chooseSignal, SIGKILL)
        _ = fcntl(end, F_SETFL, O_ASYNC)
    }

    /// `F_SETSIG`, which Swift does not see.
    private static let chooseSignal: Int32 = 10

    deinit {
        close(end)
        close(hand)
    }
}

/// Why a load test cannot go on.
public struct LoadFailure: Error, CustomStringConvertible {
    public let description: String
    let obstacle: LoadReport.Obstacle
    /// Whether what was asked may have been done all the same.
    let isOutcomeUnknown: Bool

    public init(
        _ description: String,
        _ obstacle: LoadReport.Obstacle = .other,
        isOutcomeUnknown: Bool = false
    ) {
        self.description = description
        self.obstacle = obstacle
        self.isOutcomeUnknown = isOutcomeUnknown
    }
}
