import Glibc

/// The numeric addresses of a host, in the order in which the system would try them. Blocks.
func addresses(of host: String) -> [String] {
    var hints = addrinfo()
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var list: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo(host, nil, &hints, &list) == 0 else { return [] }
    defer { freeaddrinfo(list) }
    return sequence(first: list, next: { $0?.pointee.ai_next })
        .prefix { $0 != nil }
        .compactMap { $0.flatMap(numericText) }
}

private func numericText(_ entry: UnsafeMutablePointer<addrinfo>) -> String? {
    var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
    let code = getnameinfo(
        entry.pointee.ai_addr,
        entry.pointee.ai_addrlen,
        &text,
        socklen_t(text.count),
        nil,
        0,
        NI_NUMERICHOST
    )
    return code == 0
        ? text.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } } : nil
}
