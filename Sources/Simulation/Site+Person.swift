import Machine
import Messaging
import Sync
import System
import Vault

/// What the person at this host does, as a client does it: read, then write what was read with a
/// change in it.
extension Site {
    func takeOwn(_ step: Step) async {
        guard step.isAside else { return await act(step) }
        state.withLock { $0.underWay += 1 }
        do {
            try await world.background.address.tell {
                await self.act(step)
                self.state.withLock { $0.underWay -= 1 }
            }
        } catch {
            state.withLock { $0.underWay -= 1 }
        }
    }

    /// Whoever waits for so long gets no answer any more.
    private static let patience = Duration.seconds(6 * 3_600)

    private func act(_ step: Step) async {
        let hasActed = Latch()
        await withTaskGroup(of: Void.self) { race in
            race.addTask {
                await self.perform(step)
                hasActed.open()
            }
            race.addTask { try? await self.time.sleep(for: Self.patience) }
            await race.next()
            if !hasActed.isOpen { oracle.say(.settlesDown, "who \(step.deed) waits for hours") }
            race.cancelAll()
        }
    }

    private func perform(_ step: Step) async {
        guard let house, !house.line.isDead else { return }
        switch step.deed {
        case .create: await create(house)
        case .sync:
            let report = try? await house.owner.scheduler.address.ask { .sync(isFull: true, $0) }
            note("the sync ended: \(report.map { "\($0.outcome)" } ?? "unanswered")")
        case .retry: await retry(house)
        case .discard(let place): await discard(place, house)
        case .saveCopy(let place): await saveCopy(place, house)
        default: await change(step, house)
        }
    }

    private func create(_ house: House) async {
        let (item, words) = oracle.with { [number] knowledge in
            let origin = knowledge.newOrigin(at: number)
            var item = PlainItem(id: "", revision: "")
            item.origin = origin
            for field in PlainField.allCases {
                item.values[field] = knowledge.newWord(field, of: origin, at: number)
            }
            return (item, item.words)
        }
        let origin = item.origin ?? ""
        guard let body = try? ItemBody(Array(item.body(isEdit: false).utf8)) else { return }
        let fate = await edit(.add(body), "adding \(origin)", nil, house)
        oracle.with { knowledge in
            knowledge.conclude(words, fate)
            knowledge.origins[origin]?.fate = fate
        }
        await look("create", if: fate)
    }

    /// Reads what is shown, and edits it unless somebody is at it already.
    private func change(_ step: Step, _ house: House) async {
        let deed = step.deed
        let items = (await shown(house) ?? []).filter { !$0.isBackup }
        guard let place = deed.place, let first = items.pick(place), let origin = first.origin
        else { return }
        guard state.withLock({ $0.busy.insert(origin).inserted }) else { return }
        defer {
            state.withLock { _ = $0.busy.remove(origin) }
            oracle.with { [number] in _ = $0.origins[origin]?.open.remove(number) }
        }
        // Whoever was at it may just have finished.
        guard let item = await shown(house)?.first(where: { $0.id == first.id }) else { return }
        oracle.with { [number] in $0.see(item, at: number) }
        // Somebody has it open for a while.
        if let lingers = step.lingers {
            try? await time.sleep(for: lingers)
        } else if case .edit = deed, dice.happens(20) {
            try? await time.sleep(for: dice.duration(.milliseconds(5), .seconds(5)))
        }
        guard !house.line.isDead else { return }
        await notePlace(of: item, origin, deed, house)
        switch deed {
        case .edit(_, let field): await edit(item, origin, field, house)
        case .resave: await resave(item, origin, house)
        case .move(_, let folder): await move(item, origin, folder, house)
        case .delete: await delete(item, origin, house)
        case .trash: await trash(item, origin, house)
        case .restore where item.isTrashed: await restore(item, origin, house)
        case .favour:
            let wish = Repository.Wish.favour(item.id, !item.isFavourite)
            let fate = await edit(wish, "favouring \(origin)", origin, house)
            mark(origin, .favourite, !item.isFavourite, after: fate)
        case .archive(_, let isOn) where !item.isTrashed:
            let wish: Repository.Wish = isOn ? .archive(item.id) : .unarchive(item.id)
            let fate = await edit(wish, "archiving \(origin)", origin, house)
            mark(origin, .archived, isOn, after: fate)
        default: break
        }
    }

