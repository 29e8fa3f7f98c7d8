import Crypto
import Messaging
import Metrics
import Sync
import Vault

/// What all accounts of a host share.
struct Office: Sendable {
    let store: PendingStore
    let key: HostKey
    let workshop: Workshop
    let policy: SyncPolicy
    let offlineChanges: SwitchBoard.Setting
    let resolution: SwitchBoard.Setting
    /// Where encrypted files are kept that were fetched once.
    let cacheDirectory: String
    let heart: Heart
    let channels: ChannelMetrics
    let surroundings: Surroundings

    /// One writing of an account's record at a time: an older one would take back a newer token.
    let records = Lanes()
    /// How all accounts stand.
    let roll = Roll()
    let addresses = AddressBook()
    let roster = Roster()

    func announce(_ event: MeshEvent) {
        switch event {
        case .sync(let userID, _), .account(let userID): roll.note(userID)
        case .pending, .resolution, .network: break
        }
        surroundings.announce(event)
    }

    func switchBoard() -> SwitchBoard {
        SwitchBoard(offlineChanges: offlineChanges, resolution: resolution)
    }

    func read<Value>(
        _ body: (StoreReader) throws(StoreError) -> Value
    ) throws(DeskRefusal) -> Value {
        do throws(StoreError) { return try body(store.reader) } catch { throw DeskRefusal(error) }
    }

    /// Waits for the answer even if the caller was cancelled: the store does what it was asked for anyway, and what
    /// has to follow here must follow.
    func ask<Value: Sendable>(
        _ message: (Reply<Result<Value, StoreError>>) -> PendingStore.Message
    ) async throws(DeskRefusal) -> Value {
        let answer: Result<Value, StoreError>
        do throws(Undelivered) {
            answer = try await store.address.askRegardless(message)
        } catch {
            throw .busy
        }
        do throws(StoreError) { return try answer.get() } catch { throw DeskRefusal(error) }
    }

    func put(_ record: AccountRecord) async throws(DeskRefusal) {
        let _: Void = try await ask { .account(.put(record.stored, $0)) }
    }
}

extension DeskRefusal {
    init(_ error: StoreError) {
        if error == .noAccount {
            self = .noAccount
        } else {
            self = error.isForWantOfRoom ? .noRoom(error.description) : .store(error)
        }
    }

    /// Why a password does not open what it should. Most often it is another one.
    init(_ error: CryptoError) {
        switch error {
        case .unsupported, .outOfBounds, .unknownDerivation, .libraryFailed:
            self = .notAllowed(error.description)
        case .malformed, .wrongFamily, .downgrade, .keyWithoutMAC, .notAuthentic, .undecryptable,
            .notText, .keyLength, .keyUnreadable, .noSecret, .tooLong:
            self = .wrongPassword
        case .notBegun: self = .busy
        }
    }

    init(_ refusal: Repository.Refusal) {
        switch refusal {
        case .locked: self = .locked
        case .notFound: self = .notFound
        case .inTrash: self = .inTrash
        case .unfit(let refusal): self = .unfit(refusal)
        case .outOfDate: self = .notAllowed(Self.outOfDate)
        case .unreadable: self = .notAllowed(Self.unreadable)
        case .contentless: self = .notAllowed(Self.contentless)
        case .upstream(let setback): self = .upstream(setback)
        case .hindered(let note): self = .notAllowed(note.message)
        case .store(let error): self = DeskRefusal(error)
        case .unsettled(let error): self = .unsettled(error)
        case .busy: self = .busy
        }
    }

    static let outOfDate =
        "The cipher you are updating is out of date. Please save your work, sync your vault, and"
        + " try again."
    static let contentless = "This change has no content of which a copy could be kept."
    static let unreadable =
        "What is here of this item cannot be read. Look at the pending changes, or sync and try again."
}
