extension DefaultStringInterpolation {
    /// One segment of a path, whatever is in it: what another host calls an id must not lead
    /// elsewhere.
    mutating func appendInterpolation(segment: String) {
        var text = ""
        for byte in segment.utf8 {
            if byte.isUnreserved {
                text.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                let digits = String(byte, radix: 16, uppercase: true)
                text += digits.utf8.count == 1 ? "%0\(digits)" : "%\(digits)"
            }
        }
        // Dots alone would be taken for a way up.
        appendLiteral(text == "." ? "%2E" : text == ".." ? "%2E%2E" : text)
    }
}

extension UInt8 {
    fileprivate var isUnreserved: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
            UInt8(ascii: "_"), UInt8(ascii: "~"):
            true
        default: false
        }
    }
}
