/// The names by which a listener may be asked for.
///
/// A page of somebody else's that a browser was tricked into sending here names another host, or says
/// where it comes from.
struct HostNames: Hashable, Sendable {
    /// In lower case, with their ports; nil if any will do.
    private let names: Set<String>?

    /// Whatever a client calls the listener: Unix sockets, and listeners at all addresses.
    static let any = HostNames(names: nil)

    /// Those of a TCP listener: the usual names of this machine, the one it was given, and its address.
    static func at(_ given: String..., port: Int) -> HostNames {
        let given = given.map { $0.contains(":") ? "[\($0)]" : $0.lowercased() }
        let hosts = Set(["localhost", "127.0.0.1", "[::1]"] + given)
        // Browsers leave out the ports that their schemes imply.
        let bare = port == 80 || port == 443 ? hosts : []
        return HostNames(names: Set(hosts.map { "\($0):\(port)" }).union(bare))
    }

    private init(names: Set<String>?) { self.names = names }

    func admit(_ host: String?) -> Bool {
        guard let names else { return true }
        return host.map { names.contains($0.lowercased()) } ?? false
    }

    /// Whether a page that was served by this listener says that it is from there.
    func isOwn(origin: String) -> Bool {
        let scheme = "http://"
        return origin.hasPrefix(scheme) && admit(String(origin.dropFirst(scheme.count)))
    }
}
