import FuzzProperties
import SQLite
import Vault

@testable import Sync

/// A file as version 1 of the schema made it. It never changes: such files are read for ever.
enum VersionOne {
    static let migration = Migration("version 1") { (db) throws(DatabaseError) in
        try db.execute(script: schema)
    }

    /// What the record in it says: one of the golden ones.
    static let change: PendingChange = {
        let found = PendingChange.versionOne.first { $0.name == "update" }
        return found!.change
    }()

    static let user = change.userID
    static let ciphers = 12

    static func cipher(_ number: Int) -> BaseCipher {
        let pad = String(repeating: "x", count: 900)
        return BaseCipher(
            lane: Lane(userID: user, cipherID: "cipher-\(10 + number)"),
            revision: Revision(text: "then", moment: Moment(ticks: Int64(number))),
            isTrashed: number % 2 == 0,
            isArchived: number % 3 == 0,
            organizationID: number % 4 == 0 ? "organization" : nil,
            json: Array("{\"id\":\"\(number)\",\"pad\":\"\(pad)\"}".utf8)
        )
    }

    static let slice = BaseSlice(.folder, id: "folder", json: Array("{}".utf8))

    /// Makes the file, with a row in every table.
    static func write(to path: String, vfs: String? = nil) async throws {
        var configuration = Configuration()
        configuration.vfs = vfs
        let database = try await Database.open(
            path,
            migrations: [migration],
            configuration: configuration
        )
        try await database.write { (db) throws(DatabaseError) in
            try db.execute(script: rows)
            for number in 0..<ciphers { try insert(cipher(number), db) }
            let (json, copy) = (change.intent.snapshot?.json, change.baseCopy)
            try db.execute(
                "UPDATE pending_change SET snapshot = ?, base_copy = ?",
                Value(json),
                Value(copy)
            )
        }
        try await database.close()
    }

    private static func insert(
        _ cipher: BaseCipher,
        _ db: borrowing Connection
    ) throws(DatabaseError) {
        try db.execute(
            "INSERT INTO base_cipher VALUES (?, ?, ?, ?, ?, ?, ?, 1, ?)",
            .text(cipher.lane.userID),
            .text(cipher.lane.cipherID),
            .text(cipher.revision.text),
            .int(Int(cipher.revision.moment.ticks)),
            .int(cipher.isTrashed ? 1 : 0),
            .int(cipher.isArchived ? 1 : 0),
            Value(cipher.organizationID),
            .blob(cipher.json)
        )
    }

    static let receipt = "7e5b4c1a-0000-4000-8000-000000000003"

    private static let rows: StaticString = """
        INSERT INTO account VALUES ('a0000000-0000-4000-8000-000000000001', x'0102');
        INSERT INTO setting VALUES ('colour', 'green');
        INSERT INTO base_clock VALUES ('a0000000-0000-4000-8000-000000000001', 1);
        INSERT INTO base_slice VALUES
            ('a0000000-0000-4000-8000-000000000001', 'folder', 'folder', x'7b7d');
        INSERT INTO alias VALUES
            ('a0000000-0000-4000-8000-000000000001', 'made', 'cipher-11');
        INSERT INTO receipt VALUES ('7e5b4c1a-0000-4000-8000-000000000003',
            'a0000000-0000-4000-8000-000000000001', '5f0c9f5e-8d7c-4a51-9a7e-0d6c6d0b7a11',
            'c0000000-0000-4000-8000-000000000002', 'queued', NULL, NULL, 5, NULL, NULL, NULL);
        INSERT INTO resolution VALUES (1, 'a0000000-0000-4000-8000-000000000001', 'p', 'c',
            'update', 'pushed', 'local', NULL, 1, 2);
        INSERT INTO pending_change VALUES (7, '5f0c9f5e-8d7c-4a51-9a7e-0d6c6d0b7a11',
            'a0000000-0000-4000-8000-000000000001', 'c0000000-0000-4000-8000-000000000002', 12,
            'update', 'backingOff', 17714070090000000, 17714070010000000, 17714070020000000,
            '2026-02-18T09:30:00.1234567Z', 17714070001234567, 4, x'', NULL, x'\
        080110011a9f030a2435663063396635652d386437632d346135312d396137652d3064366336\
        64306237613131122461303030303030302d303030302d343030302d383030302d3030303030\
        303030303030311a2463303030303030302d303030302d343030302d383030302d3030303030\
        303030303030322a2c0a2a08011204deadbeef1a20f1ff112631e03a4d098c6512d77e36c0b8\
        9305424c4eec087edaad635b50e5a74a270a1c323032362d30322d31385430393a33303a3030\
        2e313233343536375a108eca999fcab6f73e5080cac7a7cab6f73e5a1208f1c0011206626f6f\
        742d3118e2a2f3ad0760046a1f0a066261636b75701080fed0bacab6f73e1a02010222086163\
        6365707465646a1d0a067570646174651080d895c4cab6f73e1a01032207726566757365646a\
        1b0a0574726173681080b2dacdcab6f73e1a002207756e6b6e6f776e70097a320a270a1c3230\
        32362d30322d31385430393a33303a30302e313233343536375a108eca999fcab6f73e12027b\
        7d1a03622d318001038a011e0a0b7365727665724572726f72120f35303220e28093207370c3\
        a474657222209efa7ad9570c2db684a0fb4392fa54f7d545b5541476b4f4a415ec97b6e14a21\
        ');
        """

