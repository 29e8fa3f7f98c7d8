extension Client {
    /// What is asked of a server.
    public struct Request: Sendable {
        public var method: Method
        public var url: String
        public var headers: Headers
        public var body: Body

        /// What the request is for, in a word. It stands in errors, where the URL (whose query may hold a
        /// token) does not.
        public var operation: String

        /// Replaces the configuration's, when it is set.
        public var deadlines: Deadlines?

        /// How many bytes of decoded body are accepted at most; if `nil`, the configuration says.
        public var bodyLimit: Int?

        /// How many redirects are followed. Only those of GET and HEAD ever are; see ``Redirect``.
        public var redirectLimit = 0

        /// The header fields that are meant for this origin only, besides those that always are
        /// (`Authorization`, `Cookie`): a redirect to another takes none of them along.
        public var confidentialFields: [String] = []

        /// The Unix socket where the server listens, in place of the URL's host and port.
        public var socketPath: String?

        public init(
            _ method: Method = .get,
            _ url: String,
            headers: Headers = [:],
            body: Body = .none,
            operation: String = "request"
        ) {
            self.method = method
            self.url = url
            self.headers = headers
            self.body = body
            self.operation = operation
        }
    }

    /// What is sent along.
    public enum Body: Sendable {
        case none
        case bytes([UInt8])
        case stream(Upload)
    }

    /// A body that is made while it is sent, no faster than the server takes it.
    public struct Upload: Sendable {
        /// How long the whole will be. If `nil`, the server learns the end when it is there.
        ///
        /// The source is held to it: if it gives more or less, the request ends before the last
        /// declared byte has left, with ``ClientError/Reason/wrongLength(declared:given:)``. A
        /// source of length 0 is not asked.
        public let length: Int?
        let next: @Sendable () async throws -> [UInt8]?

        /// `next` returns the body piece by piece, and `nil` after the last.
        public init(length: Int?, next: @escaping @Sendable () async throws -> [UInt8]?) {
            self.length = length
            self.next = next
        }
    }

    /// How long things may take.
    public struct Deadlines: Sendable, Equatable {
        /// Until there is a connection, including its handshakes.
        public var connect: Duration = .seconds(10)
        /// For everything, from the call to the last byte, including the wait for a free place.
        public var total: Duration = .seconds(60)
        /// For how long fewer than ``leastBytesPerSecond`` may pass. Whole seconds.
        public var stall: Duration = .seconds(30)
        public var leastBytesPerSecond = 16

        public init() {}
    }
}

extension Client {
    /// Why nobody can be asked at that URL; nil if nothing is wrong with it.
    public static func flaw(ofURL url: String) -> String? {
        do throws(Destination.Flaw) {
            _ = try Destination(url, schemes: Redirect.schemes)
            return nil
        } catch {
            return error.text
        }
    }
}

/// Says what is asked of whom, and nothing that may be a secret: no path, no header, no body.
extension Client.Request: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "\(operation) (\(method) at \(server))" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { .opaque(self) }

    /// Who is to be talked to, as errors name it.
    var server: String {
        socketPath ?? (try? Destination(url, schemes: Redirect.schemes))?.origin ?? "no server"
    }
}

extension Mirror {
    /// What `dump`, and the descriptions of types that hold the value, are allowed to see: nothing.
    static func opaque<Value>(_ value: Value) -> Mirror {
        Mirror(value, children: EmptyCollection<Mirror.Child>(), displayStyle: .struct)
    }
}
