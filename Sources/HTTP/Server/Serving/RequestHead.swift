/// A request without its body, found to be beyond doubt.
///
/// Whatever two readers could understand in two ways is refused: how long the body is, whom the
/// request is for, where a line ends. A request that means one thing to whoever forwards it and
/// another to us is how one client's bytes become another client's request.
package struct RequestHead {
    package enum Framing: Equatable {
        case none
        case length(Int)
        case chunked
    }

    package let method: Method
    package let target: Target
    package let headers: Headers
    package let framing: Framing
    /// Whether the client waits for a word before it sends its body.
    package let expectsContinue: Bool
    /// Whether HTTP may end with the answer. The older version knows nothing of that, and a body has
    /// no place there.
    let mayUpgrade: Bool

    package init(
        method: Method,
        target raw: [UInt8],
        minorVersion: Int,
        headers: Headers,
        limits: Limits
    ) throws(Refusal) {
        guard method.isToken else { throw .malformed("The method is no word.") }
        let fields = try SingleFields(headers)
        self.method = method
        self.target = try Self.target(raw, method, fields.host)
        self.headers = headers
        framing = try Self.framing(fields, minorVersion, limits)
        expectsContinue = try Self.expectsContinue(fields, minorVersion, framing)
        mayUpgrade = minorVersion > 0 && method != .head && framing == .none
    }

    private static func target(
        _ raw: [UInt8],
        _ method: Method,
        _ host: String?
    ) throws(Refusal) -> Target {
        let path = try raw.withUnsafeBufferPointer { bytes throws(Refusal) -> Target? in
            let path = try Self.withoutAuthority(UnsafeRawBufferPointer(bytes), host)
            return Target.parse(UnsafeRawBufferPointer(rebasing: path))
        }
        guard let path else { throw .malformed(Self.flaw(of: raw)) }
        guard !path.isAsterisk || method == .options else {
            throw .malformed("Only OPTIONS is about everything.")
        }
        return path
    }

    private static func flaw(of target: [UInt8]) -> String {
        let isOfQuery = target.split(separator: .question, maxSplits: 1).first.map { path in
            path.count < target.count && Target(String(decoding: path, as: UTF8.self)) != nil
        }
        return isOfQuery == true ? "The query holds what is no text." : "The target is no path."
    }

    /// `http://host/path` is allowed to name the host that the header names, and no other.
    private static func withoutAuthority(
        _ bytes: UnsafeRawBufferPointer,
        _ host: String?
    ) throws(Refusal) -> Slice<UnsafeRawBufferPointer> {
        guard bytes.first != .slash, bytes.count > 7 else { return bytes[...] }
        let scheme = bytes.prefix(7)
        guard String(decoding: scheme, as: UTF8.self).lowercased() == "http://" else {
            return bytes[...]
        }
        let rest = bytes.dropFirst(7)
        let end = rest.firstIndex { $0 == .slash || $0 == .question } ?? rest.endIndex
        let authority = String(decoding: rest[..<end], as: UTF8.self)
        guard authority.lowercased() == host?.lowercased() else {
            throw .malformed("The target and the Host name two hosts.")
        }
        return rest[end...]
    }

    private static func framing(
        _ fields: SingleFields,
        _ minorVersion: Int,
        _ limits: Limits
    ) throws(Refusal) -> Framing {
        if let coding = fields.transferEncoding {
            guard fields.contentLength == nil else { throw .malformed("There are two lengths.") }
            guard minorVersion > 0 else { throw .malformed("HTTP/1.0 knows no chunks.") }
            guard coding.lowercased() == "chunked" else { throw .unknownCoding }
            return .chunked
        }
        guard let text = fields.contentLength else { return .none }
        guard let length = Int(text), text.utf8.allSatisfy(\.isDigit) else {
            throw .malformed("The length is no number.")
        }
        guard length <= limits.body else { throw .bodyTooLarge }
        return length == 0 ? .none : .length(length)
    }

    private static func expectsContinue(
        _ fields: SingleFields,
        _ minorVersion: Int,
        _ framing: Framing
    ) throws(Refusal) -> Bool {
        guard let expectation = fields.expect, minorVersion > 0 else { return false }
        guard expectation.lowercased() == "100-continue" else { throw .unknownExpectation }
        return framing != .none
    }
}

