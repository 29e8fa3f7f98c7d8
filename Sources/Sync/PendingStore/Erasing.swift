internal import SQLite

/// What became of the wish to erase an account.
public enum Erasure: Hashable, Sendable {
    /// - Parameters:
    ///   - discarded: What waited in its name.
    ///   - left: The files that were set aside and may have rows of it all the same. They are damaged and
    ///     may be all that is left of other accounts, so a person has to decide.
    case erased(discarded: [PendingTally], left: [String])
    /// So much waits in its name, and nothing was erased.
    case pending(Int)
}

/// The accounts whose rows are gone while files may still have some. Written down with the erasing itself, so that
/// a host that is stopped then goes on where it was.
enum ErasingNotes {
    private static let prefix = "erasing "

    static func name(of userID: String) -> String { prefix + userID }

    static func all(_ db: borrowing Connection) throws(DatabaseError) -> [String] {
        try db.all("SELECT name FROM setting WHERE name GLOB 'erasing *' ORDER BY name") {
            (row) throws(DatabaseError) in String(try row.text(0).dropFirst(prefix.count))
        }
    }
}

extension Store {
    /// Erases everything of an account in one transaction, then makes the copy anew, and takes it out of
    /// the files that a salvage or a migration set aside.
    ///
    /// - Parameter evenIfPending: Also what waits in its name.
    @discardableResult
    public func erase(
        _ userID: String,
        evenIfPending: Bool = true
    ) async throws(StoreError) -> Erasure {
        // What the copy has of it is not to come back afterwards.
        try await catchUpLate()
        let waiting = try await eraseRows(
            of: userID,
            evenIfPending: evenIfPending,
            isNoted: directory != nil
        )
        if !evenIfPending, !waiting.isEmpty { return .pending(waiting.map(\.count).reduce(0, +)) }
        // The account is gone, whatever becomes of these.
        return .erased(discarded: waiting, left: await eraseFromFiles(userID))
    }

    /// Takes back that an account came, unless something waits in its name.
    ///
    /// - Returns: Whether nothing of it is left.
    public func eraseNewcomer(_ userID: String) async throws(StoreError) -> Bool {
        try await eraseRows(of: userID, evenIfPending: false, isNoted: false).isEmpty
    }

    /// Ends what the last process had begun. Of an account that has come back since, nothing is erased.
    func endErasing() async {
        // What only the copy has of others is not to go with it.
        guard (try? await catchUpLate()) != nil else { return }
        let names = try? reader.read { (db) throws(DatabaseError) in try ErasingNotes.all(db) }
        for userID in names ?? [] {
            let isBack = try? reader.read { (db) throws(DatabaseError) in
                try AccountTable.contains(userID, db)
            }
            switch isBack {
            case true?: try? await forgetErasing(userID)
            case false?: _ = await eraseFromFiles(userID)
            case nil: break
            }
        }
    }

    /// - Returns: What waits in the account's name, which keeps everything from being erased, or waited.
    func eraseRows(
        of userID: String,
        evenIfPending: Bool,
        isNoted: Bool
    ) async throws(StoreError) -> [PendingTally] {
        try await write { (db) throws(DatabaseError) in
            let waiting = try PendingTable.tally(of: userID, db)
            guard evenIfPending || waiting.isEmpty else { return waiting }
            try db.overwriting { () throws(DatabaseError) in try AccountTable.erase(userID, db) }
            if isNoted { try SettingTable.put(ErasingNotes.name(of: userID), "", db) }
            return waiting
        }
    }

    /// - Returns: What of them may have rows of it all the same.
    private func eraseFromFiles(_ userID: String) async -> [String] {
        guard let directory else { return [] }
        await emptyLog()
        await eraseCopy(directory)
        var left: [String] = []
        var isAtEnd = true
        do throws(StoreError) {
            let files = try SetAside.all(beside: directory.file(Self.fileName))
            for file in files {
                do throws(StoreError) {
                    if try await !file.erase(userID) { left.append(file.path) }
                } catch {
                    left.append(file.path)
                    isAtEnd = false
                }
            }
            // Whoever opens one whose log is damaged sets that aside, and it may have rows of the account.
            let known = Set(files.map(\.path))
            left += try SetAside.all(beside: directory.file(Self.fileName)).map(\.path)
                .filter { !known.contains($0) }
        } catch {
            isAtEnd = false
        }
        // What the disk has kept from it is tried again with the next start.
        if isAtEnd {
            try? await forgetErasing(userID)
            await emptyLog()
        }
        return left
    }

    /// What was erased is in the log as it was before, and in the database until the log is moved. Where a reader is in
    /// the way, it goes with the next start at the latest.
    private func emptyLog() async { try? await database.checkpoint() }

    /// A copy that was under way may have rows of the account, and so may the old one if no other can
    /// be made. The next chore makes one.
    private func eraseCopy(_ directory: StateDirectory) async {
        do throws(StoreError) {
            while try await !copyPending() {}
        } catch {
            StoreFile.remove(directory.file(Self.copyName))
        }
    }

    private func forgetErasing(_ userID: String) async throws(StoreError) {
        try await write { (db) throws(DatabaseError) in
            try db.overwriting { () throws(DatabaseError) in
                try SettingTable.remove(ErasingNotes.name(of: userID), db)
            }
        }
    }
}
