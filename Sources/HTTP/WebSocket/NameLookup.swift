import Glibc
import System

/// Looks up names on a few threads of its own, because the system's look-up blocks and cannot be
/// called off.
///
/// There is a thread only while there is a name to look up. If none of them comes back, because the
/// DNS is silent, those who wait behind them run into their own deadlines.
final class NameLookup: Sendable {
    typealias ID = Lookups.ID
    typealias Answer = Result<[String], SystemError>

    static let threadLimit = 4

    private let lookups = Lock(Lookups(limit: threadLimit))
    private let look: @Sendable (String) -> [String]
    private let startThread: ThreadStart

    init(
        look: @escaping @Sendable (String) -> [String] = addresses(of:),
        startThread: @escaping ThreadStart = systemThread
    ) {
        self.look = look
        self.startThread = startThread
    }

    /// Has `answer` called for `id`, unless it withdraws; on a thread of its own, or on this one
    /// if the system has no thread for it.
    func ask(
        _ name: String,
        for id: ID,
        answer: @escaping @Sendable (ID, Answer) -> Void
    ) {
        guard lookups.withLock({ $0.ask(name, for: id) }) else { return }
        do {
            try startThread("names") { [self] in work(answer) }
        } catch {
            for id in lookups.withLock({ $0.threadRefused() }) { answer(id, .failure(error)) }
        }
    }

    func withdraw(_ id: ID) {
        lookups.withLock { $0.withdraw(id) }
    }

    /// How many wait for an answer.
    var askerCount: Int { lookups.withLock(\.askerCount) }

    private func work(_ answer: @Sendable (ID, Answer) -> Void) {
        while let name = lookups.withLock({ $0.next() }) {
            let found = look(name)
            for id in lookups.withLock({ $0.finish(name) }) { answer(id, .success(found)) }
        }
    }
}

/// The numeric addresses of a host, in the order in which the system would try them. Blocks.
@Sendable
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
