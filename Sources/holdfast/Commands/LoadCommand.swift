import FoundationEssentials
import Glibc
import HTTP
import JSON
import LoadTest
import System

extension Command {
    /// Concurrent offline edits by many users, and whether all of them arrived.
    static let load = Command(
        name: "load",
        summary: "tests a host with many users' offline edits, and checks what became of each",
        operands: "[\(LoadProfile.Name.allCases.map(\.rawValue).joined(separator: "|"))]",
        choices: LoadProfile.Name.allCases.map(\.rawValue),
        flags: [
            Flag(name: "users", value: "N", help: "how many users (200)"),
            Flag(name: "items", value: "N", help: "items that each of them has at first (50)"),
            Flag(name: "edits", value: "N", help: "edits that each of them makes (20)"),
            Flag(
                name: "conflicts",
                value: "SHARE",
                help: "edited items that another device edits too, from 0 to 1 (0.1)"
            ),
            Flag(
                name: "offline-seconds",
                value: "S",
                help: "over which the edits are spread; 0 is as fast as they are taken (5)"
            ),
            Flag(name: "concurrency", value: "N", help: "requests at once (64)"),
            Flag(name: "seed", value: "N", help: "decides what is edited (1)"),
            Flag(name: "rounds", value: "N", help: "how often the server goes away (1)"),
            Flag(
                name: "host",
                value: "URL",
                help: "a running host on this machine, or embedded for one of its own (embedded)"
            ),
            Flag(name: "token", value: "T", help: "an admin token of that host"),
            Flag(name: "ops", value: "URL", help: "where that host shows its metrics"),
            Flag(name: "kill", help: "kills its own host amid the edits, and starts it again"),
            Flag(name: "report", value: "FILE", help: "gets the report as JSON"),
            Flag(name: "html", value: "FILE", help: "gets the report as a page with charts"),
            Flag(name: "json", help: "prints the report as JSON"),
        ],
        awaitsSignals: true,
        run: { invocation, console throws(Failure) in
            try await Load(invocation, console).run()
        }
    )
}

/// A load test as it was asked for.
private struct Load {
    let console: Console
    let invocation: Invocation
    let profile: LoadProfile
    let host: LoadRun.Host

    init(_ invocation: Invocation, _ console: Console) throws(Failure) {
        self.invocation = invocation
        self.console = console
        profile = try LoadProfile(invocation)
        host = try LoadRun.Host(invocation)
        if invocation.isOn("kill"), case .running = host {
            throw misuse("--kill is for an embedded host.")
        }
        let places = ["report", "html"].compactMap(invocation.value).map(Files.place(of:))
        if places.count == 2, places[0] == places[1] {
            throw misuse("--report and --html cannot be the same file.")
        }
    }

    func run() async throws(Failure) {
        try tryFiles()
        // The host's lines to the server, one for each user, end here.
        Descriptors.claim()
        let directory = try scratch()
        var settings = LoadRun.Settings(profile, host, directory: directory)
        settings.killsHost = invocation.isOn("kill")
        let announcer = Announcer(console)
        let (report, hindrance) = await play(LoadRun(settings, narrate: announcer.hear))
        announcer.finish()
        // One that runs already keeps nothing there.
        let isKept = if case .embedded = host { !report.isGood } else { false }
        if !isKept { try? FileManager.default.removeItem(atPath: directory) }
        let failures = report.failures(hindrance) + publish(report)
        for failure in failures.dropFirst() { console.complain(failure.message) }
        if isKept { console.complain("What the host left is in \(directory).") }
        if let first = failures.first { throw first }
    }

    private func scratch() throws(Failure) -> String {
        let parent = Environment.current["TMPDIR"].flatMap { $0.isEmpty ? nil : $0 } ?? "/tmp"
        var template = Array("\(parent)/holdfast-load-XXXXXX".utf8CString)
        guard let path = mkdtemp(&template) else {
            throw Failure(status: .failure, message: "No directory can be made in \(parent).")
        }
        return String(cString: path)
    }

