import HTTP
import JSON

/// The accounts of the host.
extension VaultAPI {
    static let accountRoutes: [Route] = [
        .host(
            .get,
            "/accounts",
            scope: .admin,
            Description("The accounts.", answer: .list(.account))
        ) { call in
            var standings: [AccountStanding] = []
            let chosen = call.api.household.defaultDesk?.id
            for desk in call.visibleDesks {
                standings.append(try await desk.standing(whereDefaultIs: chosen))
            }
            return .list(standings, elementSize: 512)
        },
        .host(
            .post,
            "/accounts",
            scope: .admin,
            Description(
                "Signs an account in, unlocks it and fetches its vault.",
                body: .json(.signIn),
                answer: .data(.account)
            )
        ) { call in
            try call.requireAllAccounts()
            let request = try call.signIn(try await call.json())
            let desk = try await call.api.household.signIn(request)
            return .success(try await call.standing(of: desk))
        },
        .host(
            .get,
            Route.accountPath,
            scope: .admin,
            Description("An account.", answer: .data(.account))
        ) { call in
            .success(try await call.standing(of: call.desk(call.id)))
        },
        .host(
            .put,
            Route.accountPath,
            scope: .admin,
            Description(
                "Makes an account the default one, or changes its server's address.",
                body: .json(.object([.maybe("default", .flag), .maybe("server", .text)])),
                answer: .data(.account)
            ),
            change
        ),
        .host(
            .delete,
            Route.accountPath,
            scope: .admin,
            Description(
                "Signs an account out and erases it.",
                query: [
                    Option(
                        "discardPending",
                        "Also if something is pending, which is lost then.",
                        .word(["true", "false"])
                    )
                ],
                answer: .nothing
            )
        ) { call in
            let desk = try call.desk(call.id)
            let discards = try call.discardsPending()
            try await call.api.household.remove(desk.id, discardingPending: discards)
            return .done
        },
    ]

    private static let change: @Sendable (Call) async throws -> Response = { call in
        let desk = try call.desk(call.id)
        let body = try await call.json()
        let isDefault: Bool? = try call.read("default", of: body)
        let server: String? = try call.read("server", of: body)
        guard isDefault != nil || server != nil else {
            throw DeskRefusal.notAllowed("The body must have `default` or `server`.")
        }
        guard isDefault != false else {
            throw DeskRefusal.notAllowed("default must be true: make another account the default.")
        }
        if isDefault == true { try call.requireAllAccounts() }
        if let server { try await call.api.household.setServer(server, of: desk.id) }
        if isDefault == true { try await call.api.household.makeDefault(desk.id) }
        // Another server may have brought another desk.
        return .success(try await call.standing(of: call.desk(call.id)))
    }
}

extension VaultAPI.Route {
    static let accountPath = "/accounts/{accountId}"
}

extension AccountDesk {
    /// However many are asked, one of them at most is the default.
    fileprivate func standing(
        whereDefaultIs chosen: String?
    ) async throws(DeskRefusal) -> AccountStanding {
        var standing = try await standing
        standing.isDefault = id == chosen
        return standing
    }
}

extension VaultAPI.Call {
    fileprivate func standing(of desk: any AccountDesk) async throws -> AccountStanding {
        try await desk.standing(whereDefaultIs: api.household.defaultDesk?.id)
    }

    /// The accounts that the caller may know of.
    var visibleDesks: [any AccountDesk] {
        api.household.desks.filter { desk in
            caller.accountID.map { $0.lowercased() == desk.id.lowercased() } ?? true
        }
    }

    fileprivate func signIn(_ body: JSON.Document) throws -> SignInRequest {
        var request = SignInRequest(
            email: try read("email", of: body),
            password: try read("password", of: body)
        )
        guard !request.email.isEmpty else { throw DeskRefusal.notAllowed("email is empty.") }
        guard !request.password.isEmpty else { throw DeskRefusal.notAllowed("password is empty.") }
        request.server = try read("server", of: body)
        request.twoFactorToken = try read("twoFactorToken", of: body)
        request.twoFactorProvider = try read("twoFactorProvider", of: body)
        request.newDeviceCode = try read("newDeviceOtp", of: body)
        request.isDefault = try read("default", of: body)
        let clientID: String? = try read("clientId", of: body)
        let clientSecret: String? = try read("clientSecret", of: body)
        switch (clientID, clientSecret) {
        case (let id?, let secret?): request.apiKey = (id, secret)
        case (nil, nil): break
        default: throw DeskRefusal.notAllowed("clientId and clientSecret go together.")
        }
        return request
    }

    /// What erases is not guessed at: here, `false` means no.
    fileprivate func discardsPending() throws -> Bool {
        switch query["discardPending"] {
        case nil, "false": return false
        case "true": return true
        default: throw DeskRefusal.notAllowed("`discardPending` must be `true` or `false`.")
        }
    }
}
