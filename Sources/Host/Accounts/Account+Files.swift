import Bitwarden
import Crypto
import Glibc
import JSON
import Logging
import Sync
import System
import Vault

// Files of items. They are encrypted before they leave the host, and what was fetched once is kept
// as it came, so that it opens without a network too.

/// A file that nobody can open: it was announced to upstream, and its bytes are not there.
struct StrayFile: Sendable {
    /// As it was sealed, which no other file's is.
    let name: String
    let cipherID: String
    /// Until then the announcement may be carried out, late.
    var latest: Duration

    static let remembered = 64
    static let timeOfDoubt = Duration.seconds(120)
    static let looksApart = Duration.seconds(30)
}

extension Account {
    func attach(
        _ file: [UInt8],
        named name: String,
        to itemID: String
    ) async throws(DeskRefusal) -> ViewedItem {
        let keys = try keys()
        let cipherID = try await owned(itemID, isUpstream: true).id
        try await requireAcceptance()
        // That moves the item's revision, so nothing that is based on the former one may be under way.
        let (upload, sealed, stray) = try await lanes.hold(cipherID) {
            () async throws(DeskRefusal) in
            try await announce(file, named: name, to: try known(cipherID), keys)
        }
        do throws(DeskRefusal) {
            try await online(saysAway: false) { account throws(Setback) in
                try await account.upload(FileSource(sealed), as: upload)
            }
        } catch {
            // Nobody could open what is announced and not there.
            await takeBack(stray)
            throw error
        }
        let files = try? Cipher(upload.cipher)
        let unwritten = try await look(at: cipherID) { files.map($0.withFiles(of:)) ?? $0 }
        return try await shown(cipherID, keys, unwritten)
    }

    /// Asks upstream for a place for the file, which moves the item's revision; the file itself is shown when it
    /// is there.
    private func announce(
        _ file: [UInt8],
        named name: String,
        to known: Known,
        _ keys: KeyRing
    ) async throws(DeskRefusal) -> (upload: AttachmentUpload, sealed: [UInt8], StrayFile) {
        let (request, sealed) = try seal(file, named: name, for: known, keys)
        let now = office.surroundings.timekeeper.elapsed
        var stray = StrayFile(
            name: request.fileName,
            cipherID: known.cipherID,
            latest: now + StrayFile.timeOfDoubt
        )
        let upload: AttachmentUpload
        do throws(DeskRefusal) {
            upload = try await online { account throws(Setback) in
                try await account.announceAttachment(request, to: known.cipherID)
            }
        } catch {
            if case .upstream(let setback) = error, setback.mayHaveLanded {
                await takeBack(stray)
            }
            throw error
        }
        if let announced = try? Cipher(upload.cipher), announced.id == known.cipherID {
            let now = announced.stillInCollections(known.cipher.collectionIDs)
            try await keep(now.withFiles(of: known.cipher), of: known)
        }
        // It was carried out, so it is there or gone.
        stray.latest = now
        return (upload, sealed, stray)
    }

    /// Seals under a key of its own, which is wrapped in the item's.
    private func seal(
        _ file: [UInt8],
        named name: String,
        for known: Known,
        _ keys: KeyRing
    ) throws(DeskRefusal) -> (AttachmentRequest, sealed: [UInt8]) {
        let sealer = try sealer(of: known.cipher, keys)
        return try crypto { () throws(CryptoError) in
            let key = SymmetricKey(from: office.surroundings.entropy)
            let wrapped = try sealer.wrap(key)
            let sealed = try Sealer(key, entropy: office.surroundings.entropy).seal(buffer: file)
            let request = AttachmentRequest(
                key: wrapped,
                fileName: try sealer.seal(name),
                size: sealed.count,
                lastKnownRevisionDate: known.cipher.revisionDate
            )
            return (request, sealed)
        }
    }

    /// Upstream is asked although it has just looked as if it were away. If it is, this is done after a sync, as
    /// long as this process lasts.
    private func takeBack(_ stray: StrayFile) async {
        if await !isTakenBack(stray, .interactive) {
            strayFiles.withLock { $0 = $0.suffix(StrayFile.remembered - 1) + [stray] }
        }
        lookSoon()
    }

    /// - Returns: When to look for them again, if any may be left.
    func takeBackStrays() async -> Duration? {
        guard link.monitor.standing.state != .offline else { return nil }
        let strays = strayFiles.withLock { strays in
            defer { strays = [] }
            return strays
        }
        var isSomeLeft = false
        for stray in strays {
            if await isTakenBack(stray, .patient) {
                lookSoon()
            } else {
                isSomeLeft = true
                strayFiles.withLock { $0.append(stray) }
            }
        }
        return isSomeLeft ? StrayFile.looksApart : nil
    }

