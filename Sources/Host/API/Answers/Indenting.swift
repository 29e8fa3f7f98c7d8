import HTTP

extension Response {
    /// The same for a person's eyes. What is no JSON stays as it is.
    var indented: Response {
        guard case .bytes(let bytes) = body,
            headers["Content-Type"]?.hasPrefix("application/json") == true
        else { return self }
        var response = self
        response.body = .bytes(Indenting.indented(bytes))
        return response
    }
}

/// Lays compact JSON out with two spaces a level; arrays and objects that are empty stay closed.
struct Indenting {
    private var text: [UInt8] = []
    private var depth = 0

    static func indented(_ compact: [UInt8]) -> [UInt8] {
        var indenting = Indenting()
        indenting.text.reserveCapacity(compact.count * 2)
        indenting.take(compact)
        return indenting.text
    }

    private mutating func take(_ compact: [UInt8]) {
        var isInString = false
        var isEscaped = false
        var previous: UInt8 = 0
        for byte in compact {
            if isInString {
                text.append(byte)
                (isInString, isEscaped) = Self.next(byte, isEscaped)
            } else {
                isInString = byte == UInt8(ascii: "\"")
                put(byte, after: previous)
            }
            previous = byte
        }
    }

    private static func next(_ byte: UInt8, _ isEscaped: Bool) -> (isInString: Bool, Bool) {
        if isEscaped { return (true, false) }
        return (byte != UInt8(ascii: "\""), byte == UInt8(ascii: "\\"))
    }

    private mutating func put(_ byte: UInt8, after previous: UInt8) {
        let isFirst = previous == UInt8(ascii: "{") || previous == UInt8(ascii: "[")
        switch byte {
        case UInt8(ascii: "}"), UInt8(ascii: "]"):
            depth -= 1
            if !isFirst { breakLine() }
            text.append(byte)
        case UInt8(ascii: ","):
            text.append(byte)
            breakLine()
        case UInt8(ascii: ":"):
            text += [byte, UInt8(ascii: " ")]
        default:
            if isFirst { breakLine() }
            text.append(byte)
            if byte == UInt8(ascii: "{") || byte == UInt8(ascii: "[") { depth += 1 }
        }
    }

    private mutating func breakLine() {
        text.append(UInt8(ascii: "\n"))
        text += [UInt8](repeating: UInt8(ascii: " "), count: depth * 2)
    }
}
