import Bitwarden
import HTTP
import JSON
import System
import Testing
import Vault

@testable import Host

/// Files that go to a store that the server names, and not to the server itself.
@Suite struct StoreUploadTests {
    private static let sizes = BlockSizes(whole: 500_000, block: 400_000)

    @Test(arguments: [0, 499_999, 500_000])
    func `a file that the store takes at once goes up at once`(_ length: Int) async throws {
        try await Depot.open { depot, account in
            let file = Self.file(length)
            try await account.upload(Self.source(file), as: depot.upload, cut: Self.sizes)
            #expect(depot.state.withLock(\.file) == file)
            #expect(depot.state.withLock(\.renewals) == 0)
        }
    }

    /// Each address lets in once, so each block has to ask for its own.
    @Test(arguments: [500_001, 800_000, 1_500_000])
    func `a larger one goes up in blocks, each with a fresh address, and then their list`(
        _ length: Int
    ) async throws {
        try await Depot.open { depot, account in
            let file = Self.file(length)
            try await account.upload(Self.source(file), as: depot.upload, cut: Self.sizes)
            let blocks = (length + 399_999) / 400_000
            #expect(depot.state.withLock(\.file) == file)
            #expect(depot.state.withLock(\.blocks.count) == blocks)
            #expect(depot.state.withLock(\.renewals) == blocks)
            #expect(Set(depot.state.withLock(\.blocks).keys.map(\.utf8.count)) == [64])
        }
    }

    @Test(arguments: [900_000, 800_000, 399_999, 1])
    func `blocks of a file that is longer or shorter than declared become no file`(
        _ given: Int
    ) async throws {
        try await Depot.open { depot, account in
            let source = Self.source(Self.file(given))
            let declared = FileSource(length: 850_000, next: source.next)
            let setback = await setback { () async throws(Setback) in
                try await account.upload(declared, as: depot.upload, cut: Self.sizes)
            }
            #expect("\(setback as Any)".contains("declared"), "\(setback as Any)")
            #expect(setback?.mayHaveLanded == false)
            #expect(depot.state.withLock(\.file) == nil)
        }
    }

    /// Of 403 and a page that is not Bitwarden's the breaker would make a ban of half an hour.
    /// Who is asked to come later at the server's own address heeds that.
    @Test(arguments: [(403, false), (503, false), (429, false), (403, true), (503, true)])
    func `a store's refusal holds up nothing else, also where it is at the server's own address`(
        _ status: Int,
        _ isAtServer: Bool
    ) async throws {
        try await Depot.open(isAtServer: isAtServer) { depot, account in
            depot.state.withLock { $0.refusal = Status(rawValue: status) }
            for _ in 0..<6 {
                let setback = await setback { () async throws(Setback) in
                    let file = Self.file(10)
                    try await account.upload(Self.source(file), as: depot.upload, cut: Self.sizes)
                }
                #expect(setback?.reason.kind != "rejected", "\(setback as Any)")
            }
            let revision = try await account.revision()
            #expect(revision == .number(1))
        }
    }

    /// It is our own doing, so the breaker does not count it.
    @Test func `a file that is not what was declared says nothing of the server`() async throws {
        try await Depot.open { depot, account in
            let upload = AttachmentUpload(
                attachmentID: "a",
                url: "/ciphers/c/attachment/a",
                way: .direct,
                cipher: .object { $0.add("id", "c") }
            )
            for given in 94..<100 {
                let source = Self.source(Self.file(given))
                let setback = await setback { () async throws(Setback) in
                    try await account.upload(
                        FileSource(length: 100, next: source.next),
                        as: upload
                    )
                }
                #expect("\(setback as Any)".contains("declared"), "\(setback as Any)")
                #expect(setback?.mayHaveLanded == false)
            }
            let revision = try await account.revision()
            #expect(revision == .number(1))
        }
    }

    @Test func `blocks cover a file, and every version of a store takes them`() {
        for length in [1, (256 << 20) + 1, 500_000_000, 525 << 20] {
            let blocks = BlockSizes.usual.blocks(of: length)
            #expect(blocks.reduce(0, +) == length)
            #expect(blocks.allSatisfy { (1...(100 << 20)).contains($0) })
        }
        #expect(BlockSizes.usual.whole == 256 << 20)
    }

