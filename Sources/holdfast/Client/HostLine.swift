import Glibc
import HTTP
import Host
import JSON

/// The line to a running host, over the socket that only its own user can use.
struct HostLine: Sendable {
    private let socket: String
    /// How the socket is reached.
    private let way: String
    /// What stands before a path that is about an account.
    private let prefix: String
    private let client: Client
    /// For how long a host may say nothing that is asked for what it has here.
    private let patience: Duration

    static let flags = [
        Flag(name: "state", value: "DIR", help: "the host's state directory (HOLDFAST_STATE)"),
        Flag(name: "socket", value: "PATH", help: "its socket, if that is elsewhere"),
        Flag(name: "json", help: "answers in JSON"),
    ]
    /// Those of commands that are about one account.
    static let accountFlags =
        flags + [
            Flag(name: "account", value: "ID", help: "which account, if it is not the default one")
        ]

    init(_ invocation: Invocation, patience: Duration = .seconds(30)) throws(Failure) {
        let standard = HostSettings.socket(
            state: invocation.value("state"),
            environment: Environment.current
        )
        guard let socket = invocation.value("socket") ?? standard else {
            throw Failure(
                status: .usage,
                message: "There is no home directory. Say where the host is: --state DIR."
            )
        }
        self.socket = socket
        way = try Self.way(to: socket)
        self.patience = patience
        prefix = invocation.value("account").map { "/accounts/\(Percent.encode($0))" } ?? ""
        do {
            client = try Client(configuration: Self.configuration)
        } catch {
            throw Failure(status: .failure, message: error.description)
        }
    }

    /// An address holds less than a state directory may be deep: such a path begins at its directory, which stays open
    /// for as long as this command runs.
    private static func way(to socket: String) throws(Failure) -> String {
        guard socket.utf8.count > longestAddress else { return socket }
        let slash = socket.lastIndex(of: "/") ?? socket.startIndex
        let directory = open(String(socket[...slash]), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard directory >= 0 else { throw notRunning(at: socket) }
        let way = "/proc/self/fd/\(directory)\(socket[slash...])"
        guard way.utf8.count <= longestAddress else {
            throw Failure(
                status: .hostNotRunning,
                message: "No host can be there: the name of \(socket) is too long for a socket."
            )
        }
        return way
    }

    /// Its end is marked.
    private static let longestAddress = MemoryLayout.size(ofValue: sockaddr_un().sun_path) - 1

    /// A vault may be large and a first sync long; the host has limits of its own.
    private static var configuration: Client.Configuration {
        var configuration = Client.Configuration()
        configuration.bodyLimit = 1 << 30
        configuration.deadlines.total = .seconds(900)
        configuration.deadlines.stall = .seconds(600)
        return configuration
    }

    /// To be asked before a person is asked for anything: whether a host may be there.
    func requireHost() throws(Failure) {
        guard access(socket, F_OK) != 0, errno == ENOENT || errno == ENOTDIR else { return }
        throw notRunning
    }

    private var notRunning: Failure { Self.notRunning(at: socket) }

    private static func notRunning(at socket: String) -> Failure {
        Failure(
            status: .hostNotRunning,
            message: "No host is running at \(socket). Start one with 'holdfast serve'."
        )
    }

    /// Asks about an account: the one that was named, or the default one.
    func ask(
        _ method: HTTP.Method = .get,
        _ path: String,
        _ query: [(name: String, value: String)] = [],
        body: [UInt8]? = nil
    ) async throws(Failure) -> Answer {
        do throws(Failure) {
            return try await askHost(method, prefix + path, query, body: body)
        } catch {
            throw error.sayingFlags
        }
    }

    /// Asks about the host itself.
    ///
    /// - Parameter takesLong: Whether the host may say nothing for minutes. What is to be done may take until the
    ///   server has answered, or longer; what is only looked up does not.
    func askHost(
        _ method: HTTP.Method = .get,
        _ path: String,
        _ query: [(name: String, value: String)] = [],
        body: [UInt8]? = nil,
        takesLong: Bool? = nil
    ) async throws(Failure) -> Answer {
        let pairs = query.map { "\(Percent.encode($0.name))=\(Percent.encode($0.value))" }
        let target = path + (pairs.isEmpty ? "" : "?" + pairs.joined(separator: "&"))
        var request = Client.Request(method, "http://localhost\(target)", operation: "ask the host")
        request.socketPath = way
        if !(takesLong ?? (method != .get)) {
            var deadlines = Self.configuration.deadlines
            deadlines.stall = patience
            request.deadlines = deadlines
        }
        if let body {
            request.headers["Content-Type"] = "application/json"
            request.body = .bytes(body)
        }
        do {
            return try Answer(try await client.send(request))
        } catch let failure as Failure {
            throw failure
        } catch {
            throw failure(error)
        }
    }

    private func failure(_ error: any Error) -> Failure {
        let isForeign = access(socket, W_OK) != 0 && errno == EACCES
        switch (error as? ClientError)?.reason {
        // Whoever may not open the socket hears that this machine cannot do it.
        case .unreachable where isForeign, .local where isForeign:
            return Failure(
                status: .notAllowed,
                message: "The socket \(socket) belongs to another user. Ask as that user."
            )
        case .unreachable(let code): return failure(toReach: code)
        case .timedOut: return Failure(status: .failure, message: "The host does not answer.")
        default: return Failure(status: .failure, message: String(describing: error))
        }
    }

    /// - Parameter code: The system's reason. To the client a connection that ends at once is none, and then
    ///   there is no reason; but somebody has ended it.
    func failure(toReach code: Int32) -> Failure {
        guard ![ENOENT, ENOTDIR, ECONNREFUSED].contains(code) else { return notRunning }
        return Failure(
            status: .failure,
            message: "The host lets nobody in at the moment. Try again, or see why in its log."
        )
    }
}

/// What the host answered, if it did what it was asked.
struct Answer: Sendable {
    let headers: Headers
    /// The whole answer; its envelope, if it has one.
    let document: JSON.Document

    var data: JSON.Value? { document.root["data"] }

    init(_ response: Client.Response) throws(Failure) {
        headers = response.headers
        guard let document = try? JSON.Document(response.body) else {
            throw Failure(
                refusedWith: response.status,
                String(decoding: response.body, as: UTF8.self)
            )
        }
        self.document = document
        guard document.root["success"]?.bool == true else {
            let message = document.root["message"]?.string ?? "The host refused."
            var failure = Failure(refusedWith: response.status, message)
            failure.question = Failure.Question(document.root)
            throw failure
        }
    }
}

extension Failure.Question {
    fileprivate init?(_ answer: JSON.Value) {
        if let providers = answer["twoFactorProviders"]?.array {
            self = .secondFactor(providers.compactMap(\.int))
        } else if answer["needsNewDeviceOtp"]?.bool == true {
            self = .newDeviceCode
        } else {
            return nil
        }
    }
}

extension Failure {
    /// The host says what programs add to an address; here that is a flag.
    var sayingFlags: Failure {
        var message = message.replacing("?discardPending=true", with: "--discard-pending")
        message.replace(DeskRefusal.wayToName, with: Self.wayToName)
        return Failure(status: status, message: message, question: question)
    }

    /// How an account is named.
    static let wayToName = "Say which account: --account ID."

    /// The host's own words, on as many lines as they have.
    fileprivate init(refusedWith status: Status, _ message: String) {
        let isNotAllowed = status == .unauthorized || status == .forbidden
        self.init(
            status: isNotAllowed ? .notAllowed : .failure,
            message: message.isEmpty ? "The host answered \(status)." : message
        )
    }
}
