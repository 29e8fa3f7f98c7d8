internal import SQLite

/// The tables. A released migration never changes; the next one is added below it.
enum Schema {
    /// In earlier ones, rows of base have no digests.
    static let firstVersionWithDigests = 2
    /// In earlier ones, nothing is kept of what a list has left out.
    static let firstVersionWithLeftOut = 8

    static func version(_ db: borrowing Connection) throws(DatabaseError) -> Int {
        try db.first("SELECT user_version FROM pragma_user_version") {
            (row) throws(DatabaseError) in try row.int(0)
        } ?? 0
    }

    static let migrations = [
        Migration("accounts, base and pending changes") { (db) throws(DatabaseError) in
            try db.execute(script: accounts)
            try db.execute(script: base)
            try db.execute(script: pending)
            try db.execute(script: tally)
            try db.execute(script: aftermath)
        },
        Migration("base rows that show when they are damaged") { (db) throws(DatabaseError) in
            try db.execute(script: digests)
            try BaseTable.digestAll(db)
        },
        Migration("what of upstream came from here") { (db) throws(DatabaseError) in
            try db.execute(script: ownHistory)
        },
        Migration("what is looked after although it is settled") { (db) throws(DatabaseError) in
            try db.execute(script: aftercare)
        },
        Migration("every stamp that came from here") { (db) throws(DatabaseError) in
            try db.execute(script: ownStamps)
        },
        Migration("in which state something was deleted") { (db) throws(DatabaseError) in
            // By upstream's clock; ours may have been wrong. Not known of what was deleted before.
            try db.execute("ALTER TABLE brought_up ADD COLUMN revision_ticks INTEGER")
        },
        Migration("of what there may be backup copies") { (db) throws(DatabaseError) in
            try db.execute(
                """
                CREATE INDEX resolution_with_backup ON resolution (user_id, cipher_id)
                WHERE backup_cipher_id IS NOT NULL OR outcome = 'discarded'
                """
            )
        },
        Migration("what a list left out") { (db) throws(DatabaseError) in
            // What base had said, if something that was sent for it may be carried out late.
            try db.execute("ALTER TABLE brought_up ADD COLUMN left_out BLOB")
            try db.execute("ALTER TABLE brought_up ADD COLUMN left_out_digest BLOB")
            try db.execute(
                "CREATE INDEX brought_up_left_out ON brought_up (user_id) WHERE left_out IS NOT NULL"
            )
            try db.execute("CREATE INDEX stray_by_keeper ON stray (user_id, keeper_id)")
        },
        Migration("receipts of what upstream took, by account") { (db) throws(DatabaseError) in
            try db.execute(
                """
                CREATE INDEX receipt_taken ON receipt (user_id, status)
                WHERE status IN ('sent', 'observed')
                """
            )
        },
        Migration("no index of what the tally tells") { (db) throws(DatabaseError) in
            // Each edit and each attempt wrote a page of them, and the tally knows as much.
            try db.execute("DROP INDEX pending_due")
            try db.execute("DROP INDEX pending_in_flight")
            try db.execute(
                """
                CREATE INDEX pending_backing_off ON pending_change (user_id, due_ticks)
                WHERE state = 'backingOff'
                """
            )
        },
        Migration("folders and sends that are younger than a list") { (db) throws(DatabaseError) in
            try db.execute(script: youngSlices)
        },
        Migration("what brought a password that may be overwritten") { (db) throws(DatabaseError) in
            // Of what was settled before, nothing is known of that.
            try db.execute(
                "ALTER TABLE brought_up ADD COLUMN is_exposed INTEGER NOT NULL DEFAULT 0"
            )
            try db.execute(
                "CREATE INDEX brought_up_exposed ON brought_up (user_id) WHERE is_exposed = 1"
            )
        },
        Migration("what was put into the trash since, and may be overwritten") {
            (db) throws(DatabaseError) in
            try db.execute("DROP INDEX brought_up_exposed")
            try db.execute(
                "CREATE INDEX brought_up_exposed ON brought_up (user_id) WHERE is_exposed > 0"
            )
        },
        Migration("calls that may be carried out late") { (db) throws(DatabaseError) in
            try db.execute(script: lateCalls)
        },
        Migration("records of accounts beside the way to them") { (db) throws(DatabaseError) in
            try db.execute(script: accountsBesideTheirIndex)
        },
        Migration("receipts by change, as long as somebody waits") { (db) throws(DatabaseError) in
            try db.execute("DROP INDEX receipt_of_change")
            try db.execute(
                """
                CREATE INDEX receipt_of_change ON receipt (pending_id)
                WHERE status IN ('queued', 'quarantined')
                """
            )
        },
        Migration("how an item was sent to be made") { (db) throws(DatabaseError) in
            try db.execute("ALTER TABLE brought_up ADD COLUMN made BLOB")
        },
    ]

    private static let accounts: StaticString = """
        CREATE TABLE setting (
            name TEXT PRIMARY KEY NOT NULL,
            value TEXT NOT NULL
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE account (
            id TEXT PRIMARY KEY NOT NULL CHECK (length(id) > 0),
            record BLOB NOT NULL
        ) STRICT, WITHOUT ROWID;
        """

