/// The name of a host as people write it, `bücher.example`, of what stands for it on the wire,
/// `xn--bcher-kva.example` (RFC 3492). A login may have either, and a browser tells the latter.
enum HostName {
    private static let mark = "xn--"

    /// No label has more bytes.
    private static let longest = 63

    /// A label that cannot be read, or stands for no other, stays as it is.
    static func readable(_ host: String) -> String {
        guard host.contains(mark) else { return host }
        let labels = host.split(separator: ".", omittingEmptySubsequences: false)
        return labels.map(readableLabel).joined(separator: ".")
    }

    private static func readableLabel(_ label: Substring) -> String {
        guard label.hasPrefix(mark), label.utf8.count <= longest else { return String(label) }
        var rest = label.dropFirst(mark.count).unicodeScalars
        var letters: [Unicode.Scalar] = []
        if let hyphen = rest.lastIndex(of: "-") {
            letters = Array(rest[..<hyphen])
            rest = rest[rest.index(after: hyphen)...]
        }
        var reading = Reading()
        repeat {
            guard let step = reading.takeStep(&rest),
                let (place, letter) = reading.insertion(step, among: letters.count + 1)
            else { return String(label) }
            letters.insert(letter, at: place)
        } while !rest.isEmpty
        return String(String.UnicodeScalarView(letters))
    }
}

/// How far a label has been read: what its last letter was, and where the next one may stand.
private struct Reading {
    private var letter: UInt32 = 0x80
    private var place = 0
    private var bias = 72
    private var isFirst = true

    private static let base = 36
    private static let most = 0x7FFF_FFFF

    /// A number whose digits weigh the more the further back they stand; the last one is below its limit.
    func takeStep(_ rest: inout Substring.UnicodeScalarView) -> Int? {
        var (step, weight, limit) = (0, 1, Self.base - bias)
        while let digit = rest.popFirst().flatMap(Self.value) {
            step += digit * weight
            let bound = min(max(limit, 1), 26)
            guard step < Self.most else { return nil }
            if digit < bound { return step }
            weight *= Self.base - bound
            guard weight < Self.most else { return nil }
            limit += Self.base
        }
        return nil
    }

    /// The next letter, and where it goes among so many places.
    mutating func insertion(_ step: Int, among count: Int) -> (Int, Unicode.Scalar)? {
        let total = place + step
        adapt(to: step, among: count)
        letter += UInt32(clamping: total / count)
        guard let scalar = Unicode.Scalar(letter) else { return nil }
        place = total % count + 1
        return (place - 1, scalar)
    }

    private mutating func adapt(to step: Int, among count: Int) {
        var delta = isFirst ? step / 700 : step / 2
        isFirst = false
        delta += delta / count
        bias = 0
        while delta > 455 {
            delta /= 35
            bias += Self.base
        }
        bias += Self.base * delta / (delta + 38)
    }

    private static func value(_ scalar: Unicode.Scalar) -> Int? {
        switch scalar {
        case "a"..."z": Int(scalar.value) - 0x61
        case "0"..."9": Int(scalar.value) - 0x30 + 26
        default: nil
        }
    }
}
