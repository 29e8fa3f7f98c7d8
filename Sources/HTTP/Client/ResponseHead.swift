import Glibc

/// A response's head, gathered line by line as it arrives.
///
/// Lines are kept as bytes and parsed by whoever asks, which is not the thread they arrive on.
struct ResponseHead: Sendable {
    enum Line { case more, end, tooLarge }
    /// How the body is packed.
    enum Coding { case none, gzip, unknown }

    private(set) var bytes: [UInt8] = []
    private(set) var isComplete = false
    private(set) var coding = Coding.none
    /// Of the response, or of the interim one that has begun; `nil` if it is no number.
    private(set) var status: Status?
    private var fieldCount = 0
    private var headFieldCount = 0
    private var isInformational = false

    let byteLimit: Int
    let fieldLimit: Int
    private var total = 0

    init(byteLimit: Int, fieldLimit: Int) {
        self.byteLimit = byteLimit
        self.fieldLimit = fieldLimit
        bytes.reserveCapacity(512)
    }

    /// Takes the next line. Interim responses (1xx) are forgotten, trailers are counted only.
    mutating func take(_ line: UnsafeRawBufferPointer) -> Line {
        total += line.count
        fieldCount += 1
        guard total <= byteLimit, fieldCount <= fieldLimit + 2 else { return .tooLarge }
        guard !isComplete else { return .more }
        if line.first == UInt8(ascii: "H") && line.starts(with: "HTTP/".utf8) { begin(line) }
        if line.isField("content-encoding") { note(coding: line) }
        bytes.append(contentsOf: line)
        guard line.first == UInt8(ascii: "\r") || line.first == UInt8(ascii: "\n") else {
            return .more
        }
        guard !isInformational else { return .more }
        isComplete = true
        headFieldCount = fieldCount
        fieldCount = 0
        return .end
    }

    private mutating func begin(_ line: UnsafeRawBufferPointer) {
        bytes.removeAll(keepingCapacity: true)
        status = Status(line: line)
        isInformational = status.map { (100..<200).contains($0.rawValue) } ?? false
        fieldCount = 0
        coding = .none
    }

    /// Nothing but gzip was asked for, and that once.
    private mutating func note(coding line: UnsafeRawBufferPointer) {
        let value = line.drop { $0 != UInt8(ascii: ":") }.dropFirst().trimmed
        let name = String(decoding: value, as: UTF8.self).lowercased()
        switch (coding, name) {
        case (_, "identity"), (_, ""): break
        case (.none, "gzip"), (.none, "x-gzip"): coding = .gzip
        default: coding = .unknown
        }
    }

    /// Begins anew, for a request that is sent again.
    mutating func clear() {
        bytes.removeAll(keepingCapacity: true)
        isComplete = false
        isInformational = false
        coding = .none
        status = nil
        (fieldCount, total) = (0, 0)
    }

    /// The fields in their order. A line without a colon is none and is passed over.
    var headers: Headers {
        bytes.withUnsafeBytes { bytes in
            var headers = Headers()
            guard !bytes.isEmpty else { return headers }
            let statusLine = bytes.place(of: UInt8(ascii: "\n")) ?? bytes.endIndex - 1
            var rest = UnsafeRawBufferPointer(rebasing: bytes[(statusLine + 1)...])
            headers.reserveCapacity(headFieldCount)
            while let end = rest.place(of: UInt8(ascii: "\n")) {
                let line = UnsafeRawBufferPointer(rebasing: rest[..<end])
                rest = UnsafeRawBufferPointer(rebasing: rest[(end + 1)...])
                guard let colon = line.place(of: UInt8(ascii: ":")) else { continue }
                headers.add(text(line[..<colon]), text(line[(colon + 1)...].trimmed))
            }
            return headers
        }
    }

    private func text(_ bytes: Slice<UnsafeRawBufferPointer>) -> String {
        String(decoding: UnsafeRawBufferPointer(rebasing: bytes), as: UTF8.self)
    }
}

extension Status {
    /// The number in a response's first line.
    fileprivate init?(line: UnsafeRawBufferPointer) {
        guard let space = line.place(of: UInt8(ascii: " ")), space + 3 < line.count else {
            return nil
        }
        var number = 0
        for byte in line[(space + 1)...(space + 3)] {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
            number = number * 10 + Int(byte - UInt8(ascii: "0"))
        }
        self.init(rawValue: number)
    }
}

extension UnsafeRawBufferPointer {
    /// Where the byte stands first.
    fileprivate func place(of byte: UInt8) -> Int? {
        guard let baseAddress, let found = memchr(baseAddress, Int32(byte), count) else {
            return nil
        }
        return UnsafeRawPointer(found) - baseAddress
    }

    /// Whether the line is a field of that name, which is given in lower case.
    fileprivate func isField(_ name: StaticString) -> Bool {
        guard count > name.utf8CodeUnitCount, self[name.utf8CodeUnitCount] == UInt8(ascii: ":")
        else { return false }
        return (0..<name.utf8CodeUnitCount).allSatisfy {
            self[$0] | 0x20 == name.utf8Start[$0] | 0x20
        }
    }
}

extension Slice<UnsafeRawBufferPointer> {
    fileprivate var trimmed: Self {
        let isBlank: (UInt8) -> Bool = { $0 == 0x20 || $0 == 0x09 || $0 == 0x0D || $0 == 0x0A }
        var rest = drop(while: isBlank)
        while let last = rest.last, isBlank(last) { rest = rest.dropLast() }
        return rest
    }
}
