/// How a request was answered, by its number.
public struct Status: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    public let rawValue: Int

    public init(rawValue: Int) { self.rawValue = rawValue }

    public static let ok = Status(rawValue: 200)
    public static let noContent = Status(rawValue: 204)
    public static let badRequest = Status(rawValue: 400)
    public static let unauthorized = Status(rawValue: 401)
    public static let forbidden = Status(rawValue: 403)
    public static let notFound = Status(rawValue: 404)
    public static let methodNotAllowed = Status(rawValue: 405)
    public static let requestTimeout = Status(rawValue: 408)
    public static let contentTooLarge = Status(rawValue: 413)
    public static let uriTooLong = Status(rawValue: 414)
    public static let tooManyRequests = Status(rawValue: 429)
    public static let headersTooLarge = Status(rawValue: 431)
    public static let internalError = Status(rawValue: 500)
    public static let unavailable = Status(rawValue: 503)
    public static let insufficientStorage = Status(rawValue: 507)

    public var isSuccess: Bool { (200..<300).contains(rawValue) }
    public var description: String { String(rawValue) }
}
