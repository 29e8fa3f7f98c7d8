import HTTP

/// One request to upstream, and all that is needed to understand its answer.
struct Call: Sendable {
    /// Which of upstream's bases the path stands below.
    enum Base: Hashable, Sendable {
        case api, identity
        /// The path is a whole URL that upstream gave us. No token goes there.
        case elsewhere
    }

    var operation: Operation
    var method: Method
    var base: Base
    var path: String
    var headers: Headers
    var body: Client.Body
    var subject: Subject
    var expectation: Expectation
    /// Whether the access token goes along.
    var isSigned: Bool
    var bodyLimit: Int?
    var deadlines: Client.Deadlines?

    init(
        _ operation: Operation,
        _ method: Method,
        _ path: String,
        at base: Base = .api,
        body: Client.Body = .none,
        about subject: Subject = .none,
        expecting expectation: Expectation = .json,
        isSigned: Bool = true
    ) {
        self.operation = operation
        self.method = method
        self.base = base
        self.path = path
        headers = [:]
        self.body = body
        self.subject = subject
        self.expectation = expectation
        self.isSigned = isSigned
    }

    /// Whether it fetches or brings a file at an address that lets in whoever has it, where it need not be the API that
    /// answers.
    var isOfStore: Bool { base == .elsewhere && !isSigned }

    /// Whether it may change anything upstream.
    var isWrite: Bool { method != .get && method != .head && base != .identity }

    /// What a refusal for coming too often is learnt for.
    var pace: Pace {
        if base == .identity || operation == .prelogin { return .signIn }
        switch method {
        case .get, .head: return .read
        case .post: return .create
        default: return .change
        }
    }
}
