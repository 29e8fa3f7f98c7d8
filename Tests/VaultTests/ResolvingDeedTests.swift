import Testing

@testable import Vault

/// Which calls a wish comes to, and in which order.
@Suite struct ResolvingDeedTests {
    private static let plain = Snapshot(json: Array("{}".utf8), keyFingerprint: [])
    private static let archived = Snapshot(
        json: Array(#"{"archivedDate":"2026-01-09T00:00:00.000Z"}"#.utf8),
        keyFingerprint: []
    )

    /// Every intent that can be written down.
    static var intents: [Intent] {
        var intents: [Intent] = [.hardDelete]
        for adjustments in adjustments {
            for snapshot in [plain, archived] {
                intents.append(.create(snapshot, adjustments))
                for trash in [nil, Intent.TrashWish.trashed, .restored] {
                    intents.append(.update(snapshot, trash: trash, adjustments))
                }
                intents.append(.softDelete(snapshot, adjustments))
            }
            intents.append(.softDelete(nil, adjustments))
            intents += [true, false].map { .other(restores: $0, adjustments) }
        }
        return intents
    }

    private static var adjustments: [Adjustments] {
        let folders: [Adjustments.Folder?] = [nil, Adjustments.Folder.none, .id("a")]
        return [nil, true, false].flatMap { archive in
            folders.flatMap { folder in
                [nil, true, false].map {
                    Adjustments(isArchived: archive, folder: folder, isFavourite: $0)
                }
            }
        }
    }

    static var states: [ItemState] {
        [true, false].flatMap { isTrashed in
            [true, false].flatMap { isArchived in
                [nil, "a", "b"].flatMap { folder in
                    [true, false].map {
                        state(isTrashed, isArchived, folder, isFavourite: $0)
                    }
                }
            }
        }
    }

    private static func state(
        _ isTrashed: Bool,
        _ isArchived: Bool,
        _ folder: String?,
        isFavourite: Bool
    ) -> ItemState {
        let blank = try! Cipher(Array("{}".utf8))
        var state = ItemState(blank, isCertain: true)
        (state.isTrashed, state.isArchived) = (isTrashed, isArchived)
        (state.folderID, state.isFavourite) = (folder, isFavourite)
        return state
    }

    /// An upstream that does what it is told, and the calls it took.
    private static func play(
        _ intent: Intent,
        _ start: ItemState,
        holdsContent: Bool = false
    ) -> (deeds: [Deed], end: ItemState) {
        var (state, deeds, holds) = (start, [Deed](), holdsContent)
        while let deed = intent.nextDeed(over: state, holdsContent: holds, done: Set(deeds)) {
            deeds.append(deed)
            state.isCertain = true
            switch deed {
            case .restore: state.isTrashed = false
            case .content: holds = true
            case .archive: state.isArchived = true
            case .unarchive: state.isArchived = false
            case .place(let folder, let isFavourite):
                (state.folderID, state.isFavourite) = (folder, isFavourite)
            case .trash: state.isTrashed = true
            case .delete: return (deeds, state)
            }
        }
        return (deeds, state)
    }

    private static func rank(_ deed: Deed) -> Int {
        switch deed {
        case .restore: 0
        case .content: 1
        case .archive, .unarchive: 2
        case .place: 3
        case .trash, .delete: 4
        }
    }

    @Test func `calls go out in one order, each at most once, and bring the wish about`() {
        for intent in Self.intents {
            for start in Self.states {
                let (deeds, end) = Self.play(intent, start)
                let ranks = deeds.map(Self.rank)
                #expect(ranks == ranks.sorted(), "\(intent) over \(start): \(deeds)")
                #expect(Set(deeds).count == deeds.count, "\(intent) over \(start): \(deeds)")
                guard intent != .hardDelete else {
                    #expect(deeds == [.delete])
                    continue
                }
                #expect(deeds.contains(.content) == (intent.snapshot != nil))
                if intent.trash == .trashed { #expect(end.isTrashed, "\(intent) over \(start)") }
                if intent.trash == .restored { #expect(!end.isTrashed, "\(intent) over \(start)") }
                if let wish = intent.adjustments.isArchived { #expect(end.isArchived == wish) }
                if let wish = intent.adjustments.isFavourite { #expect(end.isFavourite == wish) }
                if case .some(.id(let id)) = intent.adjustments.folder {
                    #expect(end.folderID == id)
                }
            }
        }
    }

    @Test func `T-35 content is never left in the trash, unless that is where it is to go`() {
        for intent in Self.intents where intent.snapshot != nil && intent.trash != .trashed {
            for start in Self.states {
                #expect(!Self.play(intent, start).end.isTrashed, "\(intent) over \(start)")
            }
        }
    }

    @Test func `what is so already takes no call, and what is only remembered takes one`() {
        for intent in Self.intents where intent != .hardDelete {
            for start in Self.states {
                let end = Self.play(intent, start).end
                let again = Self.play(intent, end, holdsContent: true).deeds
                #expect(again.isEmpty, "\(intent) over \(end): \(again)")
            }
        }
        var remembered = Self.state(true, true, "a", isFavourite: true)
        remembered.isCertain = false
        let wishes = Adjustments(isArchived: true, folder: .id("a"), isFavourite: true)
        #expect(
            Intent.softDelete(nil, wishes).nextDeed(
                over: remembered,
                holdsContent: false,
                done: []
            ) == .archive
        )
        #expect(
            Intent.softDelete(nil, .none).nextDeed(over: remembered, holdsContent: false, done: [])
                == .trash
        )
    }
}
