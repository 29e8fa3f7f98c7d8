import Testing
import Vault

/// What holds for every pending change and every edit that may follow it.
@Suite struct PendingFoldingProductTests {
    private static let new = Snapshot.sample("new")

    private static let wishes: [Edit.Wish] = [
        .add(new), .update(new, changesPassword: false), .update(new, changesPassword: true),
        .trash, .restore, .archive, .unarchive, .move(.none), .move(.id("work")),
        .favour(true), .favour(false), .hardDelete,
    ]

    private static let histories: [[Attempt]] =
        [[]]
        + [Attempt.Kind.create, .update, .trash, .restore, .archive].flatMap { kind in
            Attempt.Outcome.allCases.map { outcome in
                [Attempt(kind, at: Moment(ticks: 1), fingerprint: [1], outcome: outcome)]
            }
        }

    private static let footings: [Footing?] = [nil, .sample, .trashed, .archived]

    struct Case {
        let before: PendingChange
        let wish: Edit.Wish
        let footing: Footing?

        var folding: Folding {
            before.fold(Edit(wish, at: Moment(ticks: 300)), footing: footing)
        }
    }

    static let cases: [Case] = Intent.samples.flatMap { intent in
        histories.flatMap { attempts in
            wishes.flatMap { wish in
                footings.map { footing in
                    Case(
                        before: .sample(intent, attempts: attempts),
                        wish: wish,
                        footing: footing
                    )
                }
            }
        }
    }

    @Test func `there are some thousands of them`() {
        #expect(Self.cases.count > 15_000)
    }

    @Test func `identity, beginnings and everything sent outlive every fold`() {
        for one in Self.cases {
            guard let after = one.folding.change else { continue }
            let isKept =
                after.id == one.before.id && after.userID == one.before.userID
                && after.cipherID == one.before.cipherID && after.created == one.before.created
                && after.attempts == one.before.attempts && after.backup == one.before.backup
            #expect(isKept, "\(one)")
        }
    }

    @Test func `the ground stays, but for those who have seen what upstream has meanwhile`() {
        for one in Self.cases {
            guard let after = one.folding.change else { continue }
            let isHidden = one.before.intent.snapshot != nil || one.before.intent == .hardDelete
            let seen = isHidden || one.footing?.copy == nil ? nil : one.footing
            let isRight =
                after.baseline == (seen.map(\.revision) ?? one.before.baseline)
                && after.baseCopy == (seen.map(\.copy) ?? one.before.baseCopy)
            #expect(isRight, "\(one)")
        }
    }