    /// Who has it open while others put it elsewhere puts it back, and nobody can tell that from a wish.
    private func notePlace(
        of item: PlainItem,
        _ origin: String,
        _ deed: Deed,
        _ house: House
    ) async {
        var isPutBack = true
        // The first worlds are as they were without anybody who looks once more.
        if script.hazards.hazards.contains(.household) {
            isPutBack = await shown(house)?.first { $0.id == item.id }?.place != item.place
        }
        if isPutBack || deed.isAboutPlace {
            oracle.with { [number] in $0.displace(origin, at: number) }
        }
        oracle.with { [number] in _ = $0.origins[origin]?.open.insert(number) }
    }

    private func resave(_ item: PlainItem, _ origin: String, _ house: House) async {
        guard !item.isTrashed, let body = try? ItemBody(Array(item.body(isEdit: true).utf8)) else {
            return
        }
        let wish = Repository.Wish.update(item.id, body)
        let fate = await edit(wish, of: .isLive, "saving \(origin)", origin, house)
        withdrawDeletion(of: origin, if: fate)
        mark(origin, .archived, nil, after: fate)
    }

    private func move(
        _ item: PlainItem,
        _ origin: String,
        _ place: Int,
        _ house: House
    ) async {
        let folders = oracle.with(\.folders)
        let id = folders.indices.contains(place) ? folders[place] : nil
        let wish = Repository.Wish.move(item.id, to: id.map { .id($0) } ?? .none)
        let fate = await edit(wish, "moving \(origin)", origin, house)
        guard fate != .rejected else { return }
        let isKnown = fate == .queued || fate == .saved
        oracle.with { [number] in $0.move(origin, to: id, isKnown: isKnown, at: number) }
    }

    /// Whoever changes what is to be deleted wants it after all.
    private func withdrawDeletion(of origin: String, if fate: Knowledge.Word.Fate) {
        guard fate == .queued || fate == .saved else { return }
        oracle.with { [number] in $0.origins[origin]?.deletions[number] = nil }
    }

    /// - Parameter isOn: Nil if somebody else may decide about that from now on.
    private func mark(
        _ origin: String,
        _ mark: PlainItem.Mark,
        _ isOn: Bool?,
        after fate: Knowledge.Word.Fate
    ) {
        guard fate != .rejected else { return }
        let isKnown = fate == .queued || fate == .saved
        oracle.with { [number] in $0.mark(origin, mark, isKnown ? isOn : nil, at: number) }
    }

    /// Nobody may say any more that it is to be in the trash.
    private func withdrawTrashing(of origin: String, after fate: Knowledge.Word.Fate) {
        guard fate != .rejected else { return }
        oracle.with { [number] in $0.origins[origin]?.trashings[number] = nil }
    }

    private func restore(_ item: PlainItem, _ origin: String, _ house: House) async {
        let fate = await edit(.restore(item.id), "restoring \(origin)", origin, house)
        withdrawTrashing(of: origin, after: fate)
        mark(origin, .trashed, false, after: fate)
    }

    private func edit(
        _ item: PlainItem,
        _ origin: String,
        _ field: PlainField,
        _ house: House
    ) async {
        var edited = item
        let word = oracle.with { [number] knowledge in
            let word = knowledge.newWord(field, of: origin, at: number)
            knowledge.words[word]?.isLive = !item.isTrashed
            return word
        }
        edited.values[field] = word
        guard let body = try? ItemBody(Array(edited.body(isEdit: true).utf8)) else { return }
        // As the API does: whoever edits what is seen to be there does not write into the trash.
        let expectation: Repository.Expectation = item.isTrashed ? .anything : .isLive
        let fate = await edit(
            .update(item.id, body),
            of: expectation,
            "writing \(word)",
            origin,
            house
        )
        oracle.with { $0.conclude([word], fate) }
        withdrawTrashing(of: origin, after: fate)
        withdrawDeletion(of: origin, if: fate)
        // Its client sends no date of archiving, which takes it out of there.
        mark(origin, .archived, nil, after: fate)
        await look("edit", if: fate)
    }

