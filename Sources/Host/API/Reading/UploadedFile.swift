import Glibc
import HTTP

/// The file in a form of the kind `multipart/form-data`.
struct UploadedFile: Equatable {
    /// Without the folders in which it lay, as in `bw serve`.
    let name: String
    let bytes: [UInt8]

    /// The part that is called `file` and has a file's name; nil if there is none, or if the form
    /// has no end. What the part's own headers say of an encoding is not heeded, as in `bw serve`.
    init?(form: [UInt8], boundary: String) {
        guard (1...Self.longestBoundary).contains(boundary.utf8.count) else { return nil }
        let line = Array("--\(boundary)".utf8)
        var rest = form[...]
        guard let start = rest.firstRange(of: line) else { return nil }
        rest = rest[start.upperBound...]
        while let end = rest.end(at: Self.lineEnd + line) {
            if let file = UploadedFile(part: rest[..<end.lowerBound]) {
                self = file
                return
            }
            rest = rest[end.upperBound...]
        }
        return nil
    }

    private init?(part: ArraySlice<UInt8>) {
        let blank = Self.lineEnd + Self.lineEnd
        guard part.starts(with: Self.lineEnd), let end = part.firstRange(of: blank) else {
            return nil
        }
        // In a name, anything else that ends a line in some scripts is a letter like any other.
        let fields = part[..<end.lowerBound].split { $0 == 0x0D || $0 == 0x0A }
        let disposition = fields.lazy.map { String(decoding: $0, as: UTF8.self) }.first {
            $0.lowercased().hasPrefix("content-disposition:")
        }
        guard let disposition else { return nil }
        let values = MediaTypeName(disposition)
        let name = values["filename*"].flatMap(Self.plainName) ?? values["filename"]
        guard values["name"] == "file", let name = name.flatMap(Self.lastComponent) else {
            return nil
        }
        self.name = name
        bytes = Array(part[end.upperBound...])
    }

    /// Nil for a path that leads to no file.
    private static func lastComponent(of path: String) -> String? {
        let name =
            path.unicodeScalars.split(omittingEmptySubsequences: false) {
                $0 == "/" || $0 == "\\"
            }.last.map { String($0) } ?? ""
        return ["", ".", ".."].contains(name) ? nil : name
    }

    /// The name in `UTF-8''na%C3%AFve.txt`.
    private static func plainName(_ text: String) -> String? {
        let parts = text.split(separator: "'", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0].lowercased() == "utf-8" else { return nil }
        return Percent.decode(String(parts[2]))
    }

    private static let lineEnd = Array("\r\n".utf8)
    /// As the format has it.
    private static let longestBoundary = 70
}

extension ArraySlice<UInt8> {
    /// Where the part ends: that line may be the beginning of a longer one, which is the file's own.
    fileprivate func end(at line: [UInt8]) -> Range<Int>? {
        var rest = self
        while let found = rest.firstRange(of: line) {
            let after = self[found.upperBound...].drop { $0 == 0x20 || $0 == 0x09 }
            if after.starts(with: [0x0D, 0x0A])
                || self[found.upperBound...].starts(with: [0x2D, 0x2D])
            {
                return found
            }
            rest = rest[(found.lowerBound + 1)...]
        }
        return nil
    }

    /// The first place at which those bytes stand.
    fileprivate func firstRange(of part: [UInt8]) -> Range<Int>? {
        guard let first = part.first, count >= part.count else { return nil }
        let last = count - part.count + 1
        let offset = withUnsafeBytes { bytes -> Int? in
            guard let start = bytes.baseAddress else { return nil }
            var place = start
            while let found = memchr(place, Int32(first), last - (place - start)) {
                if memcmp(found, part, part.count) == 0 { return UnsafeRawPointer(found) - start }
                place = UnsafeRawPointer(found) + 1
            }
            return nil
        }
        return offset.map { startIndex + $0..<startIndex + $0 + part.count }
    }
}
