/// What the gate decides about a request, before anything is done for it.
enum Ruling: Hashable, Sendable {
    case admitted(Caller)
    case refused(Refusal)

    /// In the order in which they are looked for; the first that applies is what a client hears.
    enum Refusal: String, CaseIterable, Hashable, Sendable {
        /// A process of another user on the Unix socket.
        case foreignUser
        case foreignHost
        /// It comes from a page in a browser.
        case foreignOrigin
        /// `/` is nothing, to anybody.
        case nothingThere
        case noToken
        case wrongToken
        case scopeTooSmall
    }
}

/// All that the gate looks at. Knows no token and no clock, so that every case can be tried.
struct Approach: Hashable, Sendable {
    enum Door: Hashable, Sendable {
        /// The peer's user, if the kernel knows.
        case unix(isOwn: Bool)
        case tcp(isOwnHost: Bool, hasOrigin: Bool)
    }

    enum Credential: Hashable, Sendable {
        case none
        case unknown
        case known(Caller)
    }

    var door: Door
    var isRoot: Bool
    /// Whether this host asks nobody for tokens.
    var isOpen: Bool
    var credential: Credential
    var needed: Caller.Scope

    var ruling: Ruling {
        if let refusal = doorRefusal { return .refused(refusal) }
        if isRoot { return .refused(.nothingThere) }
        switch caller {
        case .failure(let refusal): return .refused(refusal)
        case .success(let caller) where caller.scope.reaches(needed): return .admitted(caller)
        case .success: return .refused(.scopeTooSmall)
        }
    }

    private var doorRefusal: Ruling.Refusal? {
        switch door {
        case .unix(let isOwn): isOwn ? nil : .foreignUser
        case .tcp(false, _): .foreignHost
        case .tcp(true, let hasOrigin): hasOrigin ? .foreignOrigin : nil
        }
    }

    private var caller: Result<Caller, Ruling.Refusal> {
        switch (door, credential) {
        // Whoever owns the socket owns the host; there is nothing that a token could add.
        case (.unix, _): .success(Caller(.admin))
        case (.tcp, .known(let caller)): .success(caller)
        case (.tcp, _) where isOpen: .success(Caller(.admin))
        case (.tcp, .none): .failure(.noToken)
        case (.tcp, .unknown): .failure(.wrongToken)
        }
    }
}

extension Ruling.Refusal: Error {}

extension Caller.Scope {
    /// Whether it allows what needs that much.
    func reaches(_ needed: Caller.Scope) -> Bool { rank >= needed.rank }

    private var rank: Int {
        switch self {
        case .read: 0
        case .write: 1
        case .admin: 2
        }
    }
}
