import HTTP
import System

/// The network, which can be taken away for a drill.
final class DrillNetwork: Network {
    private let network: any Network
    private let drill = Lock(false)
    private let lines = Lines()

    init(_ network: any Network) {
        self.network = network
    }

    var isDrill: Bool {
        get { drill.withLock { $0 } }
        set {
            drill.withLock { $0 = newValue }
            // What upstream says on its own is not to be heard either.
            if newValue { lines.hangUp() }
        }
    }

    private func requireNetwork() throws(NetworkFailure) {
        if isDrill { throw NetworkFailure(.lost, "the network is switched off for a drill") }
    }

    func send(_ request: Client.Request) async throws(NetworkFailure) -> NetworkAnswer {
        try requireNetwork()
        return try await network.send(request)
    }

    func open(_ request: Client.Request) async throws(NetworkFailure) -> StreamedAnswer {
        try requireNetwork()
        return try await network.open(request)
    }

    func openLine(
        _ url: String,
        headers: Headers
    ) async throws(NetworkFailure) -> any HubLine {
        try requireNetwork()
        let line = lines.add(try await network.openLine(url, headers: headers))
        // A drill may have begun meanwhile.
        if isDrill { line.hangUp() }
        return line
    }

    /// The lines that are open.
    private final class Lines: Sendable {
        private let present = Lock<(next: Int, lines: [Int: any HubLine])>((0, [:]))

        func add(_ line: any HubLine) -> Line {
            let number = present.withLock { present in
                present.next += 1
                present.lines[present.next] = line
                return present.next
            }
            return Line(line) { self.present.withLock { $0.lines[number] = nil } }
        }

        func hangUp() {
            for line in present.withLock({ Array($0.lines.values) }) { line.hangUp() }
        }
    }

    /// A line that tells when nobody has it any more.
    private final class Line: HubLine {
        private let line: any HubLine
        private let end: @Sendable () -> Void

        init(_ line: any HubLine, onEnd end: @escaping @Sendable () -> Void) {
            (self.line, self.end) = (line, end)
        }

        func next() async throws(NetworkFailure) -> [UInt8]? { try await line.next() }
        func send(text: String) async throws(NetworkFailure) { try await line.send(text: text) }
        func post(_ bytes: [UInt8]) { line.post(bytes) }
        func hangUp() { line.hangUp() }

        deinit { end() }
    }
}
