import CCurl

/// What is done about a redirect.
///
/// A write is never sent twice, and a secret never goes to whom it was not meant for.
enum Redirect: Equatable {
    /// There is none, or it is the caller's to see.
    case stay
    case follow(url: String, keepsSecrets: Bool)
    case refuse(String)

    static let schemes = ["http": 80, "https": 443]
    /// Fields that another origin must not see.
    static let secretFields = ["Authorization", "Cookie", "Proxy-Authorization"]

    init(
        after status: Status,
        to location: String?,
        from url: String,
        method: Method,
        left: Int
    ) {
        guard [301, 302, 303, 307, 308].contains(status.rawValue), left > 0,
            method == .get || method == .head, let location
        else {
            self = .stay
            return
        }
        guard let next = resolve(location, from: url),
            let here = try? Destination(url, schemes: Self.schemes),
            let there = try? Destination(next, schemes: Self.schemes)
        else {
            self = .refuse("it redirects to an invalid address")
            return
        }
        if here.scheme == "https" && there.scheme != "https" {
            self = .refuse("it redirects from https to http")
            return
        }
        self = .follow(url: next, keepsSecrets: here.origin == there.origin)
    }
}

private func resolve(_ location: String, from url: String) -> String? {
    guard let resolved = cc_url_resolve(url, location) else { return nil }
    defer { cc_string_free(resolved) }
    return String(cString: resolved)
}