    /// What upstream has never seen is gone when it is trashed.
    private func trash(_ item: PlainItem, _ origin: String, _ house: House) async {
        let isFirst = oracle.with { [number] knowledge in
            knowledge.origins[origin]?.trashed.insert(number)
            let seen = knowledge.origins[origin]?.changesSeen[number]
            knowledge.origins[origin]?.trashings[number] = .init(changesSeen: seen)
            guard knowledge.origins[origin]?.hasLanded == false else { return false }
            return knowledge.delete(origin, at: number)
        }
        let fate = await edit(.trash(item.id), "trashing \(origin)", origin, house)
        withdrawDeletion(of: origin, if: fate)
        for mark in [PlainItem.Mark.trashed, .archived] {
            self.mark(origin, mark, nil, after: fate)
        }
        oracle.with { [number] knowledge in
            knowledge.origins[origin]?.trashings[number]?.fate = fate
            let isGone =
                (fate == .saved || fate == .unknown)
                && knowledge.origins[origin]?.hasLanded == false
            if isFirst, !isGone { knowledge.origins[origin]?.deleted[number] = nil }
        }
    }

    private func delete(_ item: PlainItem, _ origin: String, _ house: House) async {
        let isFirst = oracle.with { [number] knowledge in
            let seen = knowledge.origins[origin]?.changesSeen[number]
            knowledge.origins[origin]?.deletions[number] = .init(changesSeen: seen)
            return knowledge.delete(origin, at: number)
        }
        let fate = await edit(.delete(item.id), "deleting \(origin)", origin, house)
        oracle.with { [number] knowledge in
            knowledge.origins[origin]?.deletions[number]?.fate = fate
            // What was told to be missing may be so because this was carried out twice.
            if fate == .rejected, isFirst, knowledge.origins[origin]?.isGone != true {
                knowledge.origins[origin]?.deleted[number] = nil
            }
        }
    }

    private func edit(
        _ wish: Repository.Wish,
        of expectation: Repository.Expectation = .anything,
        _ what: String,
        _ origin: String?,
        _ house: House
    ) async -> Knowledge.Word.Fate {
        let fate = await edit(wish, of: expectation, what, origin, house, house.owner)
        // What may be there has a place in the queue, if it is.
        if fate == .unknown { oracle.doubt(at: number) }
        return fate
    }

    func edit(
        _ wish: Repository.Wish,
        of expectation: Repository.Expectation = .anything,
        _ what: String,
        _ origin: String?,
        _ house: House,
        _ tenant: Tenant
    ) async -> Knowledge.Word.Fate {
        do {
            let written = try await tenant.repository.address.ask {
                .edit(wish, of: expectation, $0)
            }.get()
            guard !house.line.isDead else { return .unknown }
            let isSaved = written.disposition == .saved
            note(
                "\(what): \(isSaved ? "saved" : "queued") as \(history.name(written.value))"
            )
            state.withLock { $0.counts[isSaved ? .saved : .queued, default: 0] += 1 }
            return isSaved ? .saved : .queued
        } catch {
            note("\(what): \(Words.of(error))")
            guard let refusal = error as? Repository.Refusal, !house.line.isDead else {
                return .unknown
            }
            state.withLock { $0.counts[.rejected, default: 0] += 1 }
            switch refusal {
            case .busy, .store, .unsettled: return .unknown
            default: break
            }
            if case .notFound = refusal, let origin { oracle.missed(origin) }
            return .rejected
        }
    }

    private func retry(_ house: House) async {
        await house.owner.retry((try? house.store.reader.changes(of: cloud.userID)) ?? [])
    }

    private func discard(_ place: Int, _ house: House) async {
        guard let change = change(place, house) else { return }
        await excusing(change, house) {
            _ = try? await house.owner.repository.address.ask {
                .discard(changeID: change.summary.id, $0)
            }
        }
    }

    private func saveCopy(_ place: Int, _ house: House) async {
        guard let change = change(place, house) else { return }
        oracle.with { $0.hasCopies = true }
        await excusing(change, house) {
            _ = try? await house.owner.repository.address.ask {
                .saveCopy(changeID: change.summary.id, $0)
            }
        }
    }

    private func change(_ place: Int, _ house: House) -> StoredChange? {
        let changes = (try? house.store.reader.changes(of: cloud.userID)) ?? []
        return changes.isEmpty ? nil : changes[place % changes.count]
    }

