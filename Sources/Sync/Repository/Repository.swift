public import Crypto
public import Messaging
internal import Vault

/// An account's vault: shows it, and takes edits.
///
/// What is shown is base overlaid by what is pending. An edit is durable before the first byte of it
/// goes upstream; then it is tried at once, unless the network is known to be down, and it waits if
/// nobody takes it.
public final class Repository: Service {
    public typealias Answer<Value: Sendable> = Reply<Result<Value, Refusal>>

    /// What a message carries lies apart from it; each account keeps room for some.
    public indirect enum Message: Sendable {
        /// The id that the item has afterwards.
        case edit(Wish, of: Expectation = .anything, Answer<Written<String>>)
        /// As `edit`, with the item as it is seen afterwards.
        case write(Wish, of: Expectation = .anything, Answer<Written<ViewedItem>>)
        /// The item as it is seen now, also if the asker alone has the keys any more; nil if there is none.
        case view(String, with: KeyRing? = nil, Answer<ViewedItem?>)
        case list(Answer<[ViewedItem]>)
        /// The content of a change becomes an item of its own, and the change goes.
        case saveCopy(changeID: String, Answer<Written<ViewedItem>?>)
        /// The change goes, and the item is as upstream has it. False if there is no such change.
        case discard(changeID: String, Answer<Bool>)
        /// Nothing keeps the change from being tried any more. False if there is no such change.
        case makeReady(changeID: String, Answer<Bool>)
        case pulse(Reply<Void>)
    }

    /// Those that it talks to.
    public struct Neighbours: Sendable {
        public var store: Address<PendingStore.Message>
        public var reader: StoreReader
        public var resolver: Address<Resolver.Message>
        public var scheduler: Address<SyncScheduler.Message>
        public var monitor: NetworkMonitor

        public init(
            store: Address<PendingStore.Message>,
            reader: StoreReader,
            resolver: Address<Resolver.Message>,
            scheduler: Address<SyncScheduler.Message>,
            monitor: NetworkMonitor
        ) {
            self.store = store
            self.reader = reader
            self.resolver = resolver
            self.scheduler = scheduler
            self.monitor = monitor
        }
    }

    public var address: Address<Message> { mailbox.address }

    let userID: String
    let neighbours: Neighbours
    let keyholder: Keyholder
    let lanes: Lanes
    let switches: SwitchBoard
    let leastClockOffset: @Sendable () -> Int64?
    let surroundings: Surroundings
    private let mailbox = Mailbox<Message>(name: "repository", capacity: 512)

    /// So many edits are on their way at once, and so many more wait. All of them may be waiting for an
    /// upstream that is slow, which keeps nobody from seeing what there is.
    private static let editsAtOnce = 256
    private static let editsWaiting = 512

    /// - Parameter leastClockOffset: How much upstream's clock is ahead of ours at least, if that is known.
    public init(
        userID: String,
        neighbours: Neighbours,
        keys: Keyholder,
        lanes: Lanes,
        switches: SwitchBoard,
        leastClockOffset: @escaping @Sendable () -> Int64?,
        surroundings: Surroundings
    ) {
        self.userID = userID
        self.neighbours = neighbours
        keyholder = keys
        self.lanes = lanes
        self.switches = switches
        self.leastClockOffset = leastClockOffset
        self.surroundings = surroundings
    }

    public func close() { mailbox.close() }

    public func run() async {
        await mailbox.handle(
            atOnce: Self.editsAtOnce,
            waiting: Self.editsWaiting,
            besides: \.isQuick,
            refusing: { $0.refuse() }
        ) {
            await self.carryOut($0)
        }
    }

    private func carryOut(_ message: Message) async {
        switch message {
        case .edit(let wish, let expectation, let reply):
            await reply.answer { () async throws(Refusal) in
                try await edit(wish, of: expectation).map(\.cipherID)
            }
        case .write(let wish, let expectation, let reply):
            await reply.answer { () async throws(Refusal) in
                try await write(wish, of: expectation)
            }
        case .view(let id, let keys, let reply):
            await reply.answer { () async throws(Refusal) in try view(id, keys) }
        case .list(let reply):
            await reply.answer { () async throws(Refusal) in try list() }
        case .saveCopy(let id, let reply):
            await reply.answer { () async throws(Refusal) in try await saveCopy(of: id) }
        case .discard(let id, let reply):
            await reply.answer { () async throws(Refusal) in try await discard(id) }
        case .makeReady(let id, let reply):
            await reply.answer { () async throws(Refusal) in try await makeReady(id) }
        case .pulse(let reply): reply.answer()
        }
    }
}

