import System

/// Under which names anybody can have a domain: `com`, `co.uk`.
///
/// The list is the system's. It is read when somebody asks for the first time, and without it the
/// few suffixes of two labels that are met most often have to do.
final class PublicSuffixes: Sendable {
    /// Where Debian's package `publicsuffix` has it.
    static let systemPath = "/usr/share/publicsuffix/public_suffix_list.dat"

    private let path: String
    private let list = Lock<Rules?>(nil)

    init(path: String) {
        self.path = path
    }

    /// The domain that somebody owns: a public suffix and one label more. Nil if the name is itself a
    /// public suffix.
    func domain(of host: String) -> String? {
        let labels = host.split(separator: ".")
        guard labels.count > 1 else { return labels.first.map(String.init) }
        let count = suffixLength(labels)
        guard labels.count > count else { return nil }
        return labels.suffix(count + 1).joined(separator: ".")
    }

    /// How many labels at the end are nobody's. The longest rule counts, an exception (`!`) above
    /// all; where none fits, it is the last label.
    private func suffixLength(_ labels: [Substring]) -> Int {
        let rules = rules
        for count in stride(from: min(labels.count, rules.longest), to: 0, by: -1) {
            let name = labels.suffix(count).joined(separator: ".")
            if rules.names.contains("!" + name) { return count - 1 }
            if rules.names.contains(name) { return count }
            let above = labels.suffix(count - 1).joined(separator: ".")
            if count > 1, rules.names.contains("*." + above) { return count }
        }
        return 1
    }

    private struct Rules {
        let names: Set<String>
        /// The labels of the longest. Whoever asks may name thousands.
        let longest: Int

        init(_ names: Set<String>) {
            self.names = names
            longest = names.lazy.map { $0.utf8.count { $0 == UInt8(ascii: ".") } + 1 }.max() ?? 1
        }
    }

    private var rules: Rules {
        list.withLock { list in
            if let list { return list }
            let read = Rules(Self.read(path))
            list = read
            return read
        }
    }

    private static func read(_ path: String) -> Set<String> {
        guard let bytes = try? Files.read(path) else { return fallback }
        let lines = bytes.split(separator: UInt8(ascii: "\n"))
        let rules = lines.filter { $0.count > 1 && !$0.starts(with: "//".utf8) }
        return Set(rules.map { String(decoding: $0.prefix { $0 > 0x20 }, as: UTF8.self) })
    }

    private static let fallback: Set<String> = [
        "ac.at", "ac.il", "ac.jp", "ac.nz", "ac.uk", "ac.za", "co.at", "co.id", "co.il", "co.in",
        "co.jp", "co.ke", "co.kr", "co.nz", "co.th", "co.uk", "co.za", "com.ar", "com.au",
        "com.br", "com.cn", "com.co", "com.eg", "com.hk", "com.mx", "com.my", "com.ng", "com.ph",
        "com.pk", "com.pl", "com.sa", "com.sg", "com.tr", "com.tw", "com.ua", "com.vn", "edu.au",
        "github.io", "gitlab.io", "go.jp", "gov.au", "gov.br", "gov.in", "gov.uk", "me.uk",
        "ne.jp", "net.au", "net.br", "net.nz", "net.uk", "nhs.uk", "or.jp", "or.kr", "org.au",
        "org.br", "org.nz", "org.uk", "org.za", "pages.dev", "police.uk", "sch.uk", "web.app",
        "web.id",
    ]
}
