internal import CSQLite

extension Session {
    /// What is wrong with the file; nothing, if all is well. Indexes are held against their tables: what an
    /// index lacks is there and is never found.
    func integrityCheck() throws(DatabaseError) -> [String] {
        try findings(of: "PRAGMA integrity_check(20)")
    }

    private func findings(
        of check: StaticString,
        _ values: Value...
    ) throws(DatabaseError) -> [String] {
        // What a read failed with before would be taken for one of this check.
        _ = csq_take_file_error(handle)
        let findings = try run(check, values) { (statement) throws(DatabaseError) in
            var findings: [String] = []
            while try statement.step() { findings.append(try Row(statement).text(0)) }
            return findings == ["ok"] ? [] : findings
        }
        if !findings.isEmpty { try refuseFailedRead(behind: findings) }
        return findings
    }

    /// Not every finding says that its page could not be read. The disk is at fault then, and of the file nothing is
    /// known.
    private func refuseFailedRead(behind findings: [String]) throws(DatabaseError) {
        let isOfDisk = DatabaseError.isOfDisk(csq_take_file_error(handle))
        let code = findings.lazy.compactMap(Self.failedRead).first
        guard
            let code = code ?? (isOfDisk ? ResultCode.corruptFileSystem.rawValue : nil)
        else { return }
        throw DatabaseError(code, of: nil, during: "check")
    }

    /// Where nothing but indexes is damaged, they are made anew of their tables.
    ///
    /// - Parameter tables: Those whose rows a start relies on: what it changes in them would be refused
    ///   if a row had been forced past its CHECKs.
    /// - Returns: What was wrong with the indexes.
    func refuseIfDamaged(rowsOf tables: [String] = []) throws(DatabaseError) -> [String] {
        var findings = try checkStructure()
        var mended: [String] = []
        if !findings.isEmpty, findings.allSatisfy(Self.isAboutIndex) {
            mended = findings
            findings = try reindex() ? checkStructure() : findings
        }
        for table in tables where findings.isEmpty { findings = try check(rowsOf: table) }
        guard let first = findings.first else { return mended }
        throw DatabaseError(
            .damaged(findings: findings),
            during: "check",
            message: findings.count == 1 ? first : "\(first), and \(findings.count - 1) more"
        )
    }

    /// - Returns: Whether it could be done. Where a table holds what it must not hold twice, it cannot.
    private func reindex() throws(DatabaseError) -> Bool {
        do throws(DatabaseError) {
            try control("REINDEX", "make the indexes anew")
            return true
        } catch {
            guard error.code?.primary == .constraint else { throw error }
            return false
        }
    }

    /// What is wrong with the rows of one table. One that is not there is well.
    private func check(rowsOf table: String) throws(DatabaseError) -> [String] {
        let isThere: StaticString = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?"
        let name = Value.text(table)
        guard
            try run(isThere, [name], { (statement) throws(DatabaseError) in try statement.step() })
        else { return [] }
        return try findings(of: "SELECT quick_check FROM pragma_quick_check(?)", name)
    }

    /// The same without the CHECKs of each row, which would take longer than all the rest: every
    /// statement that writes is held to them. Where a forced row would do harm at once, its table is
    /// checked by itself.
    private func checkStructure() throws(DatabaseError) -> [String] {
        try control("PRAGMA ignore_check_constraints = ON", "check")
        let findings = Result { () throws(DatabaseError) in try integrityCheck() }
        try control("PRAGMA ignore_check_constraints = OFF", "check")
        return try findings.get()
    }

    private static func isAboutIndex(_ finding: String) -> Bool {
        finding.hasPrefix("row ") && finding.contains(" missing from index ")
            || finding.hasPrefix("wrong # of entries in index ")
            || finding.hasPrefix("non-unique entry in index ")
    }

    /// SQLite's code, if the finding is that a page could not be read.
    private static func failedRead(_ finding: String) -> Int32? {
        guard let mark = finding.firstRange(of: "error code=") else { return nil }
        let code = Int32(finding[mark.upperBound...].prefix { $0.isNumber })
        return code.flatMap { $0 & 0xff == SQLITE_IOERR ? $0 : nil }
    }
}
