internal import SQLite
internal import Vault

// Moments as they are kept: by their ticks.

extension Value {
    static func moment(_ moment: Moment) -> Value { .int(Int(moment.ticks)) }

    static func moment(_ moment: Moment?) -> Value { moment.map { .moment($0) } ?? .null }
}

extension Row {
    func moment(_ column: Int) throws(DatabaseError) -> Moment {
        Moment(ticks: Int64(try int(column)))
    }

    func moment(orNil column: Int) throws(DatabaseError) -> Moment? {
        try int(orNil: column).map { Moment(ticks: Int64($0)) }
    }
}
