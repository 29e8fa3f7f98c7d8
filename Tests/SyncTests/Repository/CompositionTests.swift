import EmbeddedUpstream
import MeshSupport
import Sync
import Testing
import Vault

/// Whatever is done offline, one thing after another, ends upstream as it would have online.
@Suite(.timeLimit(.minutes(2))) struct CompositionTests {
    enum Step: String, CaseIterable, CustomTestStringConvertible, Sendable {
        case edit, trash, restore, archive, unarchive, favour, delete

        var testDescription: String { rawValue }

        func wish(_ id: String, _ number: Int) throws -> Repository.Wish {
            switch self {
            case .edit:
                .update(id, try ItemBody(Array(password("password \(number)").utf8)))
            case .trash: .trash(id)
            case .restore: .restore(id)
            case .archive: .archive(id)
            case .unarchive: .unarchive(id)
            case .favour: .favour(id, true)
            case .delete: .delete(id)
            }
        }

        /// Whether upstream would take it, of an item in that state; what it refuses online has no
        /// counterpart.
        func isPossible(isTrashed: Bool, isArchived: Bool) -> Bool {
            switch self {
            case .edit, .favour, .delete: true
            case .trash: !isTrashed
            case .restore: isTrashed
            case .archive: !isTrashed && !isArchived
            case .unarchive: !isTrashed && isArchived
            }
        }
    }

    /// All rows of two or three steps that could be taken online.
    static let rows: [[Step]] = {
        var rows: [[Step]] = []
        func extend(_ row: [Step], isTrashed: Bool, isArchived: Bool) {
            if row.count >= 2 { rows.append(row) }
            guard row.count < 3, row.last != .delete else { return }
            for step in Step.allCases
            where step.isPossible(isTrashed: isTrashed, isArchived: isArchived) {
                let trashed = step == .trash || (isTrashed && step != .restore)
                let archived =
                    step == .archive
                    || (isArchived && step != .unarchive && step != .trash && step != .edit)
                extend(row + [step], isTrashed: trashed, isArchived: archived)
            }
        }
        extend([], isTrashed: false, isArchived: false)
        return rows
    }()

    private struct Outcome: Equatable {
        var isThere: Bool
        var isTrashed = false
        var isArchived = false
        var isFavorite = false
        var password: String?
    }

    private static func outcome(
        _ row: [Step],
        _ personality: Personality.Name,
        isOffline: Bool
    ) async throws -> Outcome {
        try await World.open(personality) { world in
            let ada = try await world.person()
            let id = try await ada.elsewhere.add(mail)
            try await ada.refresh()
            let home = try await ada.home()
            world.wire.isCut = isOffline
            for (number, step) in row.enumerated() {
                _ = try await home.edit(try step.wish(id, number))
            }
            world.wire.isCut = false
            // What went unanswered may be carried out late.
            world.time.pass(.seconds(20))
            _ = try await ada.run()
            #expect(try ada.changes.isEmpty, "\(row) as \(personality)")
            guard let item = try await ada.elsewhere.items.first(where: { $0.id == id }) else {
                return Outcome(isThere: false)
            }
            return Outcome(
                isThere: true,
                isTrashed: item.cipher.isInTrash,
                isArchived: item.cipher.archivedDate != nil,
                isFavorite: item.cipher.isFavorite,
                password: item.login?.password
            )
        }
    }

    @Test(arguments: Personality.Name.allCases)
    func `G-U2: every pair and triple of wishes ends upstream as the same done online`(
        _ personality: Personality.Name
    ) async throws {
        for row in Self.rows where row.prefix(2) != [.archive, .trash] {
            let online = try await Self.outcome(row, personality, isOffline: false)
            let offline = try await Self.outcome(row, personality, isOffline: true)
            #expect(offline == online, "\(row) as \(personality)")
        }
    }

    /// Bitwarden forgets the archive when an item is trashed, Vaultwarden does not. Which of the two it
    /// is cannot be known offline, so what the user last saw holds: an archived item.
    @Test(arguments: Personality.Name.allCases)
    func `what was archived, trashed and restored offline is in the archive`(
        _ personality: Personality.Name
    ) async throws {
        let row: [Step] = [.archive, .trash, .restore]
        let outcome = try await Self.outcome(row, personality, isOffline: true)
        #expect(outcome.isArchived && !outcome.isTrashed)
    }

    @Test func `the rows are many, and none is of one step`() {
        #expect(Self.rows.count > 80 && Self.rows.allSatisfy { $0.count >= 2 })
    }
}