    /// What cannot be written is better known before an hour of load than after it.
    private func tryFiles() throws(Failure) {
        for flag in ["report", "html"] {
            guard let file = invocation.value(flag) else { continue }
            do throws(SystemError) {
                try Files.tryDelivering(to: file)
            } catch {
                throw Failure(unwritable: file, error)
            }
        }
    }

    /// A signal ends the test; what is known by then is reported. Another one ends the departure.
    private func play(_ run: LoadRun) async -> (report: LoadReport, hindrance: String?) {
        let interruptions = Interruptions()
        return await withTaskGroup(of: Void.self) { tasks in
            tasks.addTask { await interruptions.listen() }
            let report = await interruptions.during { await run.run() }
            let hindrance = await interruptions.during { await run.clear() }
            tasks.cancelAll()
            return (report ?? LoadReport(profile, startedAt: ""), hindrance.flatMap(\.self))
        }
    }

    /// The terminal comes first: what took an hour to find out is not lost with a disk that is full.
    ///
    /// - Returns: What could not be written.
    private func publish(_ report: LoadReport) -> [Failure] {
        let json = Array(JSON.Raw(report, capacity: 1 << 20).bytes) + [UInt8(ascii: "\n")]
        if invocation.isOn("json") {
            console.answer(String(decoding: json.dropLast(), as: UTF8.self))
        } else {
            console.answer(ReportTable(report).text)
        }
        return [
            invocation.value("report").flatMap { write(json, to: $0) },
            invocation.value("html").flatMap { write(Array(ReportPage(report).html.utf8), to: $0) },
        ].compactMap(\.self)
    }

    private func write(_ bytes: [UInt8], to file: String) -> Failure? {
        do throws(SystemError) {
            try Files.deliver(bytes, to: file, mode: 0o644)
            return nil
        } catch {
            return Failure(unwritable: file, error)
        }
    }
}

extension Failure {
    fileprivate init(unwritable file: String, _ error: SystemError) {
        self.init(status: .failure, message: "Cannot write \(file): \(error)")
    }
}

/// Signals to end, each of which is for what is under way when it comes.
///
/// There is one listener for all of them: with another one for each piece of work, the one before
/// could take the signal that is meant for it.
private final class Interruptions: Sendable {
    private let current = Lock<AsyncStream<Void>.Continuation?>(nil)

    func listen() async {
        let outlivesHangUp = Signals.isIgnored(.hangUp)
        for await signal in Signals.stream() where signal != .hangUp || !outlivesHangUp {
            current.withLock { $0 }?.finish()
        }
    }

    /// Has something done, and cancels it when a signal comes.
    func during<Result: Sendable>(_ work: @escaping @Sendable () async -> Result) async -> Result? {
        let (silence, signal) = AsyncStream.makeStream(of: Void.self)
        current.withLock { $0 = signal }
        return await withTaskGroup(of: Result?.self) { tasks in
            tasks.addTask { await work() }
            tasks.addTask {
                for await _ in silence {}
                return nil
            }
            var result: Result?
            while result == nil, let next = await tasks.next() {
                result = next
                tasks.cancelAll()
            }
            return result
        }
    }
}

/// Tells where the test is: in one line that changes, or in a line now and then.
private final class Announcer: Sendable {
    private let console: Console
    private let last = Lock((phase: "", seconds: 0.0))
    private let timekeeper = SystemTimekeeper()

    init(_ console: Console) {
        self.console = console
    }

    func hear(_ progress: LoadRun.Progress) {
        let words = progress.text.isEmpty ? progress.phase : "\(progress.phase): \(progress.text)"
        if let showProgress = console.showProgress { return showProgress(words) }
        let now = timekeeper.elapsed.inSeconds
        let isDue = last.withLock { last in
            let isDue = last.phase != progress.phase || now - last.seconds >= 10
            if isDue { last = (progress.phase, now) }
            return isDue
        }
        if isDue { console.complain(words) }
    }

