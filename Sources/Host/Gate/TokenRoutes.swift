import FoundationEssentials
import HTTP
import JSON

/// The routes by which an administrator makes, lists and takes back tokens.
struct TokenRoutes: Sendable {
    static let described: [DescribedRoute] = [
        DescribedRoute(
            .get,
            "/tokens",
            .admin,
            VaultAPI.Description("The tokens, without their texts.", answer: .list(.token))
        ),
        DescribedRoute(
            .post,
            "/tokens",
            .admin,
            VaultAPI.Description(
                "Makes a token. Its text is shown this once.",
                body: .json(
                    .object([
                        .init("scope", .word(["admin", "write", "read"])),
                        .maybe("account", .optional(.text)),
                    ])
                ),
                answer: .data(.freshToken)
            )
        ),
        DescribedRoute(
            .delete,
            "/tokens/{id}",
            .admin,
            VaultAPI.Description(
                "Takes a token back, and ends the streams that were asked with it.",
                answer: .nothing
            )
        ),
    ]

    private let router: Router

    init(_ tokens: TokenCabinet) {
        var router = Router()
        router.on(.get, "/tokens") { _ in .success(Self.list(tokens.all)) }
        router.on(.post, "/tokens") { request in await Self.create(request, tokens) }
        router.on(.delete, "/tokens/{id}", String.self) { _, id in await Self.revoke(id, tokens) }
        self.router = router
    }

    /// Nil if the request is not about tokens.
    func passage(_ request: Request) -> Gate.Passage? {
        guard let first = request.target.segments.first, first.utf8.count == Self.word.count,
            first.lowercased() == Self.word
        else { return nil }
        return Gate.Passage(name: router.template(of: request), scope: .admin) { caller in
            // Whoever is let in to one account could make a token for all of them.
            guard caller.accountID == nil else { return .scopeTooSmall }
            let response = await router.respond(to: request)
            return request.target.query["pretty"] == nil ? response : response.indented
        }
    }

    private static let word = "tokens"

    private static func list(_ tokens: [Token]) -> JSON.Raw {
        .object { list in
            list.add("object", "list")
            list.array("data") { array in
                for token in tokens {
                    array.object { json in
                        json.add("object", "token")
                        json.add("id", token.id)
                        json.add("scope", token.scope.rawValue)
                        json.add("account", token.accountID)
                        json.add("created", token.created.isoText)
                    }
                }
            }
        }
    }

    private static func create(_ request: Request, _ tokens: TokenCabinet) async -> Response {
        let order: TokenOrder
        do {
            order = try TokenOrder(json: try await request.jsonDocument().root)
        } catch let error as BodyError {
            return .refusing(error)
        } catch let declined as Declined {
            return declined.response
        } catch {
            return .failure(String(describing: error))
        }
        return await answer { () async throws(TokenError) in
            let fresh = try await tokens.create(order.scope, accountID: order.accountID)
            return .success(
                JSON.Raw.object { json in
                    json.add("object", "token")
                    json.add("token", fresh.text)
                    json.add("id", fresh.token.id)
                    json.add("scope", fresh.token.scope.rawValue)
                    json.add("account", fresh.token.accountID)
                }
            )
        }
    }

    private static func revoke(_ id: String, _ tokens: TokenCabinet) async -> Response {
        await answer { () async throws(TokenError) in
            try await tokens.revoke(id.lowercased()) ? .done : .failure("Not found.")
        }
    }

    /// Files are written, and the loop is not to wait for a disk.
    private static func answer(
        _ body: @Sendable () async throws(TokenError) -> Response
    ) async -> Response {
        do throws(TokenError) {
            return try await offTheLoop(body)
        } catch {
            return .failure(error.description, .insufficientStorage)
        }
    }
}

/// What somebody wants a token for.
private struct TokenOrder: JSON.Readable {
    let scope: Caller.Scope
    let accountID: String?

    init(json: JSON.Value) throws(JSON.Mismatch) {
        scope = try json.read("scope")
        accountID = try json.read("account")
        // An address is what people have at hand, and would open nothing.
        if accountID?.isEmpty == true || accountID?.contains("@") == true {
            throw JSON.Mismatch("must be an account's id", at: ["account"])
        }
    }
}

extension Date {
    /// `2026-01-05T08:12:44.901Z`, to the nearest millisecond: the style cuts off what a number of seconds is too
    /// small by.
    var isoText: String {
        addingTimeInterval(0.000_5)
            .formatted(ISO8601FormatStyle(includingFractionalSeconds: true))
    }
}
