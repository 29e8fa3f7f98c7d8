/// Text as it stands in an address.
public enum Percent {
    /// For a segment of a path or a part of a query: all but letters, digits and four marks is escaped.
    public static func encode(_ text: String) -> String {
        text.utf8.reduce(into: "") { encoded, byte in
            if byte.isUnreserved {
                encoded.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                encoded += (byte < 16 ? "%0" : "%") + String(byte, radix: 16, uppercase: true)
            }
        }
    }

    /// Lets nothing slip through: a zero byte or bytes that are not UTF-8 are refused rather than guessed at. A
    /// percent sign that no two digits follow stands for itself.
    public static func decode(_ text: String) -> String? {
        Array(text.utf8).withUnsafeBytes { decode($0[...]) }
    }

    /// `nil` if the text cannot be decoded. In a query, a plus sign is a space.
    static func decode(_ bytes: Slice<UnsafeRawBufferPointer>, isQuery: Bool = false) -> String? {
        let needsWork = bytes.contains { $0 == .percent || (isQuery && $0 == .plus) }
        guard needsWork else { return String(decoding: bytes, as: UTF8.self) }
        var decoded: [UInt8] = []
        decoded.reserveCapacity(bytes.count)
        var rest = bytes
        while let byte = rest.popFirst() {
            let plain = unescape(byte, &rest, isQuery)
            guard plain != 0 else { return nil }
            decoded.append(plain)
        }
        return String(validating: decoded, as: UTF8.self)
    }

    private static func unescape(
        _ byte: UInt8,
        _ rest: inout Slice<UnsafeRawBufferPointer>,
        _ isQuery: Bool
    ) -> UInt8 {
        if isQuery && byte == .plus { return .space }
        guard byte == .percent, let high = rest.first?.hexDigit,
            let low = rest.dropFirst().first?.hexDigit
        else { return byte }
        rest = rest.dropFirst(2)
        return high << 4 | low
    }
}

extension UInt8 {
    static let space = UInt8(ascii: " ")
    static let percent = UInt8(ascii: "%")
    static let plus = UInt8(ascii: "+")
    static let slash = UInt8(ascii: "/")
    static let question = UInt8(ascii: "?")
    static let hash = UInt8(ascii: "#")
    static let ampersand = UInt8(ascii: "&")
    static let equals = UInt8(ascii: "=")

    /// What means nothing in any part of an address (RFC 3986).
    fileprivate var isUnreserved: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
            UInt8(ascii: "_"), UInt8(ascii: "~"):
            true
        default: false
        }
    }

    fileprivate var hexDigit: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