    func finish() { console.showProgress?("") }
}

extension LoadReport {
    /// Why the program ends as if it had failed, if it does: the test itself, and accounts of it that are
    /// still where they were guests.
    func failures(_ hindrance: String?) -> [Failure] {
        [
            isGood ? nil : Failure(status: ending.status, message: conclusion),
            hindrance.map { Failure(status: .failure, message: $0) },
        ].compactMap(\.self)
    }

    private var conclusion: String {
        switch ending {
        case .completed: "Not every check holds: \(failureCount) failures."
        case .interrupted: "The test was ended before it was done."
        case .failed(let reason, _): reason
        }
    }
}

extension LoadReport.Ending {
    fileprivate var status: ExitStatus {
        switch self {
        case .completed, .interrupted, .failed(_, .other): .failure
        case .failed(_, .hostIsAway): .hostNotRunning
        case .failed(_, .notAllowed): .notAllowed
        }
    }
}

extension LoadRun.Host {
    fileprivate init(_ invocation: Invocation) throws(Failure) {
        let url = invocation.value("host") ?? "embedded"
        guard url != "embedded" else {
            if let stray = ["token", "ops"].first(where: invocation.isOn) {
                throw misuse("--\(stray) is of a host that runs already: name it with --host URL.")
            }
            var path = [CChar](repeating: 0, count: 4_096)
            let length = readlink("/proc/self/exe", &path, path.count - 1)
            let bytes = path.prefix(max(0, length)).map { UInt8(bitPattern: $0) }
            self = .embedded(program: String(decoding: bytes, as: UTF8.self))
            return
        }
        if let flaw = Client.flaw(ofURL: url) {
            throw misuse("--host wants a URL, or embedded: \(flaw).")
        }
        if let ops = invocation.value("ops"), let flaw = Client.flaw(ofURL: ops) {
            throw misuse("--ops wants a URL: \(flaw).")
        }
        guard let token = invocation.value("token") else {
            throw misuse("--host wants a --token as well.")
        }
        self = .running(url: url, token: token, ops: invocation.value("ops"))
    }
}

extension LoadProfile {
    /// The profile that was named, changed by the flags that were given.
    fileprivate init(_ invocation: Invocation) throws(Failure) {
        guard invocation.operands.count < 2 else { throw misuse("One profile at a time.") }
        if let word = invocation.operands.first {
            guard let name = LoadProfile.Name(rawValue: word) else {
                let names = LoadProfile.Name.allCases.map(\.rawValue).joined(separator: ", ")
                throw misuse("There is no profile '\(word)'. There are: \(names).")
            }
            self.init(name)
        } else {
            self.init()
        }
        users = try invocation.number("users") ?? users
        items = try invocation.number("items") ?? items
        edits = try invocation.number("edits") ?? edits
        concurrency = try invocation.number("concurrency") ?? concurrency
        seed = try invocation.number("seed") ?? seed
        rounds = try invocation.number("rounds") ?? rounds
        conflicts = try invocation.fraction("conflicts") ?? conflicts
        offlineSeconds = try invocation.fraction("offline-seconds") ?? offlineSeconds
        if let flaw { throw misuse(flaw) }
    }
}

extension Invocation {
    fileprivate func number(_ flag: String) throws(Failure) -> Int? {
        guard let text = value(flag) else { return nil }
        guard let number = Int(text), number >= 0 else {
            throw misuse("--\(flag) wants a whole number, not '\(text)'.")
        }
        return number
    }

    fileprivate func fraction(_ flag: String) throws(Failure) -> Double? {
        guard let text = value(flag) else { return nil }
        guard let number = Double(text), number.isFinite, number >= 0 else {
            throw misuse("--\(flag) wants a number, not '\(text)'.")
        }
        return number
    }
}

private func misuse(_ message: String) -> Failure {
    Failure(status: .usage, message: message)
}
