import Glibc

/// Walks over the tokens of a text and holds them to the grammar of RFC 8259.
///
/// Every read is checked, also in release; a number is only looked at, never converted, so that
/// one too large for any type of ours is still a number.
struct Cursor {
    let text: UnsafeBufferPointer<UInt8>
    private let marks: UnsafeBufferPointer<UInt32>
    private let depthLimit: Int
    private var next = 0
    /// Where the first backslash from here on stands; the text's length if there is none.
    private var backslash: Int

    /// Hands the body a cursor before the text's value, and makes sure that nothing follows it.
    static func walk<Result>(
        _ text: UnsafeBufferPointer<UInt8>,
        depthLimit: Int,
        _ body: (inout Cursor) throws(JSON.Failure) -> Result
    ) throws(JSON.Failure) -> Result {
        let marks = try Marks(text)
        var cursor = Cursor(text: text, marks: marks.offsets, depthLimit: depthLimit)
        if cursor.isAtByteOrderMark { throw JSON.Failure(reason: .byteOrderMark, offset: 0) }
        let result = try body(&cursor)
        guard cursor.offset == text.count else { throw cursor.failure(.trailing) }
        return result
    }

    private init(
        text: UnsafeBufferPointer<UInt8>,
        marks: UnsafeBufferPointer<UInt32>,
        depthLimit: Int
    ) {
        self.text = text
        self.marks = marks
        self.depthLimit = depthLimit
        backslash = 0
        findBackslash(from: 0)
    }

    private var isAtByteOrderMark: Bool {
        text.starts(with: [0xEF, 0xBB, 0xBF])
    }

    /// How many tokens the text has, brackets, colons and commas included.
    var tokenCount: Int { marks.count - 1 }

    /// Where the next token begins; the text's length when there is none.
    @inline(__always)
    private var offset: Int { mark(next) }

    @inline(__always)
    private func mark(_ index: Int) -> Int {
        precondition(index < marks.count, "A step leads out of the text.")
        return Int(marks[index])
    }

    /// The first byte of the next token.
    @inline(__always)
    func peek() throws(JSON.Failure) -> UInt8 {
        let offset = self.offset
        guard offset < text.count else { throw failure(.ended) }
        return text[checked: offset]
    }

    private func failure(_ reason: JSON.Reason) -> JSON.Failure {
        JSON.Failure(reason: offset < text.count ? reason : .ended, offset: offset)
    }
}

// MARK: - Arrays and objects

extension Cursor {
    /// Walks over the array that comes next; the body must walk over each element.
    @inline(__always)
    mutating func array(
        depth: Int,
        _ element: (inout Cursor) throws(JSON.Failure) -> Void
    ) throws(JSON.Failure) -> Extent {
        let start = try open(depth: depth)
        if try peek() == .closeBracket { return close(start) }
        while true {
            try element(&self)
            if try goesOn(until: .closeBracket) { continue }
            return close(start)
        }
    }

    /// Walks over the object that comes next; the body must walk over each member's value.
    @inline(__always)
    mutating func object(
        depth: Int,
        _ member: (inout Cursor, Extent) throws(JSON.Failure) -> Void
    ) throws(JSON.Failure) -> Extent {
        let start = try open(depth: depth)
        if try peek() == .closeBrace { return close(start) }
        while true {
            let name = try name()
            try member(&self, name)
            if try goesOn(until: .closeBrace) { continue }
            return close(start)
        }
    }

    @inline(__always)
    private mutating func open(depth: Int) throws(JSON.Failure) -> Int {
        guard depth < depthLimit else { throw failure(.tooDeep) }
        let start = offset
        next += 1
        return start
    }

    @inline(__always)
    private mutating func close(_ start: Int) -> Extent {
        let end = offset + 1
        next += 1
        return Extent(start: start, end: end)
    }

    /// Steps over a comma; stays before the closing bracket.
    @inline(__always)
    private mutating func goesOn(until closing: UInt8) throws(JSON.Failure) -> Bool {
        let byte = try peek()
        if byte == .comma {
            next += 1
            return true
        }
        guard byte == closing else { throw failure(.noComma) }
        return false
    }

    @inline(__always)
    private mutating func name() throws(JSON.Failure) -> Extent {
        guard try peek() == .quote else { throw failure(.noName) }
        let name = try string()
        guard try peek() == .colon else { throw failure(.noColon) }
        next += 1
        return name
    }
}

// MARK: - Values

extension Cursor {
    /// Walks over the value that comes next, whatever it is.
    mutating func skip(depth: Int) throws(JSON.Failure) -> Extent {
        switch try peek() {
        case .openBrace:
            try object(depth: depth) { (cursor, _) throws(JSON.Failure) in
                _ = try cursor.skip(depth: depth + 1)
            }
        case .openBracket:
            try array(depth: depth) { (cursor) throws(JSON.Failure) in
                _ = try cursor.skip(depth: depth + 1)
            }
        default:
            try scalar()
        }
    }

