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

    func refuseIfDamaged() throws(DatabaseError) {
        let findings = try quickCheckOfStructure()
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

    /// The same without the CHECKs of each row, which would take longer than all the rest. They hold
    /// because every statement that writes is held to them; and a row that somebody forced in is a
    /// matter for its reader, and no reason to set the whole file aside.
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
