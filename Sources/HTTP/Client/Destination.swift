/// A URL taken apart as far as it decides who is talked to.
///
/// Stricter than most readers of URLs: no user names, no spaces, no control characters, nothing
/// beyond ASCII after the host. What it accepts, every reader understands alike.
struct Destination: Equatable, Sendable {
    let scheme: String
    /// In lower case; an IPv6 address without its brackets.
    let host: String
    let port: Int
    /// From the path on, without the fragment.
    let path: String
    /// Scheme, host and port: whose connections may be shared, and whose secrets.
    let origin: String

    struct Flaw: Error, Equatable { let text: String }

    init(_ url: String, schemes: [String: Int]) throws(Flaw) {
        let bytes = Array(url.utf8)
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), colon > 0,
            bytes[colon...].starts(with: "://".utf8)
        else { throw Flaw(text: "the URL has no scheme") }
        scheme = String(decoding: bytes[..<colon], as: UTF8.self).lowercased()
        guard let usualPort = schemes[scheme] else {
            throw Flaw(
                text:
                    "the URL's scheme is not one of \(schemes.keys.sorted().joined(separator: ", "))"
            )
        }
        guard bytes.allSatisfy({ $0 > 0x20 && $0 != 0x7F && $0 != UInt8(ascii: "\\") }) else {
            throw Flaw(text: "the URL has a space, a control character or a backslash")
        }
        let rest = bytes[(colon + 3)...]
        let end = rest.firstIndex(where: \.endsAuthority) ?? rest.endIndex
        (host, port) = try Self.authority(rest[..<end], usualPort: usualPort)
        path = try Self.path(rest[end...])
        origin = Self.origin(scheme, host, port)
    }

    private static func origin(_ scheme: String, _ host: String, _ port: Int) -> String {
        let isIPv6 = host.utf8.contains(UInt8(ascii: ":"))
        var text = scheme
        text.reserveCapacity(scheme.utf8.count + host.utf8.count + 12)
        text += isIPv6 ? "://[" : "://"
        text += host
        text += isIPv6 ? "]:" : ":"
        text += String(port)
        return text
    }

    private static func authority(
        _ bytes: ArraySlice<UInt8>,
        usualPort: Int
    ) throws(Flaw) -> (host: String, port: Int) {
        guard !bytes.contains(UInt8(ascii: "@")) else {
            throw Flaw(text: "the URL has a user name")
        }
        let split = try hostAndPort(bytes)
        guard !split.host.isEmpty else { throw Flaw(text: "the URL has no host") }
        let host = String(decoding: split.host, as: UTF8.self).lowercased()
        guard let digits = split.port, !digits.isEmpty else { return (host, usualPort) }
        guard let port = UInt16(String(decoding: digits, as: UTF8.self)), port > 0 else {
            throw Flaw(text: "the URL's port is not a number from 1 to 65535")
        }
        return (host, Int(port))
    }

    private static func hostAndPort(
        _ bytes: ArraySlice<UInt8>
    ) throws(Flaw) -> (host: ArraySlice<UInt8>, port: ArraySlice<UInt8>?) {
        guard bytes.first == UInt8(ascii: "[") else {
            guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")) else { return (bytes, nil) }
            return (bytes[..<colon], bytes[(colon + 1)...])
        }
        guard let bracket = bytes.firstIndex(of: UInt8(ascii: "]")) else {
            throw Flaw(text: "the URL's address has no closing bracket")
        }
        let host = bytes[(bytes.startIndex + 1)..<bracket]
        let rest = bytes[(bracket + 1)...]
        guard let first = rest.first else { return (host, nil) }
        guard first == UInt8(ascii: ":") else {
            throw Flaw(text: "the URL's address is followed by something")
        }
        return (host, rest.dropFirst())
    }

    private static func path(_ bytes: ArraySlice<UInt8>) throws(Flaw) -> String {
        let bytes = bytes.prefix { $0 != UInt8(ascii: "#") }
        guard bytes.allSatisfy({ $0 < 0x80 }) else {
            throw Flaw(text: "the URL's path is not percent-encoded")
        }
        let text = String(decoding: bytes, as: UTF8.self)
        return text.hasPrefix("/") ? text : "/" + text
    }
}

extension UInt8 {
    fileprivate var endsAuthority: Bool {
        self == UInt8(ascii: "/") || self == UInt8(ascii: "?") || self == UInt8(ascii: "#")
    }
}
