internal import CSQLite

extension Session {
    /// What is wrong with the file; nothing, if all is well.
    func quickCheck() throws(DatabaseError) -> [String] {
        try run("PRAGMA quick_check(20)", []) { (statement) throws(DatabaseError) in
            var findings: [String] = []
            while try statement.step() { findings.append(try Row(statement).text(0)) }
            return findings == ["ok"] ? [] : findings
        }
    }

    /// - Parameter tables: Those whose rows a start relies on: what it changes in them would be refused
    ///   if a row had been forced past its CHECKs.
    func refuseIfDamaged(rowsOf tables: [String] = []) throws(DatabaseError) {
        var findings = try quickCheckOfStructure()
        for table in tables where findings.isEmpty { findings = try quickCheck(rowsOf: table) }
        guard let first = findings.first else { return }
        if let code = findings.lazy.compactMap(Self.failedRead).first {
            throw DatabaseError(code, of: nil, during: "check")
        }
        throw DatabaseError(
            .damaged(findings: findings),
            during: "check",
            message: findings.count == 1 ? first : "\(first), and \(findings.count - 1) more"
        )
    }

    /// The same for one table. One that is not there is well.
    private func quickCheck(rowsOf table: String) throws(DatabaseError) -> [String] {
        let isThere: StaticString = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?"
        let name = Value.text(table)
        guard
            try run(isThere, [name], { (statement) throws(DatabaseError) in try statement.step() })
        else { return [] }
        let check: StaticString = "SELECT quick_check FROM pragma_quick_check(?)"
        return try run(check, [name]) { (statement) throws(DatabaseError) in
            var findings: [String] = []
            while try statement.step() { findings.append(try Row(statement).text(0)) }
            return findings == ["ok"] ? [] : findings
        }
    }

    /// The same without the CHECKs of each row, which would take longer than all the rest: every
    /// statement that writes is held to them. Where a forced row would do harm at once, its table is
    /// checked by itself.
    private func quickCheckOfStructure() throws(DatabaseError) -> [String] {
        try control("PRAGMA ignore_check_constraints = ON", "check")
        let findings = Result { () throws(DatabaseError) in try quickCheck() }
        try control("PRAGMA ignore_check_constraints = OFF", "check")
        return try findings.get()
    }

    /// SQLite's code, if the finding is that a page could not be read: the disk is at fault then, and
    /// of the file nothing is known.
    private static func failedRead(_ finding: String) -> Int32? {
        guard let mark = finding.firstRange(of: "error code=") else { return nil }
        let code = Int32(finding[mark.upperBound...].prefix { $0.isNumber })
        return code.flatMap { $0 & 0xff == SQLITE_IOERR ? $0 : nil }
    }
}
