import HTTP
import JSON

extension Command {
    static let login = Command(
        name: "login",
        summary: "signs an account in and fetches its vault",
        operands: "EMAIL",
        flags: HostLine.flags + PasswordSource.flags + [
            Flag(
                name: "server",
                value: "URL",
                help: "the account's server (the host's own choice)"
            ),
            Flag(name: "default", help: "makes it the account that is meant when none is named"),
            Flag(name: "client-id", value: "ID", help: "the API key's id, to sign in with that"),
            Flag(name: "client-secret-env", value: "NAME", help: "the variable with its secret"),
            Flag(
                name: "two-factor-token",
                value: "CODE",
                help: "of the second step (asked for at a terminal if there is one)"
            ),
            Flag(name: "two-factor-provider", value: "N", help: "which second step (as in bw)"),
            Flag(
                name: "new-device-code",
                value: "CODE",
                help: "what the server mailed because this host is new to it"
            ),
        ],
        run: { invocation, console throws(Failure) in
            var order = try SignIn(invocation)
            let line = try HostLine(invocation)
            try line.requireHost()
            try order.readSecrets(invocation)
            let answer: Answer
            do throws(Failure) {
                answer = try await order.send(line, console)
            } catch {
                guard let question = error.question, try order.answer(question) else { throw error }
                answer = try await order.send(line, console)
            }
            Showing(invocation, console).outcome(answer.json) {
                "Signed in as \(answer.data?.shown("email") ?? order.email)."
            }
        }
    )
}

/// What signing in takes.
private struct SignIn {
    let email: String
    private let server: String?
    private let isDefault: Bool
    private let clientID: String?
    private let source: PasswordSource
    private var password = ""
    private var clientSecret: String?
    private var secondFactor: (token: String?, provider: Int?)
    private var newDeviceCode: String?

    init(_ invocation: Invocation) throws(Failure) {
        try invocation.allow(1)
        guard let email = invocation.operands.first else {
            throw Failure(status: .usage, message: "Say who signs in: holdfast login EMAIL.")
        }
        self.email = email
        server = invocation.value("server")
        isDefault = invocation.isOn("default")
        clientID = invocation.value("client-id")
        source = try PasswordSource(invocation, prompt: "Master password of \(email.harmless)")
        if invocation.isOn("client-id") != invocation.isOn("client-secret-env") {
            throw Failure(
                status: .usage,
                message: "--client-id and --client-secret-env belong together."
            )
        }
        if let text = invocation.value("two-factor-provider"), Int(text) == nil {
            throw Failure(
                status: .usage,
                message: "--two-factor-provider wants a number, not '\(text)'."
            )
        }
        let provider = invocation.value("two-factor-provider").flatMap { Int($0) }
        secondFactor = (invocation.value("two-factor-token"), provider)
        newDeviceCode = invocation.value("new-device-code")
    }

    mutating func readSecrets(_ invocation: Invocation) throws(Failure) {
        clientSecret = try invocation.value("client-secret-env").map { (name) throws(Failure) in
            try PasswordSource.variable(name).read()
        }
        password = try source.read()
    }

    func send(_ line: HostLine, _ console: Console) async throws(Failure) -> Answer {
        try await console.waiting(for: "Signing in…") { () throws(Failure) in
            try await line.askHost(.post, "/accounts", body: body)
        }
    }

    private var body: [UInt8] {
        let raw = JSON.Raw.object { json in
            json.add("email", email)
            json.add("password", password)
            if let server { json.add("server", server) }
            if let clientID { json.add("clientId", clientID) }
            if let clientSecret { json.add("clientSecret", clientSecret) }
            if let token = secondFactor.token { json.add("twoFactorToken", token) }
            if let provider = secondFactor.provider { json.add("twoFactorProvider", provider) }
            if let newDeviceCode { json.add("newDeviceOtp", newDeviceCode) }
            if isDefault { json.add("default", true) }
        }
        return Array(raw.bytes)
    }
}

// MARK: - The second step

extension SignIn {
    /// Asks the person for what the host wants to know besides.
    ///
    /// - Returns: Whether it is worth trying again. What was given already was not right, and a step
    ///   that takes a browser cannot be taken here.
    mutating func answer(_ question: Failure.Question) throws(Failure) -> Bool {
        switch question {
        case .secondFactor(let offered):
            let provider = secondFactor.provider ?? Self.known.first(where: offered.contains)
            guard secondFactor.token == nil, let provider else { return false }
            let words = Self.words[provider] ?? "Code of the second step"
            let token = try Prompt().ask(words, alternative: "--two-factor-token")
            secondFactor = (token, provider)
        case .newDeviceCode:
            guard newDeviceCode == nil else { return false }
            let words = "Code that the server has mailed to \(email.harmless)"
            newDeviceCode = try Prompt().ask(words, alternative: "--new-device-code")
        }
        return true
    }

    /// Those that are a text to type, the usual ones first.
    private static let known = [0, 1, 3, 8]
    private static let words = [
        0: "Code of the authenticator app", 1: "Code that was mailed", 3: "Press the YubiKey",
        8: "Recovery code",
    ]
}