    private static func file(_ length: Int) -> [UInt8] {
        (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
    }

    private static func source(_ file: [UInt8]) -> FileSource {
        let rest = Lock(file[...])
        return FileSource(length: file.count) {
            rest.withLock { rest in
                let piece = rest.prefix(150_000)
                rest = rest.dropFirst(piece.count)
                return piece.isEmpty ? nil : Array(piece)
            }
        }
    }
}

/// A server, and a store of files beside it whose addresses let in once.
private final class Depot: Sendable {
    struct State {
        var file: [UInt8]?
        var blocks: [String: [UInt8]] = [:]
        var renewals = 0
        var refusal: Status?
        var store = ""
    }

    let state = Lock(State())

    static func open(
        isAtServer: Bool = false,
        _ story: (Depot, UpstreamAccount) async throws -> Void
    ) async throws {
        let depot = Depot()
        let store = try depot.serve { router in
            router.on(.put, "/files/{name}") { await depot.take($0) }
        }
        let server = try depot.serve { router in
            router.on(.put, "/files/{name}") { await depot.take($0) }
            router.on(.get, "/api/accounts/revision-date") { _ in .json("1") }
            router.on(.get, "/api/ciphers/c/attachment/a/renew") { _ in
                depot.state.withLock { $0.renewals += 1 }
                return .json(#"{"url":"\#(depot.address)","fileUploadType":1,"attachmentId":null}"#)
            }
        }
        depot.state.withLock { $0.store = Self.url(isAtServer ? server : store) }
        let result = await Swift.Result {
            try await withAccount(at: Self.url(server)) { try await story(depot, $0) }
        }
        await store.stop(within: .seconds(1))
        await server.stop(within: .seconds(1))
        try result.get()
    }

    private func serve(_ add: (inout Router) -> Void) throws -> Server {
        var router = Router()
        add(&router)
        let place = Listener.Place.tcp(SocketAddress(host: "127.0.0.1", port: 0))
        return try Server.start(
            [Listener(name: "test", place)],
            handler: { [router] in await router.respond(to: $0) }
        )
    }

    private static func url(_ server: Server) -> String {
        guard case .tcp(let address) = server.listeners[0].address else { return "" }
        return "http://\(address)"
    }

    private var address: String {
        state.withLock { "\($0.store)/files/a?sv=2024-11-04&sig=\($0.renewals)" }
    }

    var upload: AttachmentUpload {
        AttachmentUpload(
            attachmentID: "a",
            url: address,
            way: .store,
            cipher: .object { $0.add("id", "c") }
        )
    }

    private func take(_ request: HTTP.Request) async -> Response {
        let refused = Response(
            state.withLock(\.refusal) ?? .forbidden,
            headers: ["Content-Type": "application/xml"],
            body: .bytes(Array("<Error><Code>AuthenticationFailed</Code></Error>".utf8))
        )
        guard let body = try? await request.body(limit: 1 << 20) else { return refused }
        let query = request.target.query
        let isFresh = query["sig"] == state.withLock { "\($0.renewals)" }
        guard isFresh, request.headers["Authorization"] == nil, state.withLock(\.refusal) == nil
        else { return refused }
        return state.withLock { state in
            state.take(body, query["comp"], query["blockid"], request.headers["x-ms-blob-type"])
        }
    }
}

extension Depot.State {
    fileprivate mutating func take(
        _ body: [UInt8],
        _ part: String?,
        _ block: String?,
        _ type: String?
    ) -> Response {
        switch part {
        case "block": blocks[block ?? ""] = body
        case "blocklist":
            let list = String(decoding: body, as: UTF8.self)
            let ids = list.split(separator: "<Latest>").dropFirst()
                .map { String($0.prefix { $0 != "<" }) }
            file = ids.reduce(into: []) { $0 += blocks[$1] ?? [] }
        default:
            guard type == "BlockBlob" else { return Response(.badRequest) }
            file = body
        }
        return Response(Status(rawValue: 201))
    }
}

extension Response {
    fileprivate static func json(_ text: String) -> Response {
        Response(
            headers: ["Content-Type": "application/json"],
            body: .bytes(Array(text.utf8))
        )
    }
}
