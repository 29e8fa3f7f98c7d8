import Glibc

/// Prints what things cost, each beside its ceiling taken in the same run.
///
/// `benchmarks [--quick] [--pairs N] [NAME...]`; without a name, all of them. `--quick` only shows
/// that each still runs; its figures mean nothing.
@main
struct Benchmarks {
    private static let all: [(name: String, run: @Sendable (Bench) async throws -> Void)] = [
        ("messaging", Benchmarks.messaging),
        ("metrics", MetricsBenchmarks.run),
        ("json", JSONBenchmarks.run),
        ("crypto", cryptoBenchmarks),
        ("sqlite", SQLiteBenchmarks.run),
        ("http-client", HTTPClientBenchmarks.run),
        ("store", StoreBenchmarks.run),
        ("items", ItemBenchmarks.run),
        ("http-server", HTTPServerBenchmarks.run),
        ("upstream", UpstreamBenchmarks.run),
        ("mesh", MeshBenchmarks.run),
        ("embedded-upstream", EmbeddedUpstreamBenchmarks.run),
    ]

    static func main() async throws {
        let options: Options
        do {
            options = try Options(CommandLine.arguments.dropFirst(), known: all.map(\.name))
        } catch {
            complain("\(error)\n\(usage)\n")
            exit(64)
        }
        let bench = Bench(pairs: options.pairs, isQuick: options.isQuick)
        for (name, run) in all where options.names.isEmpty || options.names.contains(name) {
            bench.title(name)
            try await run(bench)
        }
    }

    private static var usage: String {
        "benchmarks [--quick] [--pairs N] [\(all.map(\.name).joined(separator: " | "))]…"
    }

    private static func complain(_ text: String) {
        var text = text
        text.withUTF8 { _ = write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }
}

struct Options {
    var isQuick = false
    var pairs = 5
    var names: Set<String> = []

    init(_ arguments: some Sequence<String>, known: [String]) throws(UsageError) {
        var arguments = Array(arguments)[...]
        while let argument = arguments.popFirst() {
            switch argument {
            case "--quick":
                isQuick = true
                pairs = 1
            case "--pairs":
                guard let text = arguments.popFirst(), let number = Int(text), number > 0 else {
                    throw UsageError(description: "--pairs wants a number above 0.")
                }
                pairs = number
            case _ where known.contains(argument):
                names.insert(argument)
            default:
                throw UsageError(description: "There is no “\(argument)” to measure.")
            }
        }
    }
}

struct UsageError: Error, CustomStringConvertible {
    let description: String
}
