import EmbeddedUpstream
import MeshSupport
@testable import Sync
import Testing
import Vault

/// What keeps an edit from being sent, or makes nobody know whether it was.
enum Outage: String, CaseIterable, CustomTestStringConvertible, Sendable {
    case refusedConnection
    case gatewayPage
    case answerThatIsNone
    case serverErrorInJSON
    case requestTimeout
    case tooManyRequests
    case portal

    var testDescription: String { rawValue }

    func begin(_ world: World, on operation: Operation) async {
        switch self {
        case .refusedConnection: world.wire.isCut = true
        case .gatewayPage: await canned(world, operation, 502, "<html>bad gateway</html>")
        case .answerThatIsNone: await canned(world, operation, 200, "<html>welcome</html>")
        case .serverErrorInJSON:
            await canned(world, operation, 500, #"{"object":"error","message":"oh no"}"#)
        case .requestTimeout: await canned(world, operation, 408, "")
        case .tooManyRequests: await canned(world, operation, 429, "")
        case .portal: await canned(world, operation, 404, "<html>sign in to the wifi</html>")
        }
    }

    private func canned(
        _ world: World,
        _ operation: Operation,
        _ status: Int,
        _ body: String
    ) async {
        let type = body.hasPrefix("{") ? "application/json" : "text/html"
        let answer = Canned(status: status, contentType: type, body: Array(body.utf8))
        await world.server.inject(Fault(.answer(answer, isCarriedOut: false), on: operation))
    }
}

/// A refusal of upstream's, which no edit waits out.
enum Rebuff: String, CaseIterable, CustomTestStringConvertible, Sendable {
    /// In the API's own words.
    case worded
    /// A status that says no, and nothing more.
    case opaque

    var testDescription: String { rawValue }

    static let words = "The model state is invalid."

    func begin(_ world: World, on operation: Operation) async {
        let body =
            switch self {
            case .worded: #"{"object":"error","message":"\#(Self.words)"}"#
            case .opaque: "no"
            }
        let type = self == .worded ? "application/json" : "text/plain"
        let status = self == .worded ? 400 : 422
        let answer = Canned(status: status, contentType: type, body: Array(body.utf8))
        await world.server.inject(Fault(.answer(answer, isCarriedOut: false), on: operation))
    }

    func isHeard(in refusal: Repository.Refusal?) -> Bool {
        guard case .upstream(let setback) = refusal, let words = setback.rejection else {
            return false
        }
        return self == .worded ? words.message == Self.words : words.status == 422
    }
}

/// Somebody at home, with one login that upstream has.
func atHome(
    _ personality: Personality.Name = .bitwarden,
    _ switches: Switches = .on,
    story: @Sendable (World, Home, String) async throws -> Void
) async throws {
    try await World.open(personality) { world in
        let ada = try await world.person()
        let id = try await ada.elsewhere.add(mail)
        try await ada.refresh()
        let home = try await ada.home(switches)
        try await story(world, home, id)
    }
}

/// Why the edit was refused; nil if it was not.
func refusal(_ body: () async throws -> Written<String>) async throws -> Repository.Refusal? {
    do {
        _ = try await body()
        return nil
    } catch let refusal as Repository.Refusal {
        return refusal
    }
}

extension Written<String> {
    var isQueued: Bool { disposition != .saved }
}

extension Repository.Refusal {
    /// The edit could not be sent, and is not kept.
    var isOutage: Bool {
        if case .upstream(let setback) = self { setback.letsAnEditWait } else { false }
    }
}

extension Home {
    /// Has somebody else hold the item's lane, until the body has them leave.
    func besideHolder<Value>(
        of id: String,
        _ body: (_ leave: () -> Void) async throws -> Value
    ) async throws -> Value {
        let lanes = person.lanes
        let (turns, turn) = AsyncStream.makeStream(of: Void.self)
        let (entries, entry) = AsyncStream.makeStream(of: Void.self)
        async let holder: Void = lanes.hold(id) {
            entry.finish()
            for await _ in turns {}
        }
        for await _ in entries {}
        defer { turn.finish() }
        let value = try await body { turn.finish() }
        turn.finish()
        await holder
        return value
    }

    /// Until so many stand in line, and what ends their patience sleeps, before any time passes.
    func haveWaiting(_ count: Int, for id: String) async {
        let time = person.world.time
        while person.lanes.line(for: id) < count { await Task.yield() }
        let end = time.elapsed + .seconds(5)
        while time.nextAlarm.map({ $0 > end }) ?? true { await Task.yield() }
    }
}
