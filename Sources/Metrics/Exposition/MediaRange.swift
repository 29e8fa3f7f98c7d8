/// One element of an `Accept` header, as far as it matters here.
struct MediaRange: Equatable {
    /// In lower case.
    var type: String
    var version: String?
    /// From 0 (not wanted) to 1.
    var quality = 1.0

    static func all(in header: String) -> [MediaRange] {
        header.split(separator: ",").compactMap(MediaRange.init)
    }

    /// `nil` if there is no type. A quality that is no number from 0 to 1 means not wanted, because
    /// guessing the other way could hand somebody what they cannot read.
    init?(_ element: Substring) {
        var parts = element.split(separator: ";").map(\.trimmed)[...]
        guard let type = parts.popFirst(), type.contains("/") else { return nil }
        self.type = type.lowercased()
        for part in parts {
            let pair = part.split(separator: "=", maxSplits: 1).map(\.trimmed)
            guard pair.count == 2 else { continue }
            switch pair[0].lowercased() {
            case "q": quality = Self.quality(pair[1])
            case "version": version = pair[1].filter { $0 != "\"" }
            default: continue
            }
        }
    }

    private static func quality(_ text: String) -> Double {
        guard let number = Double(text), (0...1).contains(number) else { return 0 }
        return number
    }
}

extension Substring {
    fileprivate var trimmed: String {
        let isBlank: (Character) -> Bool = { $0 == " " || $0 == "\t" }
        let start = drop(while: isBlank)
        guard let last = start.lastIndex(where: { !isBlank($0) }) else { return "" }
        return String(start[...last])
    }
}
