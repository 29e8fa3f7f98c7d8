/// Values of our own as text.
///
/// `capacity` is a guess of the text's length, worth giving where it is large.
extension JSON.Raw {
    public init(_ value: some JSON.Writable, capacity: Int = 64) {
        self.init(capacity: capacity) { value.write(to: &$0) }
    }

    public static func object(
        capacity: Int = 256,
        _ body: (inout JSON.ObjectWriter) -> Void
    ) -> Self {
        Self(capacity: capacity) { $0.object(body) }
    }

    public static func array(
        capacity: Int = 256,
        _ body: (inout JSON.ArrayWriter) -> Void
    ) -> Self {
        Self(capacity: capacity) { $0.array(body) }
    }

    public static let null = Self(Bool?.none)

    private init(capacity: Int, _ write: (inout JSON.Writer) -> Void) {
        var writer = JSON.Writer()
        writer.bytes.reserveCapacity(capacity)
        write(&writer)
        precondition(writer.isDone, "A value must be written.")
        self.init(whole: writer.bytes)
    }

    /// Bytes of which it is known that they are a value and nothing around it.
    init(whole bytes: [UInt8]) {
        let isString = bytes.first == .quote
        let extent = Extent(
            start: 0,
            end: bytes.count,
            hasEscapes: isString && bytes.contains(.backslash)
        )
        self.init(source: bytes, extent: extent)
    }
}

extension JSON.Raw: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByBooleanLiteral
{
    public init(stringLiteral value: String) { self.init(value) }
    public init(integerLiteral value: Int) { self.init(value) }
    public init(booleanLiteral value: Bool) { self.init(value) }
}
