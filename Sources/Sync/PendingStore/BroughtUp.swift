internal import SQLite
internal import Vault

/// What came from here within the last days, as it is written down.
extension Offering {
    func rows(_ db: borrowing Connection) throws(DatabaseError) -> [Row] {
        try db.all(
            """
            SELECT cipher_id, is_gone, settled_ticks, key_fingerprint, revision_ticks, is_exposed
            FROM brought_up
            WHERE user_id = ? ORDER BY settled_ticks, cipher_id
            """,
            .text(userID)
        ) { (row) throws(DatabaseError) in try Row(row, of: userID) }
    }

    /// Those over which somebody may write who has not seen them: few, of all that came up in a week.
    func exposed(_ db: borrowing Connection) throws(DatabaseError) -> [Row] {
        try db.all(
            """
            SELECT cipher_id, is_gone, settled_ticks, key_fingerprint, revision_ticks, is_exposed
            FROM brought_up
            WHERE user_id = ? AND is_exposed > 0 ORDER BY settled_ticks, cipher_id
            """,
            .text(userID)
        ) { (row) throws(DatabaseError) in try Row(row, of: userID) }
    }

    struct Row {
        let lane: Lane
        let isGone: Bool
        let settled: Moment
        let keyFingerprint: [UInt8]
        /// What is gone had this state last, as far as was known; and this is the one that came from here.
        let known: Moment?
        let exposure: Aftercare.Exposure

        static func find(
            _ lane: Lane,
            _ db: borrowing Connection
        ) throws(DatabaseError) -> Row? {
            try db.first(
                """
                SELECT cipher_id, is_gone, settled_ticks, key_fingerprint, revision_ticks, is_exposed
                FROM brought_up WHERE user_id = ? AND cipher_id = ?
                """,
                .text(lane.userID),
                .text(lane.cipherID)
            ) { (row) throws(DatabaseError) in try Row(row, of: lane.userID) }
        }

        init(_ row: borrowing SQLite.Row, of userID: String) throws(DatabaseError) {
            lane = Lane(userID: userID, cipherID: try row.text(0))
            isGone = try row.int(1) == 1
            settled = try row.moment(2)
            keyFingerprint = try row.bytes(3)
            known = try row.moment(orNil: 4)
            // Earlier builds told two kinds of dated ones apart.
            exposure = Aftercare.Exposure(rawValue: try row.int(5)) ?? .dated
        }

        init(_ base: BaseCipher, settled: Moment, keyFingerprint: [UInt8]) {
            (lane, isGone, known, exposure) = (base.lane, false, base.revision.moment, .dated)
            (self.settled, self.keyFingerprint) = (settled, keyFingerprint)
        }

        /// Whether what has that stamp, and says something else, came after what came from here. It may have the same
        /// stamp, or one that was cut off.
        func isEarlier(than moment: Moment) -> Bool {
            guard let known else { return false }
            return switch exposure {
            case .none: false
            case .dated: !moment.isEarlierStamp(than: known)
            case .undated, .forgotten: true
            }
        }

        /// Whether what had that stamp was there when it was deleted.
        func wasDeleted(after moment: Moment) -> Bool {
            guard let known else { return moment <= settled }
            return !known.isEarlierStamp(than: moment)
        }

        /// Whether that was too soon for somebody to have seen it, as far as their stamp tells. Where there is none to
        /// compare it with, it tells nothing.
        func isBlind(_ moment: Moment) -> Bool {
            guard let known, exposure == .dated, isEarlier(than: moment) else { return false }
            return moment - known < .seconds(2)
        }

        /// The same, as far as anybody can rule it out.
        func mayBeBlind(_ moment: Moment) -> Bool {
            isBlind(moment) || exposure == .undated && isEarlier(than: moment)
        }

        /// Whether that was there before what came from here: then an old list has put it back, and nothing was
        /// undone by what upstream shows now.
        func hasOvertaken(_ lost: BaseCipher) -> Bool {
            known.map { lost.revision.moment.isEarlierStamp(than: $0) } ?? false
        }
    }
}
