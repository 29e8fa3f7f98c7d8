import Glibc

/// Sockets that a service manager has opened for this process, by systemd's protocol.
public struct Activation: Hashable, Sendable {
    public struct Socket: Hashable, Sendable {
        public let descriptor: Int32
        /// As `FileDescriptorName=` has it; empty if it was given none.
        public let name: String

        var place: ListenPlace { .inherited(descriptor: descriptor) }
    }

    public let sockets: [Socket]

    public static let none = Activation(sockets: [])

    /// The first of them, behind standard input, output and error.
    private static let first: Int32 = 3

    init(sockets: [Socket]) { self.sockets = sockets }

    /// What the environment says; nothing if it is meant for another process.
    public init(environment: [String: String], process: Int32? = nil) {
        guard let text = environment["LISTEN_PID"], Int32(text) == process ?? getpid(),
            let count = environment["LISTEN_FDS"].flatMap({ Int32($0) }),
            (1...1_024).contains(count)
        else {
            sockets = []
            return
        }
        let names = (environment["LISTEN_FDNAMES"] ?? "")
            .split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        sockets = (0..<count).map { index in
            Socket(
                descriptor: Self.first + index,
                name: names.indices.contains(Int(index)) ? names[Int(index)] : ""
            )
        }
    }

    /// Those for metrics and health, which are called `ops`.
    var ops: [Socket] { sockets.filter { $0.name == "ops" } }
    /// Those for the API.
    var api: [Socket] { sockets.filter { $0.name != "ops" } }
}