    private static let schema: StaticString = """
        CREATE TABLE setting (
            name TEXT PRIMARY KEY NOT NULL,
            value TEXT NOT NULL
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE account (
            id TEXT PRIMARY KEY NOT NULL CHECK (length(id) > 0),
            record BLOB NOT NULL
        ) STRICT, WITHOUT ROWID;

        -- How often an account's base was written; see base_cipher.written.
        CREATE TABLE base_clock (
            user_id TEXT PRIMARY KEY NOT NULL CHECK (length(user_id) > 0),
            written INTEGER NOT NULL CHECK (written >= 0)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE base_cipher (
            user_id TEXT NOT NULL CHECK (length(user_id) > 0),
            cipher_id TEXT NOT NULL CHECK (length(cipher_id) > 0),
            revision_text TEXT NOT NULL,
            revision_ticks INTEGER NOT NULL,
            is_trashed INTEGER NOT NULL CHECK (is_trashed IN (0, 1)),
            is_archived INTEGER NOT NULL CHECK (is_archived IN (0, 1)),
            organization_id TEXT,
            -- Which write of the account this was. A refresh leaves alone what is younger than it.
            written INTEGER NOT NULL CHECK (written >= 0),
            json BLOB NOT NULL,
            PRIMARY KEY (user_id, cipher_id)
        ) STRICT;

        -- Removed since some refresh began, so that the refresh does not bring it back.
        CREATE TABLE base_removed (
            user_id TEXT NOT NULL,
            cipher_id TEXT NOT NULL,
            written INTEGER NOT NULL CHECK (written >= 0),
            PRIMARY KEY (user_id, cipher_id)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE base_slice (
            user_id TEXT NOT NULL CHECK (length(user_id) > 0),
            kind TEXT NOT NULL CHECK (kind IN
                ('profile', 'folder', 'collection', 'organization', 'send', 'domains', 'policy')),
            id TEXT NOT NULL,
            json BLOB NOT NULL,
            PRIMARY KEY (user_id, kind, id)
        ) STRICT;

        CREATE TABLE pending_change (
            seq INTEGER PRIMARY KEY AUTOINCREMENT,
            id TEXT NOT NULL UNIQUE CHECK (length(id) = 36),
            user_id TEXT NOT NULL CHECK (length(user_id) > 0),
            cipher_id TEXT NOT NULL CHECK (length(cipher_id) > 0),
            version INTEGER NOT NULL CHECK (version >= 1),
            change_type TEXT NOT NULL,
            state TEXT NOT NULL
                CHECK (state IN ('ready', 'inFlight', 'backingOff', 'quarantined')),
            -- When it may be tried again: 0 at once, nothing where it may not be tried.
            due_ticks INTEGER,
            created_ticks INTEGER NOT NULL,
            updated_ticks INTEGER NOT NULL,
            baseline_text TEXT,
            baseline_ticks INTEGER,
            password_changes INTEGER NOT NULL DEFAULT 0 CHECK (password_changes >= 0),
            snapshot BLOB,
            base_copy BLOB,
            record BLOB NOT NULL,
            UNIQUE (user_id, cipher_id),
            CHECK (change_type NOT IN ('create', 'update') OR snapshot IS NOT NULL),
            CHECK (change_type <> 'hardDelete' OR snapshot IS NULL),
            CHECK (change_type <> 'create' OR baseline_text IS NULL),
            CHECK ((baseline_text IS NULL) = (baseline_ticks IS NULL)),
            CHECK ((state IN ('ready', 'backingOff')) = (due_ticks IS NOT NULL))
        ) STRICT;

        -- Holds seq too, as every index does: an account's changes in their order.
        CREATE INDEX pending_of_user ON pending_change (user_id);
        CREATE INDEX pending_due ON pending_change (user_id, due_ticks)
            WHERE due_ticks IS NOT NULL;
        CREATE INDEX pending_in_flight ON pending_change (user_id) WHERE state = 'inFlight';

        CREATE TABLE pending_tally (
            user_id TEXT NOT NULL,
            change_type TEXT NOT NULL,
            state TEXT NOT NULL,
            count INTEGER NOT NULL CHECK (count >= 0),
            bytes INTEGER NOT NULL CHECK (bytes >= 0),
            PRIMARY KEY (user_id, change_type, state)
        ) STRICT, WITHOUT ROWID;

        CREATE TRIGGER pending_recorded AFTER INSERT ON pending_change BEGIN
            INSERT INTO pending_tally VALUES (new.user_id, new.change_type, new.state, 1,
                length(new.record) + ifnull(length(new.snapshot), 0)
                    + ifnull(length(new.base_copy), 0))
            ON CONFLICT DO UPDATE SET count = count + 1, bytes = bytes + excluded.bytes;
        END;

        CREATE TRIGGER pending_removed AFTER DELETE ON pending_change BEGIN
            UPDATE pending_tally SET count = count - 1,
                bytes = bytes - length(old.record) - ifnull(length(old.snapshot), 0)
                    - ifnull(length(old.base_copy), 0)
            WHERE user_id = old.user_id AND change_type = old.change_type
                AND state = old.state;
        END;

        CREATE TRIGGER pending_changed
        AFTER UPDATE OF user_id, change_type, state, record, snapshot, base_copy
        ON pending_change BEGIN
            UPDATE pending_tally SET count = count - 1,
                bytes = bytes - length(old.record) - ifnull(length(old.snapshot), 0)
                    - ifnull(length(old.base_copy), 0)
            WHERE user_id = old.user_id AND change_type = old.change_type
                AND state = old.state;
            INSERT INTO pending_tally VALUES (new.user_id, new.change_type, new.state, 1,
                length(new.record) + ifnull(length(new.snapshot), 0)
                    + ifnull(length(new.base_copy), 0))
            ON CONFLICT DO UPDATE SET count = count + 1, bytes = bytes + excluded.bytes;
        END;

        -- What became of an id that we made. For ever: callers come back days later.
        CREATE TABLE alias (
            user_id TEXT NOT NULL,
            made_id TEXT NOT NULL CHECK (length(made_id) > 0),
            cipher_id TEXT NOT NULL CHECK (length(cipher_id) > 0 AND cipher_id <> made_id),
            PRIMARY KEY (user_id, made_id)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX alias_of_cipher ON alias (user_id, cipher_id);

        CREATE TABLE receipt (
            id TEXT PRIMARY KEY NOT NULL CHECK (length(id) = 36),
            user_id TEXT NOT NULL CHECK (length(user_id) > 0),
            pending_id TEXT NOT NULL,
            cipher_id TEXT NOT NULL,
            status TEXT NOT NULL CHECK (status IN ('queued', 'sent', 'observed', 'merged',
                'backedUp', 'superseded', 'restored', 'discarded', 'quarantined')),
            result_cipher_id TEXT,
            backup_cipher_id TEXT,
            queued_ticks INTEGER NOT NULL,
            sent_ticks INTEGER,
            observed_ticks INTEGER,
            ended_ticks INTEGER
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX receipt_of_change ON receipt (pending_id, status);
        CREATE INDEX receipt_by_age ON receipt (queued_ticks);

        CREATE TABLE resolution (
            seq INTEGER PRIMARY KEY AUTOINCREMENT,
            user_id TEXT NOT NULL CHECK (length(user_id) > 0),
            pending_id TEXT NOT NULL,
            cipher_id TEXT NOT NULL,
            change_type TEXT NOT NULL,
            outcome TEXT NOT NULL CHECK (outcome IN ('pushed', 'alreadyApplied', 'recreated',
                'backedUpServer', 'backedUpLocal', 'restoredServer', 'deleted', 'cleanedUp',
                'adopted', 'discarded')),
            winner TEXT CHECK (winner IN ('local', 'server')),
            backup_cipher_id TEXT,
            recorded_ticks INTEGER NOT NULL,
            resolved_ticks INTEGER NOT NULL
        ) STRICT;
        CREATE INDEX resolution_of_user ON resolution (user_id);
        """
}
