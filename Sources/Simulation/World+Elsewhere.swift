import Host
import Machine
import Sync

// MARK: - Another device

extension World {
    func addElsewhere() async throws {
        let item = oracle.with { knowledge in
            let origin = knowledge.newOrigin(at: nil)
            var item = PlainItem(id: "", revision: "")
            item.origin = origin
            for field in PlainField.allCases {
                item.values[field] = knowledge.newWord(field, of: origin, at: nil)
            }
            return item
        }
        try await elsewhere { try await self.cloud.add(item) }
    }

    /// Somebody else acts at the server, and the oracle looks.
    func elsewhere(
        by author: Knowledge.Author = .other,
        _ body: @Sendable @escaping () async throws -> Void
    ) async rethrows {
        try await cloud.turns.hold("") {
            try await body()
            if let items = try? await cloud.look() { oracle.observe(items, by: author) }
        }
    }

    func take(_ deed: Deed.Elsewhere) async {
        do {
            switch deed {
            case .create: try await addElsewhere()
            case .edit(let place, let field):
                try await changeElsewhere(place) { try await $0.edit(field, of: $1) }
            case .trash(let place):
                try await changeElsewhere(place) { try await $0.cloud.account.trash($1.id) }
            case .restore(let place):
                try await changeElsewhere(place) { _ = try await $0.cloud.account.restore($1.id) }
            case .delete(let place):
                try await changeElsewhere(place) { try await $0.cloud.account.delete($1.id) }
            case .rotateKeys:
                oracle.with { $0.rotate() }
                try await elsewhere { try await self.cloud.rotateKeys() }
                cache.forget()
                memory = nil
            case .share(let place):
                try await changeElsewhere(place) { try await $0.share($1) }
            case .archive(let place, let isOn):
                try await changeElsewhere(place) { try await $0.cloud.archive($1.id, isOn) }
            case .move(let place, let folder):
                try await changeElsewhere(place) { world, item in
                    let folders = world.oracle.with(\.folders)
                    let id = folders.indices.contains(folder) ? folders[folder] : nil
                    try await world.cloud.move(item.id, to: id)
                }
            case .dropFolder(let place): try await dropFolder(place)
            case .sweep(let place, let forGood): try await sweep(place, forGood: forGood)
            case .purge:
                try await elsewhere {
                    for id in try await self.cloud.look().keys.sorted() {
                        try? await self.cloud.account.delete(id)
                    }
                }
            case .favour(let place):
                try await changeElsewhere(place) { try await $0.favour($1) }
            case .look(let place): try await look(place)
            case .recall(let passwords, let isDated): try await recall(passwords, isDated)
            }
        } catch {
            history.note("another device could not: \(Words.of(error))")
        }
    }

    func addFolder() async throws {
        try await cloud.addFolder()
        try await lookAtFolders()
    }

    func lookAtFolders() async throws {
        let folders = try await cloud.folders()
        oracle.with { $0.folders = folders }
    }

    private func dropFolder(_ place: Int) async throws {
        let folders = oracle.with(\.folders)
        guard folders.indices.contains(place) else { return }
        try await elsewhere {
            try await self.cloud.account.deleteFolder(folders[place])
            try await self.lookAtFolders()
        }
    }

    private func sweep(_ place: Int, forGood: Bool) async throws {
        try await elsewhere {
            let copies = try await self.cloud.look().values.filter(\.isBackup)
            guard let copy = copies.pick(place) else { return }
            self.oracle.with { $0.loseCopy(copy) }
            if forGood {
                try await self.cloud.account.delete(copy.id)
            } else {
                try await self.cloud.account.trash(copy.id)
            }
        }
    }

    private func edit(_ field: PlainField, of item: PlainItem) async throws {
        guard let origin = item.origin else { return }
        var edited = item
        if field == .password, let old = item.values[.password] {
            edited.history = [old] + item.history
            edited.sealedHistory = [item.sealed[.password] ?? ""] + item.sealedHistory
        }
        edited.values[field] = oracle.with { $0.newWord(field, of: origin, at: nil) }
        edited.sealed[field] = nil
        try await cloud.write(edited)
    }

    private func look(_ place: Int) async throws {
        try await elsewhere {
            let items = try await self.cloud.look().values.filter { !$0.isBackup && !$0.isShared }
            self.memory = items.pick(place)
        }
    }

    /// Whoever is refused that looks at the item anew; and they know what they have written.
    private func recall(_ passwords: Int, _ isDated: Bool) async throws {
        guard let memory, let origin = memory.origin else { return }
        try? await time.sleep(for: .milliseconds(dice.pick([5, 400, 1_500, 30_000])))
        defer { self.memory = oracle.with { $0.upstream[memory.id] } }
        try await elsewhere(by: .stale(memory.revision)) {
            guard try await self.cloud.look()[memory.id]?.isShared == false else { return }
            let edited = self.adding(passwords, to: memory, origin)
            try await self.cloud.write(edited, isDated: isDated)
        }
    }

    private func adding(_ passwords: Int, to item: PlainItem, _ origin: String) -> PlainItem {
        var edited = item
        for _ in 0..<passwords {
            edited.history = [edited.values[.password]].compactMap(\.self) + edited.history
            edited.values[.password] = oracle.with { $0.newWord(.password, of: origin, at: nil) }
        }
        (edited.sealed[.password], edited.sealedHistory) = (nil, [])
        return edited
    }

    private func share(_ item: PlainItem) async throws {
        guard !item.isShared else { return }
        try await cloud.share(item.id)
        if let origin = item.origin { oracle.with { $0.origins[origin]?.isShared = true } }
    }

    private func favour(_ item: PlainItem) async throws {
        var edited = item
        edited.isFavourite.toggle()
        try await cloud.write(edited)
    }

    private func changeElsewhere(
        _ place: Int,
        _ body: @Sendable @escaping (World, PlainItem) async throws -> Void
    ) async throws {
        // Devices that act within a second of each other are not told apart by any stamp.
        try? await time.sleep(for: .milliseconds(dice.pick([5, 400, 1_500, 3_000])))
        try await elsewhere {
            let items = try await self.cloud.look().values.filter { !$0.isBackup && !$0.isShared }
            guard let item = items.pick(place) else { return }
            try await body(self, item)
        }
    }

    /// Another device is faster.
    func interlude(_ id: String) async {
        do {
            try await elsewhere {
                guard let item = try await self.cloud.look()[id], !item.isShared else { return }
                try await self.edit(.notes, of: item)
            }
        } catch {
            history.note("another device could not: \(Words.of(error))")
        }
    }
}
