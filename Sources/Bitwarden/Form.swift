/// A body of the kind `application/x-www-form-urlencoded`, as the token call wants it.
public struct Form: Sendable, Equatable {
    public struct Field: Sendable, Equatable {
        public let name: String
        public let value: String

        public init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    public private(set) var fields: [Field] = []

    public init(_ fields: [Field] = []) {
        self.fields = fields
    }

    public mutating func add(_ name: String, _ value: String?) {
        if let value { fields.append(Field(name, value)) }
    }

    /// The first value of that name. Clients write `deviceIdentifier`, `device_identifier` and
    /// `DeviceIdentifier`, and servers take all of them.
    public subscript(name: String) -> String? {
        let wanted = Self.plain(name)
        return fields.first { Self.plain($0.name) == wanted }?.value
    }

    private static func plain(_ name: String) -> String {
        name.lowercased().filter { $0 != "_" }
    }
}

extension Form {
    /// `nil` for an escape that means nothing and for bytes that are not UTF-8.
    public init?(_ body: [UInt8]) {
        for pair in body.split(separator: UInt8(ascii: "&")) {
            let middle = pair.firstIndex(of: UInt8(ascii: "=")) ?? pair.endIndex
            guard
                let name = Self.decode(pair[..<middle]),
                let value = Self.decode(pair[middle...].dropFirst())
            else { return nil }
            fields.append(Field(name, value))
        }
    }

    public var bytes: [UInt8] {
        let pairs = fields.map { Self.encode($0.name) + "=" + Self.encode($0.value) }
        return Array(pairs.joined(separator: "&").utf8)
    }

    private static func decode(_ bytes: ArraySlice<UInt8>) -> String? {
        var decoded: [UInt8] = []
        var rest = bytes
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "+"): decoded.append(UInt8(ascii: " "))
            case UInt8(ascii: "%"):
                let digits = String(decoding: rest.prefix(2), as: UTF8.self)
                let isHex = digits.utf8.count == 2 && digits.allSatisfy(\.isHexDigit)
                guard isHex, let plain = UInt8(digits, radix: 16) else { return nil }
                decoded.append(plain)
                rest = rest.dropFirst(2)
            default: decoded.append(byte)
            }
        }
        return String(validating: decoded, as: UTF8.self)
    }

    private static func encode(_ text: String) -> String {
        var encoded = ""
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
                UInt8(ascii: "_"), UInt8(ascii: "~"):
                encoded.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                let digits = String(byte, radix: 16, uppercase: true)
                encoded += digits.utf8.count == 1 ? "%0" + digits : "%" + digits
            }
        }
        return encoded
    }
}

/// Says which fields there are and not what they say: one of them is a password.
extension Form: CustomStringConvertible, CustomReflectable {
    public var description: String { "a form of \(fields.map(\.name))" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