    /// Walks over a string, a number, `true`, `false` or `null`.
    @inline(__always)
    mutating func scalar() throws(JSON.Failure) -> Extent {
        let first = try peek()
        if first == .quote { return try string() }
        let extent = token()
        switch first {
        case UInt8(ascii: "n"): try require("null", at: extent)
        case UInt8(ascii: "t"): try require("true", at: extent)
        case UInt8(ascii: "f"): try require("false", at: extent)
        case .minus, 0x30...0x39: try requireNumber(at: extent)
        default: throw JSON.Failure(reason: .noValue, offset: extent.start)
        }
        next += 1
        return extent
    }

    /// What lies between the next mark and the one after, without the white space behind it.
    ///
    /// Nothing but white space can stand between a string's end and the next mark, so this is also
    /// how a string's end is found without looking at its inside.
    @inline(__always)
    private func token() -> Extent {
        let start = offset
        var end = mark(next + 1)
        while end > start + 1 && text[checked: end - 1].isSpace { end -= 1 }
        return Extent(start: start, end: end)
    }

    @inline(__always)
    private mutating func string() throws(JSON.Failure) -> Extent {
        var extent = token()
        if backslash < extent.end { extent.hasEscapes = try checkEscapes(of: extent) }
        next += 1
        return extent
    }

    private mutating func checkEscapes(of extent: Extent) throws(JSON.Failure) -> Bool {
        if backslash < extent.start { findBackslash(from: extent.start) }
        let hasEscapes = backslash < extent.end
        while backslash < extent.end {
            guard let escape = Escape(in: text, at: backslash, before: extent.end - 1) else {
                throw JSON.Failure(reason: .badEscape, offset: backslash)
            }
            findBackslash(from: backslash + escape.length)
        }
        return hasEscapes
    }

    private mutating func findBackslash(from start: Int) {
        backslash = text.offset(of: .backslash, from: start, before: text.count) ?? text.count
    }

    private func require(_ word: StaticString, at extent: Extent) throws(JSON.Failure) {
        let isSame = text.holds(word, from: extent.start, to: extent.end)
        guard isSame else { throw JSON.Failure(reason: .noValue, offset: extent.start) }
    }

    private func requireNumber(at extent: Extent) throws(JSON.Failure) {
        guard let flaw = numberFlaw(in: text, from: extent.start, to: extent.end) else { return }
        throw JSON.Failure(reason: .badNumber, offset: flaw)
    }
}

/// Where the first byte stands that keeps this from being a number, if there is one.
private func numberFlaw(
    in text: UnsafeBufferPointer<UInt8>,
    from start: Int,
    to end: Int
) -> Int? {
    let whole = text[checked: start] == .minus ? start + 1 : start
    let hasZero = whole < end && text[checked: whole] == .zero
    var at = hasZero ? whole + 1 : text.endOfDigits(from: whole, before: end)
    guard at > whole else { return at }
    if at < end, text[checked: at] == UInt8(ascii: ".") {
        let fraction = at + 1
        at = text.endOfDigits(from: fraction, before: end)
        guard at > fraction else { return at }
    }
    if at < end, text[checked: at] | 0x20 == UInt8(ascii: "e") {
        let isSigned = at + 1 < end && text[checked: at + 1].isSign
        let exponent = at + (isSigned ? 2 : 1)
        at = text.endOfDigits(from: exponent, before: end)
        guard at > exponent else { return at }
    }
    return at == end ? nil : at
}

extension UnsafeBufferPointer<UInt8> {
    @inline(__always)
    fileprivate func endOfDigits(from start: Int, before end: Int) -> Int {
        var at = start
        while at < end && self[checked: at].isDigit { at += 1 }
        return at
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// Where the byte stands first, looked for as fast as the machine can.
    func offset(of byte: UInt8, from start: Int, before end: Int) -> Int? {
        precondition(start >= 0 && end <= count, "An offset leads out of the text.")
        guard start < end, let base = baseAddress,
            let found = memchr(base + start, Int32(byte), end - start)
        else { return nil }
        return UnsafeRawPointer(found) - UnsafeRawPointer(base)
    }

    @inline(__always)
    func holds(_ word: StaticString, from start: Int, to end: Int) -> Bool {
        precondition(start >= 0 && end <= count, "An offset leads out of the text.")
        guard end - start == word.utf8CodeUnitCount, let base = baseAddress else { return false }
        return memcmp(base + start, word.utf8Start, end - start) == 0
    }
}