    /// - Returns: Whether upstream has nothing of it any more, and will not.
    private func isTakenBack(_ stray: StrayFile, _ urgency: Urgency) async -> Bool {
        do throws(Setback) {
            return try await upstream.ask(urgency, saysAway: false) { account throws(Setback) in
                // Its caller has waited long enough.
                let account = account.asking { $0.deadline = .seconds(2) }
                let held = try await account.cipher(stray.cipherID)
                let announced = held.attachmentIDs.first { attachmentID in
                    let name = held.attachment(attachmentID)?[anyCase: "fileName"]?.string
                    return name == stray.name
                }
                guard let announced else {
                    return office.surroundings.timekeeper.elapsed >= stray.latest
                }
                try await account.deleteAttachment(announced, of: stray.cipherID)
                return true
            }
        } catch {
            if case .missing = error.reason { return true }
            return false
        }
    }

    /// Asks upstream for the item after something was done to its files.
    ///
    /// It takes its turn in the lane, because the answer to an edit that is under way does not know of that yet
    /// and comes later.
    ///
    /// - Parameter change: What was done, in case upstream does not answer: it has been done all the same.
    /// - Returns: The item as upstream has it, if that could not be written down.
    private func look(
        at cipherID: String,
        otherwise change: (Cipher) -> Cipher
    ) async throws(DeskRefusal) -> Cipher? {
        try await lanes.hold(cipherID) { () async throws(DeskRefusal) in
            try await lookInTurn(at: cipherID, otherwise: change)
        }
    }

    /// The same for whoever has the lane.
    @discardableResult
    private func lookInTurn(
        at cipherID: String,
        otherwise change: (Cipher) -> Cipher
    ) async throws(DeskRefusal) -> Cipher? {
        // A sync takes no turn, and may write in between.
        for _ in 0..<Self.looks {
            let known = try known(cipherID)
            let now: Cipher
            do throws(DeskRefusal) {
                now = try await online { account throws(Setback) in
                    try await account.cipher(cipherID)
                }
            } catch {
                lookSoon()
                return try await keep(change(known.cipher), of: known)
            }
            guard let isKept = try await isKept(now, of: known) else { return now }
            if isKept { return nil }
        }
        lookSoon()
        return nil
    }

    private static let looks = 3

    func attachment(
        _ attachmentID: String,
        of itemID: String
    ) async throws(DeskRefusal) -> [UInt8] {
        let (cipherID, item) = try await owned(itemID)
        return try await attachment(attachmentID, of: item.cipher, cipherID)
    }

    private func attachment(
        _ attachmentID: String,
        of cipher: Cipher,
        _ cipherID: String
    ) async throws(DeskRefusal) -> [UInt8] {
        guard let attachment = cipher.attachment(attachmentID) else { throw .notFound }
        let sealer = try sealer(of: attachment, of: cipher, keys())
        // What does not open is not what upstream has.
        if let kept = try? Files.read(cachePath(attachmentID)),
            let content = try? sealer.open(buffer: kept).revealedBytes()
        {
            return content
        }
        let size = cipher.size(ofAttachment: attachmentID).flatMap { Int($0) }
        let file = try await download(attachmentID, of: cipherID, size: size)
        let content = try crypto { () throws(CryptoError) in
            try sealer.open(buffer: file).revealedBytes()
        }
        keepFile(file, at: cachePath(attachmentID))
        return content
    }

    /// Files from before 2018 have no key of their own; they are under that of their item's owner.
    private func sealer(
        of attachment: JSON.Value,
        of cipher: Cipher,
        _ keys: KeyRing
    ) throws(DeskRefusal) -> Sealer {
        guard let wrapped = attachment[anyCase: "key"]?.string else {
            do throws(Flaw) { return try cipher.owner(in: keys) } catch {
                throw .unfit(.unreadable(error))
            }
        }
        let sealer = try sealer(of: cipher, keys)
        return try crypto { () throws(CryptoError) in Sealer(try sealer.unwrapKey(wrapped)) }
    }

    /// Gives a file of an item to the backup copy that was made of the item, unless the copy has it already.
    ///
    /// - Returns: Whether the copy is still there. If the file itself is gone, that is a refusal.
    func copyFile(_ file: BackupFile) async throws(DeskRefusal) -> Bool {
        do throws(DeskRefusal) {
            try await copyFileToCopy(file)
            return true
        } catch {
            guard case .notFound = error, try await item(file.backupID) == nil else { throw error }
            return false
        }
    }

    private func copyFileToCopy(_ file: BackupFile) async throws(DeskRefusal) {
        let (backupID, backup) = try await owned(file.backupID)
        // An item whose deletion waits is not shown any more, but upstream still has its files.
        let source = try known(file.sourceID).cipher
        let files = Item(source, keys: try keys()).attachments
        guard let original = files.first(where: { $0.id == file.attachmentID }) else {
            throw .notFound
        }
        let name = original.fileName ?? Item.unreadableName
        let size = source.size(ofAttachment: file.attachmentID)
        let sourceID = source.id ?? file.sourceID
        let content = try await attachment(file.attachmentID, of: source, sourceID)
        for kept in backup.attachments where kept.fileName == original.fileName {
            guard let keptID = kept.id, backup.cipher.size(ofAttachment: keptID) == size else {
                continue
            }
            if try await holds(content, keptID, of: backupID) { return }
        }
        _ = try await attach(content, named: name, to: backupID)
    }

