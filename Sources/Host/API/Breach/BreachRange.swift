import Crypto
import HTTP

/// Knows which passwords have been leaked, without being told the password that is asked about.
///
/// It is given the first five letters of the password's digest, which hundreds of others share, and
/// answers with the rest of all of them.
protocol BreachRange: Sendable {
    /// Lines of `SUFFIX:COUNT`.
    func lines(behind prefix: String) async throws(BreachesUnknown) -> String
}

/// The service cannot be asked at the moment.
struct BreachesUnknown: Error, Hashable, Sendable, CustomStringConvertible {
    let reason: String

    init(_ reason: String) {
        self.reason = reason
    }

    var description: String {
        "Whether the password has leaked cannot be told: \(reason). It needs the network."
    }
}

extension BreachRange {
    /// How often the password was found among leaked ones.
    func count(of password: String) async throws(BreachesUnknown) -> Int {
        let digest = Digest.sha1(of: password).map { byte in
            let digits = String(byte, radix: 16, uppercase: true)
            return digits.count == 1 ? "0" + digits : digits
        }.joined()
        let suffix = digest.dropFirst(5)
        let lines = try await lines(behind: String(digest.prefix(5)))
        for line in lines.split(whereSeparator: \.isNewline) where line.count > suffix.count {
            guard line.prefix(suffix.count).uppercased() == suffix else { continue }
            return Int(line.dropFirst(suffix.count + 1).prefix { $0.isNumber }) ?? 0
        }
        return 0
    }
}

/// The public service that official clients ask.
struct PublicBreachRange: BreachRange {
    private let base: String
    private let client: @Sendable () -> Client

    init(
        base: String = "https://api.pwnedpasswords.com",
        client: @escaping @Sendable () -> Client
    ) {
        self.base = base
        self.client = client
    }

    /// Asks for padding, so that not even the length of the answer tells which range it was.
    func lines(behind prefix: String) async throws(BreachesUnknown) -> String {
        var request = Client.Request(.get, "\(base)/range/\(prefix)", operation: "leaked passwords")
        request.headers["Add-Padding"] = "true"
        var deadlines = Client.Deadlines()
        (deadlines.connect, deadlines.total) = (.seconds(3), .seconds(10))
        request.deadlines = deadlines
        let response: Client.Response
        do {
            response = try await client().send(request)
        } catch {
            throw BreachesUnknown("the service was not reached (\(error))")
        }
        guard response.status == .ok else {
            throw BreachesUnknown("the service answers \(response.status)")
        }
        return String(decoding: response.body, as: UTF8.self)
    }
}