extension Repository.Message {
    fileprivate var isQuick: Bool {
        switch self {
        case .view, .list, .pulse: true
        case .edit, .write, .saveCopy, .discard, .makeReady: false
        }
    }

    /// There are too many.
    fileprivate func refuse() {
        switch self {
        case .edit(_, _, let reply): reply.answer(.failure(.busy))
        case .write(_, _, let reply): reply.answer(.failure(.busy))
        case .view(_, _, let reply): reply.answer(.failure(.busy))
        case .list(let reply): reply.answer(.failure(.busy))
        case .saveCopy(_, let reply): reply.answer(.failure(.busy))
        case .discard(_, let reply), .makeReady(_, let reply): reply.answer(.failure(.busy))
        case .pulse(let reply): reply.answer()
        }
    }
}

// MARK: - The view

extension Repository {
    /// - Parameter given: Those that somebody has had since before.
    func keys(_ given: KeyRing? = nil) throws(Refusal) -> KeyRing {
        guard let keys = given ?? keyholder.keys else { throw .locked }
        return keys
    }

    func view(_ id: String, _ given: KeyRing? = nil) throws(Refusal) -> ViewedItem? {
        let keys = try keys(given)
        let layers = try layers(of: Lane(userID: userID, cipherID: id))
        if layers.isDamaged { haveMended() }
        return layers.viewed(keys)
    }

    /// As it is seen after an edit, which often says itself what that is.
    func shown(_ made: Made, _ given: KeyRing?) throws(Refusal) -> ViewedItem {
        let keys = try keys(given)
        if let item = made.overlay?.viewed(keys) { return item }
        if let cipher = made.unwritten { return ViewedItem(Item(cipher, keys: keys), .clean) }
        guard let item = try view(made.cipherID, keys) else { throw .notFound }
        return item
    }

    /// Upstream has what the disk did not keep.
    private func haveMended() {
        try? neighbours.scheduler.tryTell(.trigger(.baseDamaged))
    }

    func list() throws(Refusal) -> [ViewedItem] {
        let keys = try keys()
        let layers = try read { () throws(StoreError) in
            try neighbours.reader.layers(of: userID)
        }
        var pending = Dictionary(layers.pending.map { ($0.summary.lane.cipherID, $0) }) { $1 }
        let doubted = Set(layers.pending.flatMap { $0.change?.doubtedCreates ?? [] })
        var items: [ViewedItem] = []
        items.reserveCapacity(layers.base.count + pending.count)
        for base in layers.base {
            let id = base.lane.cipherID
            let change = pending.removeValue(forKey: id)
            guard let item = Layers(base.lane, base: base, pending: change).viewed(keys) else {
                continue
            }
            // It is shown as what waits here until it is known to be that.
            if change == nil, !doubted.isEmpty, doubted.contains(item.item.cipher.fingerprint) {
                continue
            }
            items.append(item)
        }
        for change in layers.pending {
            let id = change.summary.lane.cipherID
            guard pending[id] != nil else { continue }
            let layers = Layers(change.summary.lane, base: nil, pending: change)
            if let item = layers.viewed(keys) {
                items.append(item)
            }
        }
        if layers.base.contains(where: \.isDamaged) { haveMended() }
        return items
    }

    func layers(of lane: Lane) throws(Refusal) -> Layers {
        try read { () throws(StoreError) in try neighbours.reader.layers(of: lane) }
    }

    func read<Value>(_ body: () throws(StoreError) -> Value) throws(Refusal) -> Value {
        do throws(StoreError) { return try body() } catch { throw .store(error) }
    }

    /// Asks a neighbour; one that is gone means that the host is ending.
    func ask<Value: Sendable, Message: Sendable>(
        _ address: Address<Message>,
        _ message: (Reply<Result<Value, StoreError>>) -> Message
    ) async throws(Refusal) -> Value {
        let answer: Result<Value, StoreError>
        do throws(Undelivered) { answer = try await address.ask(message) } catch { throw .busy }
        do throws(StoreError) { return try answer.get() } catch { throw .store(error) }
    }
}
