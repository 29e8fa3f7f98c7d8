extension JSON.Writer {
    /// Escapes what must be escaped and nothing else: quotation marks, backslashes and control
    /// characters. A Swift string holds no half surrogate pairs, so nothing has to be refused.
    mutating func quote(_ value: String) {
        var value = value
        value.withUTF8 { quote($0) }
    }

    private mutating func quote(_ text: UnsafeBufferPointer<UInt8>) {
        bytes.append(.quote)
        var (start, next) = (0, 0)
        while next < text.count {
            if text[next].mustBeEscaped {
                bytes.append(contentsOf: text[start..<next])
                escape(text[next])
                start = next + 1
            }
            next += 1
        }
        bytes.append(contentsOf: text[start...])
        bytes.append(.quote)
    }

    private mutating func escape(_ byte: UInt8) {
        bytes.append(.backslash)
        switch byte {
        case .quote, .backslash: bytes.append(byte)
        case 0x08: bytes.append(UInt8(ascii: "b"))
        case 0x09: bytes.append(UInt8(ascii: "t"))
        case 0x0A: bytes.append(UInt8(ascii: "n"))
        case 0x0C: bytes.append(UInt8(ascii: "f"))
        case 0x0D: bytes.append(UInt8(ascii: "r"))
        default:
            bytes += "u00".utf8
            bytes.append(hexDigit(byte >> 4))
            bytes.append(hexDigit(byte & 0xF))
        }
    }

    private func hexDigit(_ value: UInt8) -> UInt8 {
        value < 10 ? .zero + value : UInt8(ascii: "a") + value - 10
    }
}

extension UInt8 {
    var mustBeEscaped: Bool {
        self < 0x20 || self == .quote || self == .backslash
    }
}
