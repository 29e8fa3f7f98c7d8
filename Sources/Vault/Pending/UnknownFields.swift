/// What a newer build wrote into a record and this one does not understand.
///
/// It travels with the value, so that reading and writing a record again loses nothing.
public struct UnknownFields: Hashable, Sendable {
    public struct Field: Hashable, Sendable {
        public let number: UInt32
        public let wireType: UInt8
        public let bytes: [UInt8]

        public init(number: UInt32, wireType: UInt8, bytes: [UInt8]) {
            self.number = number
            self.wireType = wireType
            self.bytes = bytes
        }
    }

    public var fields: [Field]

    public init(fields: [Field] = []) {
        self.fields = fields
    }

    public static let none = UnknownFields()
}
