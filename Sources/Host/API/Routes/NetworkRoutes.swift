import HTTP

/// The network as the host sees it, and the drill in which there is none.
extension VaultAPI {
    static let networkRoutes: [Route] = [
        .anybody(
            .get,
            "/network",
            Description(
                "Whether upstream can be reached: the account's, or the worst of all.",
                answer: .data(.network)
            )
        ) { call, desk in
            .success(try call.network(of: desk))
        },
        .anybody(
            .put,
            "/network",
            scope: .admin,
            Description(
                "Takes the network away from the whole host, or gives it back.",
                body: .json(.object([.init("mode", .word(["auto", "offline"]))])),
                answer: .data(.network)
            )
        ) { call, _ in
            try call.requireAllAccounts()
            let mode: String = try call.read("mode", of: try await call.json())
            guard mode == "auto" || mode == "offline" else {
                throw DeskRefusal.notAllowed("mode must be `auto` or `offline`.")
            }
            return .success(await call.api.household.setDrill(mode == "offline"))
        },
    ]
}

extension VaultAPI.Call {
    /// Whoever asks about one account hears of its server only.
    fileprivate func network(of desk: (any AccountDesk)?) throws -> NetworkStanding {
        var network = api.household.network
        guard isOfOneAccount, !network.isDrill else { return network }
        guard let desk else { throw DeskRefusal.noAccount }
        (network.state, network.since) = desk.reach
        return network
    }
}