    /// What is discarded is nobody's any more, and neither is what is written into it meanwhile.
    private func excusing(
        _ change: StoredChange,
        _ house: House,
        _ body: () async -> Void
    ) async {
        let item = await shown(house)?.first { $0.id == change.summary.lane.cipherID }
        oracle.with { [number] in
            Self.excuse(change, item, &$0, at: number)
            $0.discards[number, default: 0] += 1
        }
        await body()
        oracle.with { [number] in
            Self.excuse(change, item, &$0, at: number)
            $0.discards[number, default: 0] -= 1
        }
    }

    /// - Parameter item: Nil if it is not shown.
    private static func excuse(
        _ change: StoredChange,
        _ item: PlainItem?,
        _ knowledge: inout Knowledge,
        at number: Int
    ) {
        // What is deleted is not shown, and nothing is while the vault is locked.
        let id = change.summary.lane.cipherID
        let known =
            item == nil ? knowledge.shown[id] ?? knowledge.upstream[id]?.origin : item?.origin
        guard let origin = known else {
            return item == nil ? knowledge.excuseUnshown(at: number) : ()
        }
        // What lies beneath is none of its content then, though it may say the same.
        let isBare = change.change?.forgotten != nil || change.summary.type == .hardDelete
        knowledge.discard(
            origin,
            withWords: item != nil || change.summary.type != .hardDelete,
            content: isBare ? [] : item?.words,
            at: number
        )
    }

    // MARK: What is shown

    func shown(_ house: House) async -> [PlainItem]? {
        await everything(house)?.filter { isReadable($0) }
    }

    /// What belongs to an organisation is under a key that nobody here has, and so is everything
    /// between a new key and the next sync, and what could not be brought under the new key yet.
    private func isReadable(_ item: PlainItem) -> Bool {
        !item.isShared && (item.origin != nil || cloud.rings.count == 1)
    }

    private func everything(_ house: House) async -> [PlainItem]? {
        guard !house.owner.keys.isLocked else { return nil }
        let items = await house.owner.shown()
        if let lodger, let item = items?.first(where: { lodger.hasPart(in: $0) }) {
            oracle.say(
                .accountsApart,
                "what is the lodger's is shown to somebody else: \(item.words)"
            )
        }
        oracle.with { knowledge in
            var here: Set<String> = []
            for item in items ?? [] {
                guard let origin = item.origin else { continue }
                knowledge.shown[item.id] = origin
                let isFirst = item.isBackup || here.insert(origin).inserted
                if !isFirst { knowledge.origins[origin]?.isShownTwice = true }
            }
        }
        return items
    }

    func look(_ occasion: String) async {
        let told = oracle.with(\.accepted)
        guard let house, let items = await everything(house), !house.line.isDead else { return }
        let isWhole = items.allSatisfy { $0.isShared || $0.origin != nil }
        oracle.look(
            at: items.filter { isReadable($0) },
            occasion,
            by: number,
            isWhole: isWhole,
            told: told
        )
    }

    private func look(_ occasion: String, if fate: Knowledge.Word.Fate) async {
        if fate == .queued || fate == .saved { await look(occasion) }
    }
}

extension Deed {
    fileprivate var place: Int? {
        switch self {
        case .edit(let place, _), .trash(let place), .restore(let place), .delete(let place),
            .favour(let place), .archive(let place, _), .move(let place, _), .resave(let place):
            place
        default: nil
        }
    }

    fileprivate var isAboutPlace: Bool {
        switch self {
        case .favour, .move: true
        default: false
        }
    }
}

extension PlainItem {
    /// As a client of the vault's API sends it.
    func body(isEdit: Bool) -> String {
        func quoted(_ field: PlainField) -> String {
            guard let text = values[field] else { return "null" }
            return "\"\(text)\(field == .name ? stamp ?? "" : "")\""
        }
        return """
            {"type":1,"name":\(quoted(.name)),"notes":\(quoted(.notes)),\
            "favorite":\(isFavourite),\(folderID.map { "\"folderId\":\"\($0)\"," } ?? "")\
            "login":{"username":\(quoted(.username)),"password":\(quoted(.password))},\
            "fields":[{"name":"origin","value":"\(origin ?? "")","type":0}]\
            \(isEdit ? ",\"revisionDate\":\"\(revision)\"" : "")}
            """
    }
}
