import Synchronization

/// How far the host has come: whether it can serve, and whether it still wants to.
///
/// It can serve without an upstream; that it works while that is away is what it is for.
final class Readiness: Sendable {
    enum Stage: UInt8, Sendable {
        case starting, ready, stopping
    }

    private let raw = Atomic(Stage.starting.rawValue)

    init() {}

    var stage: Stage {
        Stage(rawValue: raw.load(ordering: .acquiring)) ?? .starting
    }

    func move(to stage: Stage) { raw.store(stage.rawValue, ordering: .releasing) }
}
