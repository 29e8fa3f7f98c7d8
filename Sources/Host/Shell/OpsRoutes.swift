import HTTP
import Metrics

/// What operators and their machines ask: figures, health, and the status page. It names nobody.
struct OpsRoutes: Sendable {
    private let router: Router

    init(
        registry: Registry,
        readiness: Readiness,
        isStoreReadable: @escaping @Sendable () -> Bool,
        status: StatusBoard
    ) {
        var router = Router()
        router.on(.get, "/metrics") { request in
            let format = ExpositionFormat(accept: request.headers["Accept"])
            return Response(
                headers: ["Content-Type": format.contentType, "Vary": "Accept"],
                body: .bytes(await registry.page(format))
            )
            .packed(for: request)
        }
        router.on(.get, "/livez") { .report([("process", nil)], of: $0) }
        router.on(.get, "/healthz") { .report([("process", nil)], of: $0) }
        router.on(.get, "/readyz") { request in
            .report(
                [("host", readiness.objection), ("store", isStoreReadable() ? nil : "unreadable")],
                of: request
            )
        }
        router.on(.get, "/") { _ in Response(.found, headers: ["Location": "/status"]) }
        router.on(.get, "/status") { _ in await status.page() }
        router.on(.get, "/status/events") { _ in status.events() }
        self.router = router
    }

    /// A machine may call this listener by any name. A browser may be led here by somebody else's page,
    /// so it has to use the listener's own, and come from no other origin.
    func respond(to request: Request, at names: HostNames) async -> Response {
        if let origin = request.headers["Origin"], !names.isOwn(origin: origin) {
            return .text("Forbidden", status: .forbidden)
        }
        if request.isFromBrowser, !names.admit(request.headers["Host"]) {
            return .text("Forbidden", status: .forbidden)
        }
        return await router.respond(to: request)
    }
}

extension Request {
    /// Whether it shows a browser's marks, or asks for what only people look at.
    fileprivate var isFromBrowser: Bool {
        ["Origin", "Sec-Fetch-Site", "Sec-Fetch-Mode"].contains { headers[$0] != nil }
            || target.segments.isEmpty
            || target.segments.first?.lowercased() == "status"
    }
}

extension Readiness {
    /// Why the host cannot serve, if it cannot.
    fileprivate var objection: String? {
        switch stage {
        case .starting: "starting"
        case .ready: nil
        case .stopping: "stopping"
        }
    }
}

extension Status {
    fileprivate static let found = Status(rawValue: 302)
}

extension Response {
    /// The checks, each with what is wrong; all of them are named if `?verbose` is asked for.
    fileprivate static func report(
        _ checks: [(name: String, objection: String?)],
        of request: Request
    ) -> Response {
        let isWell = checks.allSatisfy { $0.objection == nil }
        var text = ""
        if request.target.query["verbose"] != nil || !isWell {
            for check in checks {
                text +=
                    check.objection.map { "[-]\(check.name) \($0)\n" } ?? "[+]\(check.name) ok\n"
            }
        }
        var response = Response.text(
            text + (isWell ? "ok\n" : "failed\n"),
            status: isWell ? .ok : .unavailable
        )
        response.headers["Cache-Control"] = "no-store"
        return response
    }
}
