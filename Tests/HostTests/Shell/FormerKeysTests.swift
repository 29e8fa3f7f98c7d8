import Bitwarden
import Crypto
import Sync
import Testing
import Vault

@testable import Host

/// What the master password has opened before, in whatever way it was derived then.
@Suite struct FormerKeysTests {
    private static let email = "ada@example.test"
    private static let entropy = SystemEntropy()

    private static func unlock(
        _ key: borrowing SymmetricKey,
        by password: String = "correct horse",
        rounds: Int = 5_000,
        salt: String = email
    ) throws -> MasterPasswordUnlock {
        let settings = DerivationSettings(kind: 0, iterations: rounds)
        let master = try MasterKey(
            password: Secret(utf8: password),
            salt: salt,
            derivation: KeyDerivation(settings)
        )
        return MasterPasswordUnlock(
            settings: settings,
            salt: salt,
            wrappedUserKey: try Sealer(master.stretched(), entropy: entropy).wrap(key)
        )
    }

    private static func opened(
        _ former: [MasterPasswordUnlock],
        beside present: borrowing SymmetricKey
    ) async throws -> FormerKeys {
        let password = Secret(utf8: "correct horse")
        let thread = try WorkshopThread()
        defer { thread.stop() }
        return await FormerKeys(
            opening: former,
            beside: present,
            password,
            email: email,
            entropy: entropy,
            in: thread.workshop
        )
    }

    @Test func `T-57 the same password opens former keys also under former settings and addresses`()
        async throws
    {
        let present = SymmetricKey(from: Self.entropy)
        let old = SymmetricKey(from: Self.entropy)
        let older = SymmetricKey(from: Self.entropy)
        let former = try await Self.opened(
            [
                Self.unlock(old, rounds: 6_000),
                Self.unlock(older, rounds: 6_000, salt: "ada@former.test"),
                Self.unlock(SymmetricKey(from: Self.entropy), by: "another password"),
            ],
            beside: present
        )
        let found = try former.cases.map { try $0.key().id }
        #expect(found == [old.id, older.id])
        #expect(former.needless.isEmpty)
    }

    @Test func `one that opens the present key, too, is not needed any more`() async throws {
        let present = SymmetricKey(from: Self.entropy)
        let sameKey = try Self.unlock(present, rounds: 6_000)
        let former = try await Self.opened([sameKey], beside: present)
        #expect(former.cases.isEmpty)
        #expect(former.needless == [sameKey])
    }

    @Test
    func `whoever leaves before what is pending was resealed leaves the vault as it was`()
        async throws
    {
        let old = SymmetricKey(from: Self.entropy)
        let former = try await Self.opened(
            [Self.unlock(old)],
            beside: SymmetricKey(from: Self.entropy)
        )
        try #require(former.cases.count == 1)
        try await RestingHost(of: 1).open { accounts in
            let account = try #require(accounts.everybody.first)
            await withDiscardingTaskGroup { tasks in
                tasks.cancelAll()
                tasks.addTask {
                    await #expect(throws: DeskRefusal.self) {
                        let key = SymmetricKey(from: Self.entropy)
                        try await account.open(key, after: former)
                    }
                }
            }
            #expect(account.keyholder.isLocked)
        }
    }

    @Test
    func `whoever signs in under a new address is at home there at once, and unlocks with it`()
        async throws
    {
        let key = SymmetricKey(from: Self.entropy)
        let keyCase = try KeyCase(key, entropy: Self.entropy)
        let salted = try Self.unlock(key)
        let unlock = MasterPasswordUnlock(
            settings: salted.settings,
            salt: nil,
            wrappedUserKey: salted.wrappedUserKey
        )
        try await RestingHost(of: 1).open { accounts in
            let account = try #require(accounts.everybody.first)
            let former = account.record.email
            try await account.takeUp(Self.admitted(account, unlock, keyCase))
            #expect(accounts.accounts(withAddress: Self.email).map(\.id) == [account.id])
            #expect(accounts.accounts(withAddress: former).isEmpty)
            try await account.unlock(Secret(utf8: "correct horse"))
            #expect(!account.keyholder.isLocked)
        }
    }

    /// Under the address of these tests, whatever the account's was.
    private static func admitted(
        _ account: Account,
        _ unlock: MasterPasswordUnlock,
        _ key: KeyCase
    ) -> Admitted {
        let claims = AccessClaims(
            userID: account.id,
            validFrom: 0,
            validUntil: 4_000_000_000,
            issuer: "test",
            email: email,
            clientID: "cli",
            scope: ["api"]
        )
        let tokens = Tokens(
            userID: account.id,
            access: claims.token(seal: [1]),
            expires: Moment(ticks: .max / 2),
            renewal: .none
        )
        return Admitted(
            server: account.record.server,
            tokens: tokens,
            unlock: unlock,
            wrappedPrivateKey: nil,
            hasSecurityState: false,
            dropsItemKeys: false,
            secondFactorToken: nil,
            formerKeys: .none,
            key: key
        )
    }

    @Test func `what was opened before is kept with how it was opened, and four of it`() throws {
        var record = AccountRecord(id: "a", email: Self.email, server: "http://127.0.0.1:9")
        let unlocks = try (1...6).map {
            try Self.unlock(SymmetricKey(from: Self.entropy), rounds: 5_000 + $0)
        }
        for unlock in unlocks { record.take(unlock) }
        #expect(record.formerUnlocks == Array(unlocks.dropLast().reversed().prefix(4)))
        let again = try AccountRecord(record.stored)
        #expect(again.formerUnlocks == record.formerUnlocks)
        record.forget([unlocks[4]])
        #expect(record.formerUnlocks.first == unlocks[3])
    }

    @Test func `a record of before has former keys without settings, and takes today's`() throws {
        var record = AccountRecord(id: "a", email: Self.email, server: "http://127.0.0.1:9")
        let unlock = try Self.unlock(SymmetricKey(from: Self.entropy))
        record.take(unlock)
        let text = String(decoding: record.stored.record, as: UTF8.self)
        let old = text.replacing(
            #""formerUnlocks":[]"#,
            with: ##""formerKeys":["2.a|b|c"]"##
        )
        try #require(old != text)
        let read = try AccountRecord(StoredAccount(id: "a", record: Array(old.utf8)))
        #expect(read.formerUnlocks.map(\.wrappedUserKey) == ["2.a|b|c"])
        #expect(read.formerUnlocks.map(\.settings) == [unlock.settings])
    }

    @Test func `a record of before says who is the default, and one of today who was chosen last`()
        throws
    {
        var record = AccountRecord(id: "a", email: Self.email, server: "http://127.0.0.1:9")
        for (choice, old) in [(0, 0), (1, 1), (7, 1)] {
            record.choice = choice
            #expect(try AccountRecord(record.stored).choice == choice)
            let text = String(decoding: record.stored.record, as: UTF8.self)
                .replacing(#","choice":\#(choice)"#, with: "")
            let stored = StoredAccount(id: "a", record: Array(text.utf8))
            #expect(try AccountRecord(stored).choice == old)
        }
    }
}