/// The fields of which there may be one only.
private struct SingleFields {
    var host: String?
    var contentLength: String?
    var transferEncoding: String?
    var expect: String?

    init(_ headers: Headers) throws(Refusal) {
        for (name, value) in headers.fields {
            switch name.utf8.count {
            case 4: try Self.set(&host, "host", name, value)
            case 6: try Self.set(&expect, "expect", name, value)
            case 14: try Self.set(&contentLength, "content-length", name, value)
            case 17: try Self.set(&transferEncoding, "transfer-encoding", name, value)
            default: break
            }
        }
    }

    private static func set(
        _ field: inout String?,
        _ wanted: String,
        _ name: String,
        _ value: String
    ) throws(Refusal) {
        guard name.lowercased() == wanted else { return }
        guard field == nil else { throw .malformed("There is more than one \(name).") }
        field = value
    }
}

/// Why a request is answered before anybody has seen it.
package enum Refusal: Error, Equatable {
    case malformed(String)
    case targetTooLong
    case headTooLarge
    case bodyTooLarge
    case unknownCoding
    case unknownExpectation
    case tooSlow
    case tooManyConnections
    /// An answer of ours: there is no room for it until others have gone.
    case tooManyAnswers
    case notUpgradable
    /// An answer of ours, in truth: a header of it would be more than one.
    case unsendable

    package var response: Response {
        switch self {
        case .malformed(let reason): .text(reason, status: .badRequest)
        case .targetTooLong: .plain("The target is too long.", .uriTooLong)
        case .headTooLarge: .plain("The headers are too large.", .headersTooLarge)
        case .bodyTooLarge: .plain("The body is too large.", .contentTooLarge)
        case .unknownCoding: .plain("Bodies come plain or chunked.", .notImplemented)
        case .unknownExpectation: .plain("Nothing is known of that.", .expectationFailed)
        case .tooSlow: .plain("That took too long.", .requestTimeout)
        case .tooManyConnections: Self.busy("Too many connections.")
        case .tooManyAnswers: Self.busy("Too many answers wait for their clients.")
        case .notUpgradable: .plain("That request cannot leave HTTP/1.1.", .badRequest)
        case .unsendable: .plain("Internal Server Error", Status(rawValue: 500))
        }
    }

    private static func busy(_ text: StaticString) -> Response {
        var response = Response.plain(text, .unavailable)
        response.headers["Retry-After"] = "1"
        return response
    }
}

extension Method {
    fileprivate var isToken: Bool {
        !rawValue.isEmpty && rawValue.utf8.count <= 32 && rawValue.utf8.allSatisfy(\.isTokenByte)
    }
}

extension UInt8 {
    var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }
    var isLetter: Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self | 0x20) }

    var isTokenByte: Bool {
        if isLetter || isDigit { return true }
        switch self {
        case UInt8(ascii: "!"), UInt8(ascii: "#"), UInt8(ascii: "$"), UInt8(ascii: "%"),
            UInt8(ascii: "&"), UInt8(ascii: "'"), UInt8(ascii: "*"), UInt8(ascii: "+"),
            UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "^"), UInt8(ascii: "_"),
            UInt8(ascii: "`"), UInt8(ascii: "|"), UInt8(ascii: "~"):
            return true
        default:
            return false
        }
    }

    /// What may stand in the value of a field: no control characters but the tab.
    var isFieldByte: Bool { self == 0x09 || (self >= 0x20 && self != 0x7F) }
}
