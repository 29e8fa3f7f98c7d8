import HTTP
import TestSupport

typealias ShellWire = TextConnection

extension TextConnection {
    convenience init(_ address: SocketAddress) throws {
        try self.init(address.host, port: address.port)
    }
}
