/// Whether a log holds commits behind a place where it ends for SQLite.
///
/// Each frame's checksum covers those before it, and SQLite takes none behind the first that does not fit. Each commit
/// is flushed before the next begins, so a power cut leaves frames of one commit there at most, and so does one whose
/// flush failed. Where a commit follows upon another, the disk has changed what it had kept.
///
/// The header is flushed before the first frame behind it. So where that is damaged, a single commit tells; it may be of
/// the log that had the file before, if the power was cut just then, and a log that is kept in vain costs little.
struct LogCheck {
    private typealias Checksum = (UInt32, UInt32)

    private static let headerSize = 32
    private static let frameHeaderSize = 24

    private let log: UnsafeRawBufferPointer
    private let pageSize: Int
    /// What the log is told by from those that had its file before.
    private let salt: UInt64
    private let isBigEndian: Bool

    private init(_ log: UnsafeRawBufferPointer, pageSize: Int, isBigEndian: Bool) {
        self.log = log
        self.pageSize = pageSize
        salt = log.loadUnaligned(fromByteOffset: 16, as: UInt64.self).bigEndian
        self.isBigEndian = isBigEndian
    }

    /// - Returns: What the log is told by, if there are such commits in it.
    static func saltOfDamaged(_ log: [UInt8], pageSize: Int) -> UInt64? {
        log.withUnsafeBytes { bytes in
            guard bytes.count > headerSize else { return nil }
            let checks = [false, true].map {
                LogCheck(bytes, pageSize: pageSize, isBigEndian: $0)
            }
            if let check = checks.first(where: \.isHeaderSound) {
                return check.hasCommitsBehindEnd ? check.salt : nil
            }
            // What it says of itself, the order of its bytes included, cannot be relied on.
            return checks.lazy.compactMap(\.saltOfCommit).first
        }
    }

    /// Zeros would be a checksum of zeros.
    private var isHeaderSound: Bool {
        word(at: 0) == 0x377f_0682 | (isBigEndian ? 1 : 0)
            && checksum(of: 0..<24, after: (0, 0)) == stored(at: 24)
    }

    private var starts: StrideThrough<Int> {
        let frameSize = Self.frameHeaderSize + pageSize
        return stride(from: Self.headerSize, through: log.count - frameSize, by: frameSize)
    }

    /// What the first commit is told by that follows from the frame before it.
    private var saltOfCommit: UInt64? {
        var last = stored(at: 24)
        for start in starts {
            let follows = checksum(ofFrameAt: start, after: last) == stored(at: start + 16)
            last = stored(at: start + 16)
            if follows, word(at: start + 4) != 0 {
                return log.loadUnaligned(fromByteOffset: start + 8, as: UInt64.self).bigEndian
            }
        }
        return nil
    }

    private var hasCommitsBehindEnd: Bool {
        var last = stored(at: 24)
        var isBehindEnd = false
        /// In a row of frames that follow from one another.
        var commits = 0
        for start in starts {
            let follows = checksum(ofFrameAt: start, after: last) == stored(at: start + 16)
            last = stored(at: start + 16)
            let isOfLog =
                log.loadUnaligned(fromByteOffset: start + 8, as: UInt64.self) == salt.bigEndian
            if isOfLog, follows, !isBehindEnd { continue }
            if !follows || !isOfLog || !isBehindEnd { commits = 0 }
            isBehindEnd = true
            if isOfLog, word(at: start + 4) != 0 { commits += 1 }
            if commits == 2 { return true }
        }
        return false
    }

    private func checksum(ofFrameAt start: Int, after last: Checksum) -> Checksum {
        let page = start + Self.frameHeaderSize
        return checksum(
            of: page..<page + pageSize,
            after: checksum(of: start..<start + 8, after: last)
        )
    }

    private func checksum(of range: Range<Int>, after last: Checksum) -> Checksum {
        var (first, second) = last
        for place in stride(from: range.lowerBound, to: range.upperBound, by: 8) {
            first &+= summand(at: place) &+ second
            second &+= summand(at: place + 4) &+ first
        }
        return (first, second)
    }

    private func summand(at place: Int) -> UInt32 {
        let word = log.loadUnaligned(fromByteOffset: place, as: UInt32.self)
        return isBigEndian ? word.bigEndian : word.littleEndian
    }

    private func stored(at place: Int) -> Checksum { (word(at: place), word(at: place + 4)) }

    private func word(at place: Int) -> UInt32 {
        log.loadUnaligned(fromByteOffset: place, as: UInt32.self).bigEndian
    }
}
