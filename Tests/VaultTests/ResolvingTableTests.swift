import FoundationEssentials
import Testing

@testable import Vault

/// The decision table, over everything that it may be asked.
@Suite struct ResolvingTableTests {
    private typealias Wish = Situation.Wish

    @Test func `every situation has its own line`() {
        #expect(Situation.allCases.count == 6 * 8 * 2 * 2)
        #expect(Set(Situation.allCases).count == Situation.allCases.count)
    }

    @Test(arguments: Situation.allCases)
    func `nothing that somebody else wrote is overwritten without a backup`(
        _ situation: Situation
    ) {
        let foreign: Set<Situation.Standing> = [.moved, .unproven]
        let writes: Set<Wish> = [.content, .contentAndTrash]
        guard foreign.contains(situation.standing), writes.contains(situation.wish) else { return }
        #expect(situation.resolution != .push && situation.resolution != .recreate)
        #expect(situation.resolution != .complete && situation.resolution != .settle)
    }

    @Test(arguments: Situation.allCases)
    func `G-VR2 nothing is deleted or trashed that holds something newer`(
        _ situation: Situation
    ) {
        let deletes: Set<Wish> = [.trash, .delete, .contentAndTrash]
        let newer: Set<Situation.Standing> = [.moved, .unproven, .shared]
        guard deletes.contains(situation.wish), newer.contains(situation.standing) else { return }
        #expect([.yield, .yieldKeepingLocal].contains(situation.resolution))
    }

    @Test(arguments: Situation.allCases)
    func `T-26 content that is pending is sent, kept, or there already`(_ situation: Situation) {
        guard [.create, .content, .contentAndTrash].contains(situation.wish) else { return }
        #expect(situation.resolution != .yield && situation.resolution != .settle)
    }

    @Test(arguments: Situation.allCases)
    func `what upstream lacks is created or nothing is left of it, and what it has is not created`(
        _ situation: Situation
    ) {
        let isForWhatIsLacking = [.create, .recreate, .settle].contains(situation.resolution)
        #expect(isForWhatIsLacking == (situation.standing == .missing))
    }

    @Test(arguments: Situation.allCases)
    func `P4 what is equal has no backup and is not sent again`(_ situation: Situation) {
        guard situation.standing == .landed else { return }
        #expect(situation.conflict == nil)
        if [.content, .contentAndTrash].contains(situation.wish) {
            #expect(situation.resolution == .complete)
        }
    }

    @Test(arguments: Situation.allCases)
    func `T-36 nothing is ever pushed onto an organisation's copy`(_ situation: Situation) {
        guard situation.standing == .shared, situation.wish != .create else { return }
        #expect([.yield, .yieldKeepingLocal].contains(situation.resolution))
    }

    @Test(arguments: Situation.allCases)
    func `R-108 a hard conflict is no soft one, and each conflict has one winner`(
        _ situation: Situation
    ) {
        switch situation.resolution {
        case .pushKeepingUpstream: #expect(situation.conflict?.winner == .local)
        case .yieldKeepingLocal: #expect(situation.conflict?.winner == .upstream)
        case .recreate: #expect(situation.conflict?.winner == .local)
        default: #expect(situation.conflict?.winner != .local)
        }
        if situation.standing == .moved { #expect(situation.conflict?.kind != .soft) }
    }

    @Test(arguments: Situation.allCases)
    func `R-117 time decides between two contents and nothing else`(_ situation: Situation) {
        var other = situation
        other.later = situation.later == .local ? .upstream : .local
        guard other.resolution != situation.resolution else { return }
        #expect(situation.wish == .content && situation.standing == .moved)
    }

    // MARK: The document

    private static let path =
        "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
        + "/Docs/CONFLICTS.md"

    @Test func `the document says what the table says`() throws {
        let text = ConflictsDocument.text
        if ProcessInfo.processInfo.environment["HOLDFAST_WRITE_DOCS"] == "1" {
            try Data(text.utf8).write(to: URL(filePath: Self.path))
        }
        let written = try String(
            decoding: Data(contentsOf: URL(filePath: Self.path)),
            as: UTF8.self
        )
        #expect(
            written == text,
            "Print it anew: HOLDFAST_WRITE_DOCS=1 swift test --filter ResolvingTableTests"
        )
    }
}

