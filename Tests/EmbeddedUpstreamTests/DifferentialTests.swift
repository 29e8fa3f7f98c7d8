import Testing

/// Every request that was recorded with a real server, sent to ours in the same order at the same
/// time of day.
struct DifferentialTests {
    @Test func `we answer as the real server did, but for what is listed`() async throws {
        var replay = try await Replay()
        var wrong: [String] = []
        for step in Replay.steps {
            switch step {
            case .send(let name):
                let recording = try Recording(name)
                let findings = try await replay.send(recording)
                let unlisted = findings.filter { Difference.reason(of: $0, in: name) == nil }
                wrong += unlisted.sorted().map { "\(name)\($0)" }
            case .make(let theirs, let source): try await replay.make(theirs, like: source)
            case .learnCollection(let theirs): try await replay.learnCollection(theirs)
            case .logIn(let name): try await replay.logIn(name)
            }
        }
        #expect(wrong.isEmpty, "\(wrong.joined(separator: "\n"))")
        let unused = Difference.all.filter { difference in
            !replay.met.contains { difference.covers($0.finding, in: $0.name) }
        }
        #expect(unused.isEmpty, "listed and never met: \(unused)")
    }

    @Test func `every recording is replayed`() throws {
        let sent = Set(
            Replay.steps.compactMap { step -> String? in
                if case .send(let name) = step { name } else { nil }
            }
        )
        #expect(try Replay.recorded().subtracting(sent) == [])
        #expect(sent.count == 123)
    }
}

/// Where our answers differ, and why.
struct Difference: CustomStringConvertible {
    /// The recording, or `nil` for any.
    let name: String?
    /// The end of the finding's path and what was found there.
    let finding: String
    let reason: String

    func covers(_ finding: String, in name: String) -> Bool {
        (self.name == nil || self.name == name) && finding.hasSuffix(self.finding)
    }

    static func reason(of finding: String, in name: String) -> String? {
        all.first { $0.covers(finding, in: name) }?.reason
    }

    var description: String { "\(name ?? "*")\(finding)" }

    private static let newer =
        "Vaultwarden 2026.6.0, which the profile stands for, has it; 1.36 had not."

    static let all: [Difference] = [
        Difference(name: nil, finding: ".kdfSettings: added", reason: newer),
        Difference(name: nil, finding: ".salt: added", reason: newer),
        Difference(name: nil, finding: ".accountKeys: added", reason: newer),
        Difference(name: nil, finding: ".verifyDevices: added", reason: newer),
        Difference(name: nil, finding: ".AccountKeys.signatureKeyPair: added", reason: newer),
        Difference(name: nil, finding: ".AccountKeys.securityState: added", reason: newer),
        Difference(
            name: nil,
            finding: ".publicKeyEncryptionKeyPair.signedPublicKey: added",
            reason: newer
        ),
        Difference(name: "config", finding: ".communication: added", reason: newer),
        Difference(
            name: "config",
            finding: ".settings.suppressOnboardingInterstitials: added",
            reason: newer
        ),
        Difference(name: "config", finding: ".gitHash: another text", reason: "another build"),
        Difference(name: "config", finding: ".version: another text", reason: "another build"),
        Difference(name: "version", finding: ": another text", reason: "another build"),
        Difference(name: nil, finding: ".collections[].type: added", reason: newer),
        Difference(
            name: nil,
            finding: ".collections[].defaultUserCollectionEmail: added",
            reason: newer
        ),
        Difference(
            name: nil,
            finding: ".globalEquivalentDomains: 2 elements instead of 91",
            reason: "Two are enough to show the shape; nobody here fills in forms."
        ),
        Difference(
            name: "revision_date",
            finding: ": another value",
            reason: "It counts from when our account was made."
        ),
        Difference(
            name: "twofactor_get_authenticator",
            finding: ".key: another text",
            reason: "The secret is a new one each time."
        ),
    ]
}
