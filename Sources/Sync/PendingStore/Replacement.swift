internal import Glibc
internal import System
internal import Vault

/// Puts a salvaged file in the place of the damaged one, so that whoever is stopped on the way finds
/// one or the other.
struct Replacement {
    let path: String

    init(of path: String) {
        self.path = path
    }

    /// Being filled; of no use until it is whole.
    var draft: String { path + ".salvage" }
    /// Whole and closed. It takes the place of the damaged file as soon as that is out of the way.
    private var ready: String { path + ".salvaged" }

    func discardDraft() {
        StoreFile.remove(draft)
        StoreFile.remove(ready)
    }

    /// - Returns: Where the damaged file lies now.
    func carryOut(at moment: Moment) throws(StoreError) -> String {
        do throws(SystemError) {
            // Nothing of it was flushed while it was filled.
            try StoreFile.flush(draft)
            try StoreFile.replace(ready, by: draft)
            return try exchange(at: moment)
        } catch {
            throw .system(error)
        }
    }

    /// Ends what was begun before the host was stopped.
    ///
    /// - Returns: Where the damaged file lies now; nil if nothing had been begun.
    func resume(at moment: Moment) throws(StoreError) -> String? {
        do throws(SystemError) {
            guard try Files.exists(ready) else { return nil }
            return try exchange(at: moment)
        } catch {
            throw .system(error)
        }
    }

    private func exchange(at moment: Moment) throws(SystemError) -> String {
        let damaged = try freeName(at: moment)
        // The log goes along: it belongs to the damaged file, and to no other.
        for ending in ["", "-wal"] where try Files.exists(path + ending) {
            try StoreFile.replace(damaged + ending, by: path + ending)
        }
        StoreFile.remove(path)
        try StoreFile.replace(path, by: ready)
        return damaged
    }

    private func freeName(at moment: Moment) throws(SystemError) -> String {
        let name = "\(path).damaged-\(moment.ticks)"
        guard try Files.exists(name) else { return name }
        return try freeName(at: Moment(ticks: moment.ticks + 1))
    }
}
