import HTTP

extension VaultAPI {
    /// What is done at one path with one method, and how it is described.
    struct Route: Sendable {
        let method: Method
        /// At the root, where the default account is meant.
        let path: String
        let scope: Caller.Scope
        let work: Work
        let description: Description?
        /// Where it stands in truth: the path, or the path below an account.
        var template: String
        /// What metrics and the log call it: the same for the default account and for any other.
        var name: String { path }

        /// Whether it stands below each account as well.
        var isOfAnAccount: Bool { if case .host = work { false } else { true } }
        /// Whether the path begins with an account.
        var isBelowAccount: Bool { template != path }

        /// The same below an account.
        var belowAccount: Route {
            var route = self
            route.template = Self.accountPath + path
            return route
        }
    }

    /// What a route needs to be there, before it is asked anything.
    enum Work: Sendable {
        /// Nothing; it is about the host as a whole.
        case host(@Sendable (Call) async throws -> Response)
        /// An account, if there is one.
        case anybody(@Sendable (Call, (any AccountDesk)?) async throws -> Response)
        case account(@Sendable (Call, any AccountDesk) async throws -> Response)
        /// An account that is unlocked.
        case vault(@Sendable (Call, any AccountDesk) async throws -> Response)

        func answer(_ call: Call) async throws -> Response {
            switch self {
            case .host(let work): return try await work(call)
            case .anybody(let work): return try await work(call, try call.account())
            case .account(let work): return try await work(call, try desk(for: call))
            case .vault(let work):
                let desk = try desk(for: call)
                switch try await desk.status {
                case .unlocked: return try await work(call, desk)
                case .locked: throw DeskRefusal.locked
                case .signedOut: throw DeskRefusal.noAccount
                }
            }
        }

        private func desk(for call: Call) throws -> any AccountDesk {
            guard let desk = try call.account() else {
                throw call.isOpen ? DeskRefusal.noDefaultAccount : DeskRefusal.noAccount
            }
            return desk
        }
    }
}

// MARK: Making them

extension VaultAPI.Route {
    /// Reads need no more than the scope that reads, everything else needs the one that writes,
    /// unless it is said otherwise.
    init(
        _ method: Method,
        _ path: String,
        scope: Caller.Scope? = nil,
        _ description: VaultAPI.Description?,
        _ work: VaultAPI.Work
    ) {
        self.method = method
        self.path = path
        self.scope = scope ?? (method == .get ? .read : .write)
        self.work = work
        self.description = description
        template = path
    }

    static func vault(
        _ method: Method,
        _ path: String,
        _ description: VaultAPI.Description?,
        _ work: @escaping @Sendable (VaultAPI.Call, any AccountDesk) async throws -> Response
    ) -> Self {
        Self(method, path, description, .vault(work))
    }

    static func account(
        _ method: Method,
        _ path: String,
        _ description: VaultAPI.Description?,
        _ work: @escaping @Sendable (VaultAPI.Call, any AccountDesk) async throws -> Response
    ) -> Self {
        Self(method, path, description, .account(work))
    }

    static func anybody(
        _ method: Method,
        _ path: String,
        scope: Caller.Scope? = nil,
        _ description: VaultAPI.Description?,
        _ work: @escaping @Sendable (VaultAPI.Call, (any AccountDesk)?) async throws -> Response
    ) -> Self {
        Self(method, path, scope: scope, description, .anybody(work))
    }

    static func host(
        _ method: Method,
        _ path: String,
        scope: Caller.Scope? = nil,
        _ description: VaultAPI.Description?,
        _ work: @escaping @Sendable (VaultAPI.Call) async throws -> Response
    ) -> Self {
        Self(method, path, scope: scope, description, .host(work))
    }
}
