public import Crypto
public import Messaging
public import Vault

/// Brings an account's pending changes upstream, one by one.
///
/// What is to be done about a change is decided by a table of values; this carries it out.
public final class Resolver: Service {
    public var address: Address<Message> { mailbox.address }

    let userID: String
    let store: Address<PendingStore.Message>
    let reader: StoreReader
    let upstream: any VaultUpstream
    let keyholder: Keyholder
    let lanes: Lanes
    let surroundings: Surroundings
    let stumbles = Stumbles()
    private let mailbox = Mailbox<Message>(name: "resolver")

    /// - Parameter lanes: The account's, shared with whoever records its edits.
    public init(
        userID: String,
        store: Address<PendingStore.Message>,
        reader: StoreReader,
        upstream: any VaultUpstream,
        keys: Keyholder,
        lanes: Lanes,
        surroundings: Surroundings
    ) {
        self.userID = userID
        self.store = store
        self.reader = reader
        self.upstream = upstream
        keyholder = keys
        self.lanes = lanes
        self.surroundings = surroundings
    }

    public func close() { mailbox.close() }

    /// Messages are answered side by side; what must be in order is kept so by the lanes.
    public func run() async {
        await mailbox.handle(atOnce: Self.messagesAtOnce) { await self.carryOut($0) }
    }

    private static let messagesAtOnce = 256

    private func carryOut(_ message: Message) async {
        switch message {
        case .attempt(let recorded, let reply):
            await reply.answer { () async throws(StoreError) in try await attempt(recorded) }
        case .carryOut(let wish, let lane, let seen, let reply):
            await reply.answer { () async throws(StoreError) in
                try await carryOut(wish, of: lane, madeOn: seen)
            }
        case .run(let run, let reply):
            await reply.answer { () async throws(StoreError) in try await carryOut(run) }
        case .reseal(let old, let new, let reply):
            await reply.answer { () async throws(StoreError) in
                try await reseal(from: old, to: new)
            }
        case .pulse(let reply): reply.answer()
        }
    }
}

extension Resolver {
    public typealias Answer<Value: Sendable> = Reply<Result<Value, StoreError>>

    /// What a message carries lies apart from it; each account keeps room for some.
    public indirect enum Message: Sendable {
        /// Brings an edit upstream inside its caller's request. The caller has the cipher's lane and has
        /// recorded the edit as in flight.
        case attempt(Recorded, Answer<Attempted>)
        /// Carries out a wish that was not recorded: with offline editing switched off, and for what
        /// belongs to an organisation. The caller has the cipher's lane, and says what base had when the wish was
        /// made. Base takes the answer.
        case carryOut(Edit.Wish, of: Lane, madeOn: BaseCipher?, Answer<Carried>)
        /// Tries what is pending, each in its own lane.
        case run(Run, Answer<RunReport>)
        /// Brings what is pending under the account's keys, from those that it had before. To be asked for before
        /// the vault is opened with them: what is compared with a copy under others seems to have moved.
        case reseal(from: KeyRing, to: KeyRing, Answer<Int>)
        case pulse(Reply<Void>)
    }

    /// What a run is to try.
    public struct Run: Hashable, Sendable {
        public enum Reach: Hashable, Sendable {
            /// What is ready, and what has waited long enough.
            case due
            /// Everything that is not set aside, however long it is to wait still.
            case all
            /// One change.
            case only(String)
        }

        /// What is to be found out before anything is sent.
        public enum Unknown: Hashable, Sendable {
            case nothing
            /// Whether it is still the same account. Not all servers refuse what is sent under keys of yesterday, and
            /// nobody could read it again.
            case account
            /// Also whether upstream is there, which it seems not to be.
            case presence
        }

        public var reach: Reach
        public var urgency: Urgency
        public var unknown: Unknown
        /// So long after it has begun nothing else is.
        public var limit: Duration?

        public init(
            _ reach: Reach,
            _ urgency: Urgency,
            unknown: Unknown = .account,
            limit: Duration? = nil
        ) {
            self.reach = reach
            self.urgency = urgency
            self.unknown = unknown
            self.limit = limit
        }
    }
}

/// What came of an edit's first attempt.
public enum Attempted: Sendable {
    /// Upstream has it, under this id, and nothing of it is pending any more.
    case saved(cipherID: String)
    /// Upstream has it, and the disk does not take that down. A run finds it out again.
    case landed
    /// Others have written what whoever wanted this has not seen, and that would stand. The record is as it was.
    case overruled(version: Int64)
    /// Upstream will not have it, and the caller is told so. The record is as it was, but for its
    /// version.
    case refused(Setback, version: Int64)
    /// Nobody knows, or nobody could be asked: it has to wait. The record is as it was, but for its
    /// version.
    case unanswered(Setback, version: Int64)
    /// It cannot be sent as things are, so it has to wait, too.
    case hindered(FailureNote, version: Int64)
    /// Somebody else has settled, changed or removed the record meanwhile, or upstream has taken a part of it;
    /// whatever is pending now is in the store.
    case overtaken
}

/// What came of a wish that was not recorded.
public enum Carried: Sendable {
    /// Nil if the cipher is gone now.
    case done(cipherID: String?)
    /// Upstream has it like this, and the disk does not take that down.
    case unwritten(Cipher)
    case refused(Setback)
    /// Base has something else by now than the wish was made on, and nothing was sent: look again.
    case moved
    /// The vault was locked in the very moment.
    case locked
}

/// What came of a run.
public struct RunReport: Hashable, Sendable {
    /// How many changes were tried, and how many are pending no more.
    public var tried = 0
    public var settled = 0
    /// What ended the run before everything was tried, if something did. It counts against no change.
    public var stop: Setback?
    /// Whether a change waits until it is known what upstream holds.
    public var isInDoubt = false

    public init() {}
}
