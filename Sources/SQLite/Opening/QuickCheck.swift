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
        let findings = try quickCheck()
        guard let first = findings.first else { return }
        throw DatabaseError(
            .damaged(findings: findings),
            during: "check",
            message: findings.count == 1 ? first : "\(first), and \(findings.count - 1) more"
        )
    }
}
