import Vault

/// Whether a login is for the site at an address, by the rules that its URIs carry.
struct SiteMatch {
    private let url: String
    private let address: WebAddress?
    /// The site's own domain and those of the same owner.
    private let domains: Set<String>
    private let suffixes: PublicSuffixes

    init(url: String, equivalents: [[String]], suffixes: PublicSuffixes) {
        self.url = url
        self.suffixes = suffixes
        address = WebAddress(url)
        guard let own = address.flatMap({ Self.domain(of: $0, suffixes) }) else {
            domains = []
            return
        }
        let related = equivalents.filter { $0.contains { $0.lowercased() == own } }
        domains = Set([own] + related.joined().map { $0.lowercased() })
    }

    func includes(_ item: Item) -> Bool {
        item.login?.uris.contains(where: includes) ?? false
    }

    func includes(_ uri: Item.URI) -> Bool {
        switch uri.match ?? 0 {
        case 0: isSameDomain(uri.uri)
        case 1: isSameHost(uri.uri)
        case 2: url.hasPrefix(uri.uri)
        case 3: url == uri.uri
        case 4: isMatched(by: uri.uri)
        default: false
        }
    }

    private func isSameDomain(_ uri: String) -> Bool {
        guard let other = WebAddress(uri), let domain = Self.domain(of: other, suffixes) else {
            return url == uri
        }
        return domains.contains(domain)
    }

    private func isSameHost(_ uri: String) -> Bool {
        guard let address, let other = WebAddress(uri) else { return false }
        return address.hostAndPort == other.hostAndPort
    }

    /// An expression that cannot be read matches nothing.
    private func isMatched(by expression: String) -> Bool {
        Expression(expression)?.matches(url) ?? false
    }

    private static func domain(of address: WebAddress, _ suffixes: PublicSuffixes) -> String? {
        address.isNumeric ? address.host : suffixes.domain(of: address.host)
    }
}
