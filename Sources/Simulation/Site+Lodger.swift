import Host
import Messaging
import Sync
import System
import Vault

/// What somebody else does who has an account at this host, while the story goes on without them.
extension Site {
    func letLodgerAct() async {
        guard let lodger, !world.isCalm, lodger.dice.happens(35) else { return }
        try? await world.background.address.tell { await self.act(lodger) }
    }

    private func act(_ lodger: Lodger) async {
        guard let house, let tenant = house.lodger, !house.line.isDead else { return }
        if tenant.session.isSignedOut { await signIn(lodger) }
        guard let items = await shown(to: lodger, tenant) else { return }
        let place = lodger.dice.number(in: 0..<4)
        if place < items.count, !items[place].isBackup, !items[place].isTrashed {
            await edit(items[place], lodger, house, tenant)
        } else {
            await create(lodger, house, tenant)
        }
    }

    private func create(_ lodger: Lodger, _ house: House, _ tenant: Tenant) async {
        guard let origin = lodger.begin(nil) else { return }
        defer { lodger.end(origin) }
        var item = PlainItem(id: "", revision: "")
        item.origin = origin
        for field in PlainField.allCases { item.values[field] = lodger.newWord(field, of: origin) }
        guard let body = try? ItemBody(Array(item.body(isEdit: false).utf8)) else { return }
        let fate = await edit(.add(body), "adding \(origin)", nil, house, tenant)
        for (field, word) in item.values { lodger.conclude(word, field, of: origin, fate) }
    }

    private func edit(
        _ item: PlainItem,
        _ lodger: Lodger,
        _ house: House,
        _ tenant: Tenant
    ) async {
        guard let origin = lodger.begin(item.origin) else { return }
        defer { lodger.end(origin) }
        // Whoever was at it may just have finished.
        guard let item = await shown(to: lodger, tenant)?.first(where: { $0.id == item.id })
        else { return }
        let field = lodger.dice.pick(PlainField.allCases)
        let word = lodger.newWord(field, of: origin)
        var edited = item
        edited.values[field] = word
        guard let body = try? ItemBody(Array(edited.body(isEdit: true).utf8)) else { return }
        let fate = await edit(.update(item.id, body), "writing \(word)", nil, house, tenant)
        lodger.conclude(word, field, of: origin, fate)
    }

    private func shown(to lodger: Lodger, _ tenant: Tenant) async -> [PlainItem]? {
        let items = await tenant.shown()
        for item in items ?? [] where !lodger.isOwn(item) {
            oracle.say(.accountsApart, "the lodger is shown what is somebody else's: \(item.words)")
        }
        lodger.see(items ?? [])
        return items?.sorted { $0.id < $1.id }
    }

    /// Whatever ended the session, nobody was asked.
    func signIn(_ lodger: Lodger) async {
        guard let house, let tenant = house.lodger, !house.line.isCut else { return }
        do {
            let upstream = try world.directUpstream(of: number)
            let tokens = try await Cloud.signIn(upstream, as: Lodger.email)
            state.withLock { $0.lodgerTokens = tokens }
            tenant.session.signIn(tokens)
            try await tenant.scheduler.address.tell(.trigger(.signedIn))
        } catch {
            oracle.say(.playable, "the lodger cannot sign in: \(error)")
        }
    }

    /// The rows of the two have nothing in common, and neither is shown what is the other's.
    func inspectLodger(_ house: House) {
        guard let lodger, let own = rows(of: cloud.userID, house),
            let others = rows(of: lodger.userID, house)
        else { return }
        for id in own.intersection(others).sorted() {
            oracle.say(.accountsApart, "two accounts have rows of \(history.name(id))")
        }
    }

    private func rows(of userID: String, _ house: House) -> Set<String>? {
        guard let layers = try? house.store.reader.layers(of: userID) else { return nil }
        let base = layers.base.map(\.lane.cipherID)
        return Set(base + layers.pending.map(\.summary.lane.cipherID))
    }

    /// A request that is the lodger's, after it was seen that it is nobody else's.
    func isLodgers(_ call: WireCall) -> Bool {
        guard let lodger, let tokens = state.withLock(\.lodgerTokens) else { return false }
        let isOwn = lodger.hasSent(call, tokens.renewal)
        let ids = oracle.with { Set($0.upstream.keys) }
        if let flaw = lodger.flaw(of: call, isOwn: isOwn, others: (ids, cloud.rings)) {
            oracle.say(.accountsApart, flaw)
        }
        return isOwn
    }

    // MARK: The end

    var lodgerChanges: [StoredChange] {
        guard let lodger else { return [] }
        return (try? house?.store.reader.changes(of: lodger.userID)) ?? []
    }

    var lodgerWaiting: [StoredChange] {
        lodgerChanges.filter { $0.summary.state != .quarantined }
    }

    var isLodgerQuiet: Bool { lodger.map { !$0.isBusy && lodgerWaiting.isEmpty } ?? true }

    func signLodgerInAgain() async {
        guard let lodger, house?.lodger?.session.isSignedOut == true else { return }
        await signIn(lodger)
    }

    func retryLodger() async {
        await house?.lodger?.retry(lodgerChanges)
    }

    func judgeLodger() async {
        guard let lodger, let tenant = house?.lodger else { return }
        guard let items = try? await lodger.look() else {
            return oracle.say(.playable, "the lodger's account cannot be looked at")
        }
        _ = await shown(to: lodger, tenant)
        let hasOddStamps = oracle.with(\.hasOddStamps)
        for breach in lodger.judge(items, hasOddStamps: hasOddStamps) {
            oracle.say(breach.invariant, breach.text)
        }
    }
}
