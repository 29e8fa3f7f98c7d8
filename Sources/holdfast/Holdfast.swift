import Glibc
import System

/// Parse, call, print.
@main
struct Holdfast {
    static let version = "0.1.0"
    static let commands: [Command] = [
        .serve, .demo, .upstream, .load, .simulate, .login, .logout, .unlock, .lock, .sync, .status,
        .accounts, .list, .get, .create, .edit, .delete, .restore, .move, .generate, .pending,
        .token, .verify, .completions, .manual,
    ]

    /// Synchronous, because an asynchronous `main` would let signals through that are blocked.
    static func main() {
        Files.holdStandardStreams()
        let words = Array(CommandLine.arguments.dropFirst())
        let command = commands.first { $0.name == words.first }
        if command?.awaitsSignals == true {
            Signals.block()
        } else {
            signal(SIGPIPE, command?.endsUnheard == true ? SIG_DFL : SIG_IGN)
        }
        let status = runBlocking {
            await Holdfast(commands: commands, console: .terminal()).run(words)
        }
        exit(status.rawValue)
    }

    let commands: [Command]
    let console: Console

    func run(_ words: [String]) async -> ExitStatus {
        do {
            try await carryOut(try CommandLineParser(commands: commands).parse(words))
            guard let loss = console.loss() else { return .success }
            console.complain("holdfast: \(loss)")
            return .failure
        } catch {
            console.complain("holdfast: \(error.message)")
            return error.status
        }
    }

    private func carryOut(_ request: Request) async throws(Failure) {
        switch request {
        case .version:
            console.answer("holdfast \(Self.version)")
        case .help(let command):
            console.answer(Help(commands: commands).text(command))
        case .run(let command, let invocation):
            try await command.run(invocation, console)
        }
    }
}