    /// A record fills most of a page. In the index itself, each step of a search fetched another of them.
    private static let accountsBesideTheirIndex: StaticString = """
        CREATE TABLE account_by_number (
            id TEXT PRIMARY KEY NOT NULL CHECK (length(id) > 0),
            record BLOB NOT NULL
        ) STRICT;
        INSERT INTO account_by_number SELECT id, record FROM account;
        DROP TABLE account;
        ALTER TABLE account_by_number RENAME TO account;
        """

    /// What upstream last said. `json` is its own text, byte for byte.
    private static let base: StaticString = """
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
        """

    /// `seq` gives the order, because clocks are set back. It is never used twice.
    private static let pending: StaticString = """
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
        """

    /// Counted when it changes, not when somebody asks.
    private static let tally: StaticString = """
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
        """

    private static let aftermath: StaticString = """
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

    private static let digests: StaticString = """
        ALTER TABLE base_cipher ADD COLUMN digest BLOB NOT NULL DEFAULT x'';
        ALTER TABLE base_slice ADD COLUMN digest BLOB NOT NULL DEFAULT x'';
        """

    private static let ownHistory: StaticString = """
        -- Since since_ticks nobody else has written the cipher, if upstream still holds this revision.
        CREATE TABLE own_history (
            user_id TEXT NOT NULL CHECK (length(user_id) > 0),
            cipher_id TEXT NOT NULL CHECK (length(cipher_id) > 0),
            revision_text TEXT NOT NULL,
            since_ticks INTEGER NOT NULL,
            PRIMARY KEY (user_id, cipher_id)
        ) STRICT, WITHOUT ROWID;
        """

    private static let aftercare: StaticString = """
        -- What upstream took from here. Its content is in base; a row without base is a deletion.
        CREATE TABLE brought_up (
            user_id TEXT NOT NULL CHECK (length(user_id) > 0),
            cipher_id TEXT NOT NULL CHECK (length(cipher_id) > 0),
            is_gone INTEGER NOT NULL CHECK (is_gone IN (0, 1)),
            settled_ticks INTEGER NOT NULL,
            key_fingerprint BLOB NOT NULL,
            PRIMARY KEY (user_id, cipher_id)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX brought_up_by_age ON brought_up (settled_ticks);

        -- What was sent, never answered and sent again: a late copy of it may turn up.
        CREATE TABLE stray (
            user_id TEXT NOT NULL CHECK (length(user_id) > 0),
            fingerprint BLOB NOT NULL,
            keeper_id TEXT NOT NULL,
            settled_ticks INTEGER NOT NULL,
            PRIMARY KEY (user_id, fingerprint)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX stray_by_age ON stray (settled_ticks);

        -- Files that a backup copy is to have as well as the item that it was made of.
        CREATE TABLE backup_file (
            user_id TEXT NOT NULL CHECK (length(user_id) > 0),
            backup_id TEXT NOT NULL,
            attachment_id TEXT NOT NULL,
            source_id TEXT NOT NULL,
            failures INTEGER NOT NULL CHECK (failures >= 0),
            due_ticks INTEGER NOT NULL,
            PRIMARY KEY (user_id, backup_id, attachment_id)
        ) STRICT, WITHOUT ROWID;
        """

    private static let youngSlices: StaticString = """
        -- As of base_cipher.
        ALTER TABLE base_slice ADD COLUMN written INTEGER NOT NULL DEFAULT 0;
        CREATE TABLE slice_removed (
            user_id TEXT NOT NULL,
            kind TEXT NOT NULL,
            id TEXT NOT NULL,
            written INTEGER NOT NULL CHECK (written >= 0),
            PRIMARY KEY (user_id, kind, id)
        ) STRICT, WITHOUT ROWID;
        """

    private static let lateCalls: StaticString = """
        -- What was sent for a change that is settled, never answered and sent again. It brings no content.
        CREATE TABLE late_call (
            user_id TEXT NOT NULL CHECK (length(user_id) > 0),
            cipher_id TEXT NOT NULL CHECK (length(cipher_id) > 0),
            kind TEXT NOT NULL,
            sent_ticks INTEGER NOT NULL,
            PRIMARY KEY (user_id, cipher_id, kind)
        ) STRICT, WITHOUT ROWID;
        """

    private static let ownStamps: StaticString = """
        ALTER TABLE own_history RENAME TO last_own;
        -- The latest revisions of a cipher that came from here. Since since_ticks nobody else has
        -- written it, if upstream still holds one of these.
        CREATE TABLE own_history (
            user_id TEXT NOT NULL CHECK (length(user_id) > 0),
            cipher_id TEXT NOT NULL CHECK (length(cipher_id) > 0),
            number INTEGER NOT NULL CHECK (number >= 0),
            revision_text TEXT NOT NULL,
            since_ticks INTEGER NOT NULL,
            PRIMARY KEY (user_id, cipher_id, number)
        ) STRICT, WITHOUT ROWID;
        INSERT INTO own_history
            SELECT user_id, cipher_id, 0, revision_text, since_ticks FROM last_own;
        DROP TABLE last_own;
        """
}