    /// Whether a file of an item is that one. What was announced and never came is taken away.
    private func holds(
        _ content: [UInt8],
        _ attachmentID: String,
        of itemID: String
    ) async throws(DeskRefusal) -> Bool {
        do {
            return try await attachment(attachmentID, of: itemID) == content
        } catch {
            guard case .upstream(let setback) = error, setback.failureClass == .permanent else {
                throw error
            }
            try await deleteAttachment(attachmentID, of: itemID)
            return false
        }
    }

    func deleteAttachment(
        _ attachmentID: String,
        of itemID: String
    ) async throws(DeskRefusal) {
        let (cipherID, item) = try await owned(itemID)
        guard item.cipher.attachment(attachmentID) != nil else { throw .notFound }
        try await takeAway(attachmentID, from: cipherID)
    }

    /// That moves the item's revision, too.
    private func takeAway(
        _ attachmentID: String,
        from cipherID: String
    ) async throws(DeskRefusal) {
        try await lanes.hold(cipherID) { () async throws(DeskRefusal) in
            try await removing { account throws(Setback) in
                try await account.deleteAttachment(attachmentID, of: cipherID)
            }
            unlink(cachePath(attachmentID))
            try await lookInTurn(at: cipherID) { $0.withoutFile(attachmentID) }
        }
    }

    private func sealer(of cipher: Cipher, _ keys: KeyRing) throws(DeskRefusal) -> Sealer {
        do throws(Flaw) {
            return try cipher.sealer(in: keys, entropy: office.surroundings.entropy)
        } catch {
            throw .unfit(.unreadable(error))
        }
    }

    // MARK: The cache

    /// How a store of files answers says nothing about the way to upstream, so the monitor is not told.
    ///
    /// - Parameter size: As upstream told it. A file that goes on beyond that might never end.
    private func download(
        _ attachmentID: String,
        of cipherID: String,
        size: Int?
    ) async throws(DeskRefusal) -> [UInt8] {
        let place = try await online { account throws(Setback) in
            try await account.attachment(attachmentID, of: cipherID)
        }
        let account = upstream.account.asking { $0.take(.interactive) }
        let most = min(size ?? VaultAPI.uploadLimit, Self.largestFile) + Self.slack
        var bytes: [UInt8] = []
        do throws(Setback) {
            for try await piece in try await account.download(place) {
                bytes += piece
                guard bytes.count <= most else {
                    throw Setback(.malformed("a file without end"), operation: "download")
                }
            }
        } catch {
            throw .upstream(error)
        }
        return bytes
    }

    /// As large as servers take them.
    private static let largestFile = 512 << 20
    private static let slack = 64 << 10

    /// A cache that cannot be written is only an empty cache, and an account that was taken away meanwhile
    /// has none.
    private func keepFile(_ file: [UInt8], at path: String) {
        guard !isGone else { return }
        do throws(SystemError) {
            try Files.makePrivateDirectory("\(office.cacheDirectory)/\(id)")
            try Files.replace(path, with: file)
        } catch {
            office.surroundings.log.warning("A file was not kept for later.", because: error)
        }
    }

    /// The id is upstream's, so nothing of it may lead elsewhere.
    private func cachePath(_ attachmentID: String) -> String {
        "\(office.cacheDirectory)/\(id)/\(FileCache.name(of: attachmentID))"
    }

    /// Forgets the files that no item has any more, now and then.
    func trimCache() async {
        let cache = FileCache(office.cacheDirectory)
        let now = office.surroundings.now
        let isDue = cacheDue.withLock { due in
            guard due <= now else { return false }
            due = now + .seconds(3_600)
            return true
        }
        guard isDue, cache.holdsSomething(of: id),
            let bases = try? office.read({ reader throws(StoreError) in try reader.bases(of: id) })
        else { return }
        let files = bases.flatMap { (try? Cipher($0.json))?.attachmentIDs ?? [] }
        cache.keepOnly(Set(files.map(FileCache.name)), of: id)
    }

    /// What was kept of an account that goes.
    func emptyCache() { FileCache(office.cacheDirectory).remove(id) }
}

extension Cipher {
    fileprivate func size(ofAttachment id: String) -> String? {
        let size = attachment(id)?[anyCase: "size"]
        return size?.string ?? size?.int.map { "\($0)" }
    }

    fileprivate func attachment(_ id: String) -> JSON.Value? {
        document.root[anyCase: "attachments"]?.array?.first { $0[anyCase: "id"]?.string == id }
    }
}

extension FileSource {
    fileprivate init(_ bytes: [UInt8]) {
        let pieces = Lock(bytes[...])
        self.init(length: bytes.count) {
            pieces.withLock { rest in
                guard !rest.isEmpty else { return nil }
                let piece = Array(rest.prefix(1 << 18))
                rest = rest.dropFirst(piece.count)
                return piece
            }
        }
    }
}
