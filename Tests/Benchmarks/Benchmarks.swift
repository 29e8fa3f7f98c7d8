import FoundationEssentials

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
    ]

    static func main() async throws {
        let options = try Options(CommandLine.arguments.dropFirst())
        let bench = Bench(pairs: options.pairs, isQuick: options.isQuick)
        for (name, run) in all where options.names.isEmpty || options.names.contains(name) {
            bench.title(name)
            try await run(bench)
        }
    }
}

struct Options {
    var isQuick = false
    var pairs = 5
    var names: Set<String> = []

    init(_ arguments: some Sequence<String>) throws {
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
            case _ where argument.hasPrefix("-"):
                throw UsageError(description: "Unknown flag \(argument).")
            default:
                names.insert(argument)
            }
        }
    }
}

struct UsageError: Error, CustomStringConvertible {
    let description: String
}
