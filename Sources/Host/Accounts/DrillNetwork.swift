public import HTTP
import System

/// The network, which can be taken away for a drill.
public final class DrillNetwork: Network {
    private let network: any Network
    private let drill = Lock(false)

    public init(_ network: any Network) {
        self.network = network
    }

    public var isDrill: Bool {
        get { drill.withLock { $0 } }
        set { drill.withLock { $0 = newValue } }
    }

    private func requireNetwork() throws(NetworkFailure) {
        if isDrill { throw NetworkFailure(.lost, "the network is switched off for a drill") }
    }

    public func send(_ request: Client.Request) async throws(NetworkFailure) -> NetworkAnswer {
        try requireNetwork()
        return try await network.send(request)
    }

    public func open(_ request: Client.Request) async throws(NetworkFailure) -> StreamedAnswer {
        try requireNetwork()
        return try await network.open(request)
    }

    public func openLine(
        _ url: String,
        headers: Headers
    ) async throws(NetworkFailure) -> any HubLine {
        try requireNetwork()
        return try await network.openLine(url, headers: headers)
    }
}
