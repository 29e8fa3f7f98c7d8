import Bitwarden

/// How an account's line to the hub lives: it is opened, greeted, kept alive and opened anew.
///
/// Nothing is kept by the hub for those who are away, so every new line is followed by a look at the
/// account's revision.
struct HubLife: Sendable {
    /// What there is to tell, and to do, about what arrived.
    enum Step: Hashable, Sendable {
        /// The hub listens to us. What happened before is not told.
        case greeted
        case heard(HubEvent)
        /// Upstream says goodbye, or what came cannot be understood. The line is of no use any more.
        case hangUp
    }

    private var frames = HubFrames()
    private(set) var isGreeted = false
    /// How often in a row there was no line, or none that greeted.
    private var failures = 0

    /// A new line: nothing of the old one counts.
    mutating func begin() {
        frames = HubFrames()
        isGreeted = false
    }

    /// - Returns: What it came to, in order.
    mutating func take(_ message: [UInt8]) -> [Step] {
        // An event may come before the greeting, so it is known by its bytes and not by its place.
        if !isGreeted, message.last == HubHandshake.end, message.first == UInt8(ascii: "{") {
            return greet(message)
        }
        do throws(HubFrames.Flaw) {
            var steps: [Step] = []
            for frame in try frames.take(message) {
                steps += steps.last == .hangUp ? [] : [step(frame)].compactMap(\.self)
            }
            return steps
        } catch {
            return [.hangUp]
        }
    }

    private mutating func greet(_ message: [UInt8]) -> [Step] {
        // Anything but the empty object is an error in JSON.
        guard message == HubHandshake.answer else { return [.hangUp] }
        isGreeted = true
        failures = 0
        return [.greeted]
    }

    private func step(_ frame: ArraySlice<UInt8>) -> Step? {
        do throws(MessagePack.Flaw) {
            switch try HubMessage(frame) {
            case .event(let event): return .heard(event)
            case .close: return .hangUp
            case .ping, .other: return nil
            }
        } catch {
            return .hangUp
        }
    }

    /// The line is lost, or could not be opened. How long to wait before the next: about a second at
    /// first, growing to two minutes, half of it by chance so that a server that comes back is not run
    /// over by everybody at once.
    mutating func wait(chance: Double) -> Duration {
        failures += 1
        let doubled = Duration.seconds(1 << min(failures - 1, 7))
        return min(doubled, Self.longestWait) * (0.5 + chance / 2)
    }

    /// The server refused it as too much, and is asked again as late as if it had done so for long.
    mutating func beMild() { failures = max(failures, 6) }

    static let longestWait = Duration.seconds(120)
    /// Within so long those come back that had to leave the server alone.
    static let spread = Duration.seconds(5)
    /// Hubs hang up on who is silent for 30 s.
    static let pingInterval = Duration.seconds(15)
    /// Nothing tells when a token has run out, so a line is not kept for ever.
    static let longestLine = Duration.seconds(3 * 3_600)
}
