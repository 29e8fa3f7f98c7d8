import Glibc
import System

/// A socket that listens on the loopback.
///
/// - Parameter ip: 127.0.0.1; 0 is all there are, of which 127.0.0.0/8 are the loopback's.
/// - Parameter port: 0 for a free one.
public func listenOnLoopback(
    at ip: UInt32 = 0x7F00_0001,
    port: Int = 0
) throws -> (descriptor: Int32, port: Int) {
    let listener = try makeSocket()
    var address = place(ip, UInt16(port))
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    try withUnsafeMutablePointer(to: &address) { pointer in
        try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
            try system("bind") { bind(listener, pointer, size) }
            try system("listen") { listen(listener, 1_024) }
            try system("getsockname") { getsockname(listener, pointer, &size) }
        }
    }
    return (listener, Int(UInt16(bigEndian: address.sin_port)))
}

/// A socket that is connected to 127.0.0.1.
public func connectToLoopback(_ port: UInt16) throws -> Int32 {
    let descriptor = try makeSocket()
    var address = place(0x7F00_0001, port)
    let size = socklen_t(MemoryLayout<sockaddr_in>.size)
    _ = try withUnsafePointer(to: &address) { pointer in
        try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
            try system("connect") { connect(descriptor, pointer, size) }
        }
    }
    return descriptor
}

/// - Returns: Whether all of it could be sent.
@discardableResult
public func sendAll(_ descriptor: Int32, _ bytes: some Collection<UInt8>) -> Bool {
    var rest = Array(bytes)[...]
    while !rest.isEmpty {
        let count = rest.withUnsafeBytes {
            send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
        }
        guard count > 0 else { return false }
        rest = rest.dropFirst(count)
    }
    return true
}

/// No program that a test starts gets it.
private func makeSocket() throws -> Int32 {
    try system("socket") {
        socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    }
}

private func place(_ ip: UInt32, _ port: UInt16) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = ip.bigEndian
    address.sin_port = port.bigEndian
    return address
}
