public import JSON

/// Something that goes wrong on request: with which calls, how often, and what.
public struct Fault: Sendable {
    /// `nil` means every operation.
    public var operation: Operation?
    /// The account's email or id; `nil` means everybody.
    public var account: String?
    /// The matching call with which it begins, counted from 1.
    public var first = 1
    /// How many matching calls it concerns; `nil` means all from the first on.
    public var times: Int? = 1
    /// How likely each of them is to be hit.
    public var probability = 1.0
    public var effect: Effect

    public init(_ effect: Effect, on operation: Operation? = nil) {
        self.effect = effect
        self.operation = operation
    }

    /// What happens to a call that is hit.
    public indirect enum Effect: Sendable {
        /// The connection is cut before anything is done, and without a byte of an answer.
        case drop
        /// All is done, and then the connection is cut instead of an answer.
        case loseAnswer
        /// The connection is cut at once, and all is done after that time.
        case commitLate(Duration)
        /// All is done and the answer held back for that long.
        case delayAnswer(Duration)
        /// The same, only that a connection which is cut is reset instead of closed.
        case abruptly(Effect)
        /// All connections are cut, and for that long there is nobody at the address.
        case goAway(Duration)
        /// Nothing is done for that long, then everything as usual.
        case delay(Duration)
        /// Nothing is ever answered.
        case hang
        /// The call waits until another one has gone past it, or that long.
        case overtaken(Duration)
        /// The call is carried out twice; the second answer is given.
        case twice
        /// Something else is answered, after the call was carried out or instead of that.
        case answer(Canned, isCarriedOut: Bool)
        /// Refused as if the client's copy were too old.
        case stale
        /// Refused as if what the call is about were not there, or no longer for this user.
        case missing
        /// Refused as if the call's content broke a rule.
        case invalid
        /// Refused as if the token were worth nothing.
        case unauthorized
        /// Refused as if the refresh token were worth nothing.
        case invalidGrant
        /// The answer ends after so many bytes, and the connection with it.
        case truncate(Int)
        /// The answer rests after so many bytes for that long.
        case stall(after: Int, Duration)
        /// The answer is announced so many bytes longer than it is.
        case wrongLength(Int)
        /// The answer is compressed, and so many bytes once it is unpacked.
        case bomb(Int)
        /// Parts of the answer are changed on the way.
        case reshape([Reshaping])
        /// Answered from the world as it was when it was last remembered.
        case outdated
        /// A list or sync lacks every item but so many.
        case keepOnly(Int)
        /// Before the call is carried out, other calls of the same user are, as from another device.
        case interlude([ScriptedCall])
        /// The devices are not told of what the call changes.
        case loseEvents
        /// The devices are told before the change can be seen, by that much.
        case tellEarly(Duration)
    }
}

/// An answer that was not made by any route.
public struct Canned: Sendable {
    public var status: Int
    public var contentType: String?
    public var headers: [(name: String, value: String)]
    public var body: [UInt8]

    public init(
        status: Int,
        contentType: String?,
        headers: [(name: String, value: String)] = [],
        body: [UInt8] = []
    ) {
        self.status = status
        self.contentType = contentType
        self.headers = headers
        self.body = body
    }
}

/// A change of one place in an answer.
public struct Reshaping: Sendable {
    public enum Change: Sendable {
        case set(JSON.Raw)
        case remove
        case rename(String)
    }

    public var path: JSON.Path
    public var change: Change

    public init(_ path: JSON.Path, _ change: Change) {
        self.path = path
        self.change = change
    }
}

/// A call that nobody sends.
public struct ScriptedCall: Sendable {
    public var method: String
    public var path: String
    public var body: [UInt8]

    public init(_ method: String, _ path: String, body: [UInt8] = []) {
        self.method = method
        self.path = path
        self.body = body
    }
}
