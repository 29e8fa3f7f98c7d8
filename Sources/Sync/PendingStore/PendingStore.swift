public import Messaging
public import Vault

/// The host's memory as a service: one for all accounts, and the only one that writes.
///
/// Every message is one transaction of the ``Store``. Messages run side by side, so that those which
/// arrive together share a commit; whoever needs an order waits for the answer, as lanes do.
public final class PendingStore: Service {
    public typealias Answer<Value: Sendable> = Reply<Result<Value, StoreError>>

    public enum Message: Sendable {
        case change(ChangeMessage)
        case base(BaseMessage)
        case files(FileMessage)
        case account(AccountMessage)
        case observe([String], superseded: [String], at: Moment, Answer<Void>)
        case set(String, to: String, Answer<Void>)
        /// Refused while nothing new can be kept.
        case requireAcceptance(Answer<Void>)
        /// Shows that messages are read.
        case pulse(Reply<Void>)
    }

    /// What a message carries lies apart from it: it passes through many hands, and its room is kept in
    /// each of them.
    public indirect enum ChangeMessage: Sendable {
        case record(Edit, in: Lane, as: Beginning, expecting: Seen?, Answer<Recording>)
        case withdraw(Recorded, expecting: Int64, Answer<Bool>)
        case update(
            String,
            expecting: Int64,
            @Sendable (inout PendingChange) -> Void,
            Answer<Swap>
        )
        case queue(
            String,
            expecting: Int64,
            at: Moment,
            needsRoom: Bool,
            isEditedOver: Bool,
            @Sendable (inout PendingChange) -> Void,
            Answer<(swap: Swap, receiptID: String?)>
        )
        case settle(String, in: Lane, expecting: Int64, Settlement, Answer<Settled>)
        case discard(String, expecting: Int64, at: Moment, keptAs: String?, Answer<Bool>)
        case quarantineUnreadable(String, expecting: Int64, Answer<Bool>)
        /// A call that stands for no change goes out now, and upstream may carry it out late. The answer is when an
        /// earlier one of the kind went out that may still come as well; nil if there is none.
        case expectLateCall(Attempt.Kind, of: Lane, at: Moment, Answer<Moment?>)
        /// It was answered, so that only an earlier one may still come.
        case dropLateCall(Attempt.Kind, of: Lane, leaving: Moment?, Answer<Void>)
    }

    /// About what upstream last said.
    public indirect enum BaseMessage: Sendable {
        case refresh(
            String,
            ciphers: [BaseCipher],
            slices: [BaseSlice],
            since: RefreshMark,
            isFallback: Bool,
            by: Judge,
            Answer<Refreshed>
        )
        case put(BaseCipher, by: Judge, Answer<Void>)
        /// As `put`, unless base has moved on since; whether it follows.
        case follow(BaseCipher, over: Revision?, since: RefreshMark?, by: Judge, Answer<Bool>)
        case remove(Lane, Answer<Void>)
        case putSlice(BaseSlice, of: String, Answer<Void>)
        case removeSlice(BaseSlice.Kind, id: String, of: String, Answer<Void>)
        case removeFolder(String, of: String, Answer<Void>)
        /// Untouched copies of these are looked for from now on.
        case watch([Stray], of: String, at: Moment, Answer<Void>)
    }

    /// About the files that backup copies are to have.
    public indirect enum FileMessage: Sendable {
        case note([BackupFile], Answer<Void>)
        case forget(BackupFile, Answer<Void>)
        case postpone(BackupFile, until: Moment, Answer<Void>)
    }

    public indirect enum AccountMessage: Sendable {
        case put(StoredAccount, Answer<Void>)
        case noteSync(String, of: String, Answer<Void>)
        case erase(String, evenIfPending: Bool, Answer<Erasure>)
        case eraseNewcomer(String, Answer<Bool>)
    }

    public var address: Address<Message> { mailbox.address }

    public var reader: StoreReader { store.reader }

    private let store: Store
    private let report: @Sendable (ChoreReport) -> Void
    private let mailbox = Mailbox<Message>(name: "pending-store", capacity: 1_024)

    /// So many messages are under way at most; more wait in the mailbox, and then with their
    /// senders.
    private static let messagesAtOnce = 512

    /// - Parameter report: Hears of every chore how it ended; they fail without anybody having asked.
    public init(_ store: Store, reporting report: @escaping @Sendable (ChoreReport) -> Void) {
        self.store = store
        self.report = report
    }

    public func close() { mailbox.close() }

    public func run() async {
        await withDiscardingTaskGroup { chores in
            for chore in Chore.allCases {
                chores.addTask { await self.store.keep(doing: chore, reporting: self.report) }
            }
            await answerMessages()
            chores.cancelAll()
        }
        await store.keepLastCopy(reporting: report)
    }

    private func answerMessages() async {
        await mailbox.handle(atOnce: Self.messagesAtOnce) { await self.carryOut($0) }
    }

