import HTTP

/// The head of a request is refused or means one thing, and a path is routed by what it says.
///
/// The input is a head in lines: method and target in the first, a field in each of the others.
public struct RequestReading: Property {
    private let router: Router
    private let limits = Limits()

    public init() {
        var router = Router()
        for template in ["/", "/object/{kind}/{id}", "/object/item", "/a/{id}/b/{id}"] {
            router.on(.get, template) { _ in Response() }
        }
        router.on(.put, "/{number}/n", Int.self) { _, _ in Response() }
        self.router = router
    }

    public func violation(by bytes: [UInt8]) -> String? {
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        let words = lines[0].split(separator: UInt8(ascii: " "), maxSplits: 1)
        do throws(Refusal) {
            let head = try RequestHead(
                method: Method(
                    rawValue: words.first.map { String(decoding: $0, as: UTF8.self) } ?? ""
                ),
                target: Array(words.dropFirst().first ?? []),
                minorVersion: bytes.count % 2,
                headers: headers(lines.dropFirst()),
                limits: limits
            )
            return violation(of: head)
        } catch {
            let status = error.response.status.rawValue
            return (400...599).contains(status) ? nil : "A refusal has the status \(status)."
        }
    }

    private func headers(_ lines: ArraySlice<ArraySlice<UInt8>>) -> Headers {
        var headers = Headers()
        for line in lines {
            let parts = line.split(separator: UInt8(ascii: ":"), maxSplits: 1)
            guard let name = parts.first, let value = parts.dropFirst().first else { continue }
            headers.add(
                String(decoding: name, as: UTF8.self),
                String(decoding: value.drop { $0 == UInt8(ascii: " ") }, as: UTF8.self)
            )
        }
        return headers
    }

    private func violation(of head: RequestHead) -> String? {
        violation(of: head.framing, head.headers) ?? violation(of: head.target)
            ?? violation(of: Request(head.method, head.target, headers: head.headers))
    }

    private func violation(of framing: RequestHead.Framing, _ headers: Headers) -> String? {
        let lengths = headers.all("Content-Length")
        let codings = headers.all("Transfer-Encoding")
        guard lengths.count + codings.count <= 1 else { return "Two lengths were let through." }
        switch framing {
        case .none: return codings.isEmpty ? nil : "A coding was overlooked."
        case .chunked: return codings.count == 1 ? nil : "There are chunks that nobody announced."
        case .length(let length):
            let isTold = lengths.first.flatMap { Int($0) } == length
            return isTold && length > 0 && length <= limits.body ? nil : "A length is wrong."
        }
    }

    private func violation(of target: Target) -> String? {
        guard Target(target.raw) == target else { return "A target is read in two ways." }
        if target.isAsterisk { return target.segments.isEmpty ? nil : "Everything has a path." }
        let path = target.raw.prefix { $0 != "?" }
        let slashes = path.utf8.reduce(0) { $0 + ($1 == UInt8(ascii: "/") ? 1 : 0) }
        let expected = path.hasSuffix("/") ? slashes - 1 : slashes
        guard target.segments.count == expected else { return "An escape became a slash." }
        return nil
    }

    private func violation(of request: Request) -> String? {
        guard case .handler(_, let parameters, let template) = router.find(request) else {
            return nil
        }
        guard parameters.count == template.names.count else {
            return "A route has lost a parameter."
        }
        let isTaken = parameters.allSatisfy { request.target.segments.contains($0) }
        return isTaken ? nil : "A parameter is no part of the path."
    }
}