    /// Clients save what nobody has changed.
    @Test
    func `what was saved as it was weighs nothing in any fold, whatever is upstream by then`() {
        let agreed = Array(#"{"id":"cipher","type":1,"name":"old"}"#.utf8)
        let saved = Snapshot.sample(
            #"{"id":"cipher","type":1,"name":"old","revisionDate":"2026-01-09T00:00:00.000Z"}"#
        )
        let theirs = Footing(
            revision: Revision(text: "theirs", moment: Moment(ticks: 60)),
            copy: Array(#"{"id":"cipher","type":1,"name":"theirs"}"#.utf8)
        )
        for adjustments in Adjustments.samples {
            let idle = PendingChange.sample(
                .update(saved, trash: nil, adjustments),
                baseCopy: agreed
            )
            let bare = PendingChange.sample(.other(restores: false, adjustments), baseCopy: agreed)
            let waiting = idle.withoutIdleContent
            #expect(idle.bringsNothing && waiting.hidesNothing)
            for wish in Self.wishes {
                let edit = Edit(wish, at: Moment(ticks: 300))
                for footing in Self.footings + [theirs] {
                    let (one, other) = (
                        waiting.fold(edit, footing: footing), bare.fold(edit, footing: footing)
                    )
                    #expect(one == other, "\(wish), \(adjustments), \(String(describing: footing))")
                }
            }
        }
    }

    /// A call of its own takes an item out of the archive, where content does not.
    @Test func `content takes an item out of the archive only if it was seen there`() {
        let json = (
            out: Array(#"{"id":"cipher","type":1,"name":"old"}"#.utf8),
            archived: Array(
                #"{"id":"cipher","type":1,"archivedDate":"2026-01-09T00:00:00.000Z"}"#.utf8
            )
        )
        let edit = Edit(.update(Self.new, changesPassword: false), at: Moment(ticks: 300))
        for intent in Intent.samples where intent.adjustments.isArchived == nil {
            if case .create = intent { continue }
            for wasArchived in [false, true] {
                for isArchived in [false, true] {
                    let before = PendingChange.sample(
                        intent,
                        baseCopy: wasArchived ? json.archived : json.out
                    )
                    let now: Footing = isArchived ? .archived : .sample
                    let isSeen = before.hidesNothing ? isArchived : wasArchived
                    let adjusted = before.fold(edit, footing: now).change?.intent.adjustments
                    #expect(adjusted?.isArchived == (isSeen ? false : nil), "\(before), \(now)")
                }
            }
        }
    }

    @Test func `every fold is a new version, ready, of its own time`() {
        for one in Self.cases {
            guard let after = one.folding.change else { continue }
            let isFresh =
                after.version == one.before.version + 1 && after.state == .ready
                && after.updated == Moment(ticks: 300) && after.failures == 0
            #expect(isFresh, "\(one)")
        }
    }

    @Test func `the newest content is never lost, but by a deletion for good`() {
        for one in Self.cases {
            guard let after = one.folding.change else { continue }
            let expected: Snapshot? =
                switch one.wish {
                case .add(let snapshot), .update(let snapshot, _): snapshot
                case .hardDelete: nil
                default: one.before.intent.snapshot
                }
            #expect(after.intent.snapshot == expected, "\(one)")
        }
    }

    @Test func `only a create that was never sent, or a wish taken back, leaves nothing`() {
        for one in Self.cases where one.folding == .gone {
            let isDeleted = [.trash, .hardDelete].contains(one.wish)
            if isDeleted {
                #expect(one.before.type == .create, "\(one)")
                #expect(!one.before.mayHaveLanded(.create), "\(one)")
            } else {
                #expect(one.before.intent.snapshot == nil, "\(one)")
                #expect([.restore, .unarchive].contains(one.wish), "\(one)")
            }
        }
    }

    @Test func `a trash that may have landed is never simply forgotten`() {
        for one in Self.cases where one.wish == .restore && one.before.mayHaveLanded(.trash) {
            guard one.before.type != .create else { continue }
            #expect(one.folding.change?.intent.trash == .restored, "\(one)")
        }
    }

    @Test func `trash and content are both kept, in either order`() {
        for one in Self.cases {
            guard let after = one.folding.change else { continue }
            switch one.wish {
            case .trash: #expect(after.intent.trash == .trashed, "\(one)")
            case .update where one.before.intent.trash == .trashed && !one.before.isUnborn:
                #expect(after.intent.trash == .trashed, "\(one)")
            default: break
            }
        }
    }

    @Test func `the counter only grows by changed passwords, and only an add resets it`() {
        for one in Self.cases {
            guard let after = one.folding.change else { continue }
            let expected: Int64 =
                switch one.wish {
                case .add: 0
                case .update(_, changesPassword: true): one.before.passwordChanges + 1
                default: one.before.passwordChanges
                }
            #expect(after.passwordChanges == expected, "\(one)")
        }
    }

    @Test func `a deletion for good is woken only by a later wish, and that is said`() {
        for one in Self.cases {
            let isWoken = if case .resurrected = one.folding { true } else { false }
            let wasDeleted = one.before.type == .hardDelete
            let isRefused = if case .add = one.wish { true } else { false }
            let expected = wasDeleted && !isRefused && one.wish != .hardDelete
            #expect(isWoken == expected, "\(one)")
        }
    }

    @Test func `a fold never makes a record that wishes for nothing`() {
        for one in Self.cases where one.before.type != .hardDelete {
            #expect(one.folding.change?.intent != .nothing, "\(one)")
        }
    }
}