    private func carryOut(_ message: Message) async {
        switch message {
        case .change(let message): await carryOut(message)
        case .base(let message): await carryOut(message)
        case .files(let message): await carryOut(message)
        case .account(let message): await carryOut(message)
        case .observe(let ids, let superseded, let moment, let reply):
            await reply.answer { () async throws(StoreError) in
                try await store.observe(ids, superseded: superseded, at: moment)
            }
        case .set(let name, let value, let reply):
            await reply.answer { () async throws(StoreError) in
                try await store.set(name, to: value)
            }
        case .requireAcceptance(let reply):
            await reply.answer { () async throws(StoreError) in try await store.requireAcceptance()
            }
        case .pulse(let reply): reply.answer()
        }
    }

    private func carryOut(_ message: ChangeMessage) async {
        switch message {
        case .record(let edit, let lane, let beginning, let seen, let reply):
            await reply.answer { () async throws(StoreError) in
                try await store.record(edit, in: lane, as: beginning, expecting: seen)
            }
        case .withdraw(let recorded, let version, let reply):
            await reply.answer { () async throws(StoreError) in
                try await store.withdraw(recorded, expecting: version)
            }
        case .update(let id, let version, let body, let reply):
            await reply.answer { () async throws(StoreError) in
                try await store.update(id, expecting: version, body)
            }
        case .queue(
            let id,
            let version,
            let moment,
            let needsRoom,
            let isEditedOver,
            let body,
            let reply
        ):
            await reply.answer { () async throws(StoreError) in
                try await store.queue(
                    id,
                    expecting: version,
                    at: moment,
                    needsRoom: needsRoom,
                    isEditedOver: isEditedOver,
                    body
                )
            }
        case .settle(let id, let lane, let version, let settlement, let reply):
            await reply.answer { () async throws(StoreError) in
                try await store.settle(id, in: lane, expecting: version, settlement)
            }
        case .discard(let id, let version, let moment, let backupID, let reply):
            await reply.answer { () async throws(StoreError) in
                try await store.discard(id, expecting: version, at: moment, keptAs: backupID)
            }
        case .quarantineUnreadable(let id, let version, let reply):
            await reply.answer { () async throws(StoreError) in
                try await store.quarantineUnreadable(id, expecting: version)
            }
        case .expectLateCall(let kind, let lane, let moment, let reply):
            await reply.answer { () async throws(StoreError) in
                try await store.expectLateCall(kind, of: lane, at: moment)
            }
        case .dropLateCall(let kind, let lane, let earlier, let reply):
            await reply.answer { () async throws(StoreError) in
                try await store.dropLateCall(kind, of: lane, leaving: earlier)
            }
        }
    }

    private func carryOut(_ message: BaseMessage) async {
        switch message {
        case .refresh(
            let userID,
            let ciphers,
            let slices,
            let mark,
            let isFallback,
            let judge,
            let reply
        ):
            await reply.answer { () async throws(StoreError) in
                try await store.refresh(
                    userID,
                    ciphers: ciphers,
                    slices: slices,
                    since: mark,
                    isFallback: isFallback,
                    judge: judge
                )
            }
        case .put(let cipher, let judge, let reply):
            await reply.answer { () async throws(StoreError) in
                try await store.putBase(cipher, by: judge)
            }
        case .follow(let cipher, let ground, let mark, let judge, let reply):
            await reply.answer { () async throws(StoreError) in
                try await store.followBase(cipher, over: ground, since: mark, by: judge)
            }
        case .remove(let lane, let reply):
            await reply.answer { () async throws(StoreError) in try await store.removeBase(lane) }
        case .putSlice(let slice, let userID, let reply):
            await reply.answer { () async throws(StoreError) in
                try await store.putSlice(slice, of: userID)
            }
        case .removeSlice(let kind, let id, let userID, let reply):
            await reply.answer { () async throws(StoreError) in
                try await store.removeSlice(kind, id: id, of: userID)
            }
        case .watch(let strays, let userID, let moment, let reply):
            await reply.answer { () async throws(StoreError) in
                try await store.watch(strays, of: userID, at: moment)
            }
        case .removeFolder(let id, let userID, let reply):
            await reply.answer { () async throws(StoreError) in
                try await store.removeFolder(id, of: userID)
            }
        }
    }

    private func carryOut(_ message: FileMessage) async {
        switch message {
        case .note(let files, let reply):
            await reply.answer { () async throws(StoreError) in try await store.note(files) }
        case .forget(let file, let reply):
            await reply.answer { () async throws(StoreError) in try await store.forget(file) }
        case .postpone(let file, let due, let reply):
            await reply.answer { () async throws(StoreError) in
                try await store.postpone(file, until: due)
            }
        }
    }

    private func carryOut(_ message: AccountMessage) async {
        switch message {
        case .put(let account, let reply):
            await reply.answer { () async throws(StoreError) in try await store.put(account) }
        case .noteSync(let text, let userID, let reply):
            await reply.answer { () async throws(StoreError) in
                try await store.noteSync(text, of: userID)
            }
        case .erase(let userID, let evenIfPending, let reply):
            await reply.answer { () async throws(StoreError) in
                try await store.erase(userID, evenIfPending: evenIfPending)
            }
        case .eraseNewcomer(let userID, let reply):
            await reply.answer { () async throws(StoreError) in
                try await store.eraseNewcomer(userID)
            }
        }
    }
}
