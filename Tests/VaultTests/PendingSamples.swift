import Vault

extension Snapshot {
    static func sample(_ text: String) -> Snapshot {
        Snapshot(json: Array(text.utf8), keyFingerprint: [7])
    }
}

extension Adjustments {
    static let samples = [
        Adjustments.none,
        Adjustments(isArchived: true),
        Adjustments(isArchived: false, folder: .id("folder"), isFavourite: true),
    ]
}

extension Intent {
    /// One of each shape that an intent can have.
    static let samples: [Intent] = Adjustments.samples.flatMap { adjustments -> [Intent] in
        let old = Snapshot.sample("old")
        return [
            .create(old, adjustments),
            .update(old, trash: nil, adjustments),
            .update(old, trash: .trashed, adjustments),
            .update(old, trash: .restored, adjustments),
            .softDelete(nil, adjustments),
            .softDelete(old, adjustments),
            .other(restores: true, adjustments),
        ] + (adjustments == .none ? [.hardDelete] : [.other(restores: false, adjustments)])
    }
}

extension Footing {
    static let sample = Footing(
        revision: Revision(text: "base", moment: Moment(ticks: 50)),
        copy: [1, 2, 3]
    )
    static let trashed = Footing(revision: sample.revision, isTrashed: true)
    static let archived = Footing(revision: sample.revision, isArchived: true)
}

extension PendingChange {
    static func sample(
        _ intent: Intent,
        attempts: [Attempt] = [],
        baseCopy: [UInt8] = [4]
    ) -> PendingChange {
        var isCreate = false
        if case .create = intent { isCreate = true }
        return PendingChange(
            id: "record",
            userID: "user",
            cipherID: "cipher",
            version: 3,
            intent: intent,
            baseline: isCreate ? nil : Revision(text: "first", moment: Moment(ticks: 10)),
            baseCopy: isCreate ? nil : baseCopy,
            created: Moment(ticks: 100),
            updated: Moment(ticks: 200),
            passwordChanges: 2,
            attempts: attempts
        )
    }
}
