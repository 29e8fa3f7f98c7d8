import EmbeddedUpstream
import FoundationEssentials
public import HTTP
public import Host
import System
public import Vault

/// The way to the embedded upstream, without a socket: it notes what goes over it and can be cut.
public final class Wire: Network {
    private struct State {
        var isCut = false
        var lines: [String] = []
        var bodies: [[UInt8]] = []
        var revisions = 0
        var accountRefusal: Setback?
        var interlude: Interlude?
    }

    private struct Interlude {
        let ending: String
        let isLate: Bool
        let body: @Sendable () async throws -> Void
    }

    private let transport: MemoryTransport
    private let time: any Timekeeper
    private let state = Lock(State())

    init(_ handler: @escaping Handler, _ time: any Timekeeper) {
        transport = MemoryTransport(handler: handler)
        self.time = time
    }

    /// Whether every request is refused before it has left.
    public var isCut: Bool {
        get { state.withLock(\.isCut) }
        set { state.withLock { $0.isCut = newValue } }
    }

    /// What was asked since ``forget()``, as `PUT /api/ciphers/1`; what belongs to a session is left
    /// out, and so is the account's revision, which goes before every sync.
    public var requests: [String] { state.withLock(\.lines) }
    /// What went along with each of ``requests``.
    public var bodies: [[UInt8]] { state.withLock(\.bodies) }

    /// How often the account's revision was asked for since then.
    public var revisionsAsked: Int { state.withLock(\.revisions) }

    /// What whoever asks hears instead of that it is still the same account.
    public var accountRefusal: Setback? {
        get { state.withLock(\.accountRefusal) }
        set { state.withLock { $0.accountRefusal = newValue } }
    }

    public func forget() {
        state.withLock { ($0.lines, $0.bodies, $0.revisions) = ([], [], 0) }
    }

    /// Where the account is asked after, which goes over no wire here; see ``interrupt(_:isCarriedOut:_:)``.
    public static let account = "the account"

    func askForAccount() async throws(Setback) {
        if let refusal = accountRefusal { throw refusal }
        let interlude = takeInterlude(before: Self.account)
        do { try await interlude?.body() } catch {
            throw Setback(.unreachable(.tried("\(error)")), operation: "look at the account")
        }
    }

    private func takeInterlude(before path: String) -> Interlude? {
        state.withLock { state in
            guard let interlude = state.interlude, path.hasSuffix(interlude.ending) else {
                return nil
            }
            return state.interlude.take()
        }
    }

    /// Lets that happen right before the next request whose path ends so, or right before its answer.
    public func interrupt(
        _ ending: String,
        isCarriedOut: Bool = false,
        _ body: @escaping @Sendable () async throws -> Void
    ) {
        let interlude = Interlude(ending: ending, isLate: isCarriedOut, body: body)
        state.withLock { $0.interlude = interlude }
    }

    public func send(_ request: Client.Request) async throws(NetworkFailure) -> NetworkAnswer {
        let path = "/" + request.url.split(separator: "/", maxSplits: 2).dropFirst(2).joined()
        let body: [UInt8] = if case .bytes(let bytes) = request.body { bytes } else { [] }
        let isCut = state.withLock { state in
            guard !state.isCut else { return true }
            let isRevision = path.hasSuffix("/revision-date")
            if isRevision { state.revisions += 1 }
            let isNoted = !path.hasPrefix("/identity") && !isRevision
            if isNoted {
                state.lines.append("\(request.method) \(path.prefix { $0 != "?" })")
                state.bodies.append(body)
            }
            return false
        }
        if isCut { throw NetworkFailure(.lost, "the wire is cut") }
        let interlude = takeInterlude(before: path)
        do {
            if interlude?.isLate == false { try await interlude?.body() }
            let answer = try await transport.send(
                request.method,
                path,
                headers: request.headers,
                body: body
            )
            if interlude?.isLate == true { try await interlude?.body() }
            var headers = answer.headers
            headers["Date"] = httpDate(Int64(time.now.timeIntervalSince1970.rounded(.down)))
            return NetworkAnswer(
                status: answer.status.rawValue,
                headers: headers,
                body: answer.body
            )
        } catch {
            throw NetworkFailure(.lost, "the connection was lost", isOutcomeUnknown: true)
        }
    }

    public func open(_ request: Client.Request) async throws(NetworkFailure) -> StreamedAnswer {
        let answer = try await send(request)
        let rest = Lock<[UInt8]?>(answer.body)
        return StreamedAnswer(status: answer.status, headers: answer.headers) {
            rest.withLock { $0.take() }
        }
    }

    public func openLine(
        _ url: String,
        headers: Headers
    ) async throws(NetworkFailure) -> any HubLine {
        throw NetworkFailure(.lost, "there is no hub without a socket")
    }
}