/// Docs/CONFLICTS.md, as the table has it.
private enum ConflictsDocument {
    static var text: String {
        let parts = Situation.Wish.allCases.map(section)
        return ([head] + parts + [foot]).joined(separator: "\n") + "\n"
    }

    private static let head = """
        # What becomes of a pending change

        An edit that could not be sent at once is brought upstream later. By then upstream may hold
        something else. These tables say what is done then; they are printed from the code by a test
        (`HOLDFAST_WRITE_DOCS=1 swift test --filter ResolvingTableTests`).

        Two rules stand above them: no version that somebody wrote is lost, and the harmless step comes
        first, so every backup copy is upstream before anything is overwritten or given up.

        """

    private static let foot = """
        ## How it is compared

        - Revisions may be the same if their texts are, if they differ by no more than 4 ms, or by less than
          a second where one of them is a whole one: servers answer a write with a stamp that their store
          does not keep. Nothing is taken for agreed on by that alone; the content has to be, too.
        - Contents are compared decrypted; what was sent from here is known by its ciphertext.
        - The later side is found in upstream's time. Too near to tell is upstream.
        - Passwords might be lost if upstream's present one is neither the present one here nor in the
          history here, or if the password was changed four times or more and upstream's copy is not one
          that was sent from here.
        - An item is gone if upstream says so in its own words and its own list confirms it.
        - Wishes go out in this order: restore, content, archive, folder and favourite, trash or
          deletion.
        - Where a trash is withdrawn or content gives way, what was wished for besides, the archive, a
          folder, a favourite, or that it comes out of the trash, goes on as a change of its own.
        - A trash that is wished for alone, and that upstream has carried out already, unheard or by
          others, is told as done, and nothing is withdrawn.
        """

    private static func section(_ wish: Situation.Wish) -> String {
        var lines = ["## \(wish.title)", "", "| Upstream holds | What is done |", "| --- | --- |"]
        var table = Situation.Standing.allCases.flatMap { rows(wish, $0) }
        let rest = Set(table.dropFirst().map(\.1))
        if rest.count == 1, let one = rest.first { table = [table[0], ("anything else", one)] }
        for row in table { lines.append("| \(row.0) | \(row.1.sentence) |") }
        return lines.joined(separator: "\n") + "\n"
    }

    /// One row where nothing else matters, and one for each case where something does.
    private static func rows(
        _ wish: Situation.Wish,
        _ standing: Situation.Standing
    ) -> [(String, Resolution)] {
        func resolution(_ later: Side, _ outgrows: Bool) -> Resolution {
            Situation(wish, standing, later: later, outgrowsHistory: outgrows).resolution
        }
        let plain = resolution(.local, false)
        var rows = [(standing.title, plain)]
        if resolution(.upstream, false) != plain {
            rows = [
                (standing.title + ", and the edit is later", plain),
                (standing.title + ", and is later", resolution(.upstream, false)),
            ]
        }
        if resolution(.local, true) != plain {
            rows.append(
                (standing.title + ", and a password might be lost", resolution(.local, true))
            )
        }
        return rows
    }
}

extension Situation.Wish {
    fileprivate var title: String {
        switch self {
        case .create: "A new item"
        case .content: "New content"
        case .contentAndTrash: "New content, and then the trash"
        case .trash: "Into the trash"
        case .delete: "Deleted for good"
        case .touch: "Restored, archived, moved, or made a favourite"
        }
    }
}

extension Situation.Standing {
    fileprivate var title: String {
        switch self {
        case .missing: "nothing"
        case .landed: "what is wanted"
        case .ours: "what was sent from here earlier"
        case .unmoved: "what both sides agreed on"
        case .touched: "the same content in another place or state"
        case .moved: "content that somebody else wrote"
        case .unproven: "other content, and nobody knows what was agreed on"
        case .shared: "an organisation's item"
        }
    }
}

extension Resolution {
    fileprivate var sentence: String {
        switch self {
        case .push: "It is carried out."
        case .pushKeepingUpstream: "Upstream's copy is kept as a backup; then it is carried out."
        case .yieldKeepingLocal: "The content here is kept as a backup; upstream's copy stands."
        case .yield: "Upstream's copy stands; the wish is withdrawn, and the user is told."
        case .complete: "The content is there; what else is wished for is carried out."
        case .create: "The item is created."
        case .adopt: "The item is there: what is pending becomes an edit of it."
        case .recreate: "The item is created again, and the old id leads to it."
        case .settle: "Nothing is left to do."
        }
    }
}
