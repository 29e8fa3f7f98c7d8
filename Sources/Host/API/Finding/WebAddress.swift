/// An address as a login has it, as far as it is compared with a site's.
struct WebAddress: Equatable {
    let scheme: String
    let host: String
    let port: String?

    /// With or without a scheme; nil for what names no host.
    init?(_ text: String) {
        let text = text.filter { !$0.isWhitespace }
        var rest = text[...]
        if let end = text.firstRange(of: "://") {
            scheme = text[..<end.lowerBound].lowercased()
            rest = text[end.upperBound...]
        } else {
            guard text.contains(".") || text.hasPrefix("localhost") else { return nil }
            scheme = "http"
        }
        let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        let place = authority.split(separator: "@", omittingEmptySubsequences: false).last ?? ""
        guard let (host, port) = Self.parts(place), !host.isEmpty else { return nil }
        self.host = HostName.readable(host.lowercased())
        self.port = port
    }

    private static func parts(_ place: Substring) -> (String, String?)? {
        if place.hasPrefix("[") {
            guard let end = place.firstIndex(of: "]") else { return nil }
            let rest = place[place.index(after: end)...]
            return (String(place[...end]), rest.isEmpty ? nil : String(rest.dropFirst()))
        }
        let pieces = place.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard let host = pieces.first else { return nil }
        return (String(host), pieces.count == 2 ? String(pieces[1]) : nil)
    }

    var isNumeric: Bool {
        host.hasPrefix("[")
            || host.utf8.allSatisfy { $0 == UInt8(ascii: ".") || (0x30...0x39).contains($0) }
    }

    /// The port only where it is not the one that the scheme has anyway.
    var hostAndPort: String {
        guard let port, !port.isEmpty, port != Self.ports[scheme] else { return host }
        return "\(host):\(port)"
    }

    private static let ports = ["http": "80", "https": "443"]
}
