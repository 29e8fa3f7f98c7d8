/// One line as it is written.
///
/// Whatever the fields hold, it is one line of valid text or JSON, shows no control character of
/// theirs, and is no longer than ``limit``; what has no room is cut off, and the line says so.
struct LogLine {
    /// What a pipe takes in one piece (`PIPE_BUF`), so that not even the lines of two processes
    /// mix, and a write into a pipe that has room never waits.
    static let limit = 4096
    /// Room for what ends a line that was cut off.
    private static let reserve = 32

    private(set) var bytes: [UInt8] = []
    private let format: LogFormat
    private var bodyStart = 0
    private var isCut = false

    init(_ format: LogFormat) {
        self.format = format
        bytes.reserveCapacity(256)
    }

    /// What repeated lines have in common.
    var body: ArraySlice<UInt8> { bytes[bodyStart...] }

    private var room: Int { Self.limit - Self.reserve - bytes.count }

    mutating func begin(_ level: LogLevel, at time: Timestamp, marksPriority: Bool) {
        if marksPriority { write("<\(level.priority)>") }
        switch format {
        case .text:
            bytes += time.bytes
            write(" \(level.rawValue)")
            bytes += repeatElement(0x20, count: 8 - level.rawValue.utf8.count)
        case .json:
            write("{\"time\":\"")
            bytes += time.bytes
            write("\",\"level\":\"\(level.rawValue)\"")
        }
        bodyStart = bytes.count
    }

    mutating func add(message: StaticString) {
        let text = message.description
        switch format {
        case .text:
            writeEscaped(text)
        case .json:
            write(",\"message\":\"")
            writeEscaped(text)
            write("\"")
        }
    }

    mutating func add(_ name: StaticString, _ value: LogValue) {
        // The name, what stands around it, and the longest number.
        guard room > name.utf8CodeUnitCount + 40 else {
            isCut = true
            return
        }
        write(format == .json ? ",\"" : " ")
        name.withUTF8Buffer { bytes += $0 }
        if Self.reserved.contains(name.description) { write("_") }
        write(format == .json ? "\":" : "=")
        write(value)
    }

    private static let reserved: Set = ["time", "level", "message", "truncated"]

    mutating func end() {
        switch format {
        case .text: write(isCut ? " truncated=true\n" : "\n")
        case .json: write(isCut ? ",\"truncated\":true}\n" : "}\n")
        }
    }

    private mutating func write(_ value: LogValue) {
        switch value {
        case .text(let text): writeText(text)
        case .integer(let number): write(String(number))
        case .unsigned(let number): write(String(number))
        case .decimal(let number) where number.isFinite: write(number.description)
        case .decimal(let number): writeText(number.description)
        case .boolean(let flag): write(flag ? "true" : "false")
        case .nothing: write("null")
        }
    }

    private mutating func writeText(_ text: String) {
        let isQuoted = format == .json || text.isEmpty || !text.utf8.allSatisfy(\.isPlain)
        if isQuoted { write("\"") }
        writeEscaped(text)
        if isQuoted { write("\"") }
    }

    private mutating func write(_ text: String) {
        bytes += text.utf8
    }

    private mutating func writeEscaped(_ text: String) {
        for scalar in text.unicodeScalars {
            guard room > 12 else {
                write("…")
                isCut = true
                return
            }
            write(scalar)
        }
    }

    private mutating func write(_ scalar: Unicode.Scalar) {
        switch scalar {
        case "\"": write("\\\"")
        case "\\": write("\\\\")
        case "\n": write("\\n")
        case "\r": write("\\r")
        case "\t": write("\\t")
        case _ where scalar.isASCII && scalar.value >= 0x20 && scalar.value != 0x7F:
            bytes.append(UInt8(scalar.value))
        case _ where scalar.isInvisible: writeCode(of: scalar)
        default: write(String(scalar))
        }
    }

    private mutating func writeCode(of scalar: Unicode.Scalar) {
        guard format == .json else {
            return write("\\u{\(String(scalar.value, radix: 16))}")
        }
        for unit in String(scalar).utf16 {
            let digits = String(unit, radix: 16)
            write("\\u" + String(repeating: "0", count: 4 - digits.count) + digits)
        }
    }
}

extension UInt8 {
    /// Whether a text of such bytes needs no quotes.
    fileprivate var isPlain: Bool {
        self > 0x20 && self < 0x7F && ![0x22, 0x3D, 0x5C].contains(self)
    }
}

extension Unicode.Scalar {
    /// Whether a terminal would do something with it rather than show it: control characters,
    /// line ends of other kinds, and what changes the direction of writing or hides.
    fileprivate var isInvisible: Bool {
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }
}
