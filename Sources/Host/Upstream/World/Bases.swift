import Glibc

/// Where the parts of an upstream are reached.
public struct Bases: Hashable, Sendable {
    /// None ends in a slash.
    public let api: String
    public let identity: String
    public let notifications: String
    /// How the server is called where people see it.
    public let server: String

    /// What keeps an address from being used.
    public struct Flaw: Error, Hashable, CustomStringConvertible {
        public let description: String
    }

    /// Reads what an operator calls the server: `bitwarden.com` and `bitwarden.eu` for the cloud,
    /// whose parts have hosts of their own, or the address of a server that has all parts below one
    /// base, perhaps below a path. Without a scheme it is `https`. What a browser's address line has
    /// beyond that (`/#/login`) does no harm.
    public init(_ address: String) throws(Flaw) {
        let parts = try Parts(address.prefix { $0 != "#" && $0 != "?" })
        if let region = parts.cloudRegion {
            api = "https://api.\(region)"
            identity = "https://identity.\(region)"
            notifications = "https://notifications.\(region)"
            server = "https://\(region)"
        } else {
            server = parts.base
            api = server + "/api"
            identity = server + "/identity"
            notifications = server + "/notifications"
        }
    }

    /// Where the hub is, as WebSockets are addressed.
    var hub: String { "ws" + notifications.dropFirst("http".count) + "/hub" }

    /// An address that upstream gave: whole, or relative to the API's base.
    func resolve(_ address: String) -> String {
        address.contains("://") ? address : api + (address.hasPrefix("/") ? "" : "/") + address
    }

    /// Whether the address leads to the server itself, and not to a store of files that it names.
    func isServer(_ address: String) -> Bool {
        [server, api, identity].contains { address.hasPrefix($0 + "/") }
    }

    /// Whether the address leads to the API, so that it may see the access token.
    func isAPI(_ address: String) -> Bool { address.hasPrefix(api + "/") }
}

private struct Parts {
    let scheme: String
    let authority: String
    let path: String

    var base: String { "\(scheme)://\(authority)\(path)" }

    /// The cloud is meant whichever of its hosts is named.
    var cloudRegion: String? {
        ["bitwarden.com", "bitwarden.eu"].first { authority == $0 || authority.hasSuffix(".\($0)") }
    }

    init(_ address: Substring) throws(Bases.Flaw) {
        var rest = address
        var scheme = "https"
        if let mark = rest.firstRange(of: "://") {
            scheme = rest[..<mark.lowerBound].lowercased()
            rest = rest[mark.upperBound...]
        }
        self.scheme = scheme
        guard ["http", "https"].contains(scheme) else {
            throw Bases.Flaw(description: "A server's address begins with https:// or http://.")
        }
        let slash = rest.firstIndex(of: "/") ?? rest.endIndex
        authority = rest[..<slash].lowercased()
        path = rest[slash...].split(separator: "/").reduce("") { "\($0)/\($1)" }
        let isBad: (UInt8) -> Bool = { $0 <= 0x20 || $0 >= 0x7F || $0 == 0x5C || $0 == 0x40 }
        guard !authority.isEmpty, !base.utf8.contains(where: isBad) else {
            throw Bases.Flaw(
                description: "A server's address has a host, and neither a user nor spaces."
            )
        }
        guard Self.isPlace(authority) else {
            throw Bases.Flaw(description: "\(authority) is no host, or its port is none.")
        }
    }

    /// Whether it is a host, perhaps with a port; an IPv6 address stands in brackets.
    private static func isPlace(_ authority: String) -> Bool {
        let port: Substring
        if authority.hasPrefix("[") {
            guard let end = authority.firstIndex(of: "]") else { return false }
            let address = String(authority[authority.index(after: authority.startIndex)..<end])
            var bytes = in6_addr()
            guard inet_pton(AF_INET6, address, &bytes) == 1 else { return false }
            port = authority[authority.index(after: end)...]
        } else {
            let end = authority.firstIndex(of: ":") ?? authority.endIndex
            let labels = authority[..<end].split(separator: ".", omittingEmptySubsequences: false)
            // The root may be named by its dot.
            let named = labels.last == "" ? labels.dropLast() : labels[...]
            guard !named.isEmpty, !named.contains("") else { return false }
            port = authority[end...]
        }
        if port.isEmpty { return true }
        let digits = port.dropFirst()
        guard port.hasPrefix(":"), digits.allSatisfy({ "0"..."9" ~= $0 }) else { return false }
        return UInt16(digits).map { $0 > 0 } ?? false
    }
}
