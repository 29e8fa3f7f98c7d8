/// Header fields in the order in which they stand; names are compared without regard to case.
public struct Headers: Sendable, ExpressibleByDictionaryLiteral {
    public private(set) var fields: [(name: String, value: String)] = []

    public init() {}

    public init(dictionaryLiteral elements: (String, String)...) {
        fields = elements.map { (name: $0.0, value: $0.1) }
    }

    /// The first field of that name. Setting replaces all of that name; `nil` removes them.
    public subscript(name: String) -> String? {
        get { fields.first { $0.name.isSameHeader(as: name) }?.value }
        set {
            fields.removeAll { $0.name.isSameHeader(as: name) }
            if let newValue { add(name, newValue) }
        }
    }

    /// All values of that name, in order.
    public func all(_ name: String) -> [String] {
        fields.filter { $0.name.isSameHeader(as: name) }.map(\.value)
    }

    /// Makes room for so many fields at once.
    mutating func reserveCapacity(_ count: Int) { fields.reserveCapacity(count) }

    public mutating func add(_ name: String, _ value: String) {
        fields.append((name: name, value: value))
    }
}

extension Headers: Equatable {
    public static func == (left: Headers, right: Headers) -> Bool {
        left.fields.elementsEqual(right.fields) { $0.name == $1.name && $0.value == $1.value }
    }
}

extension String {
    /// Header names are ASCII, and so is the case that is looked past.
    fileprivate func isSameHeader(as other: String) -> Bool {
        utf8.count == other.utf8.count
            && zip(utf8, other.utf8).allSatisfy { $0 == $1 || $0.lowercased == $1.lowercased }
    }
}

extension UInt8 {
    fileprivate var lowercased: UInt8 { (0x41...0x5A).contains(self) ? self | 0x20 : self }
}
