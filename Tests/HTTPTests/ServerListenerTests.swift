import Glibc
import System
import TestSupport
import Testing

@testable import HTTP

@Suite struct ServerListenerTests {
    private static let ask = "GET / HTTP/1.1\r\nHost: x\r\n\r\n"

    private static let who: Handler = { request in
        switch request.peer {
        case .tcp(let address): .text("\(request.door.name) tcp \(address.host)")
        case .unix(let peer):
            .text("\(request.door.name) unix \(peer.user) \(peer.group) \(peer.process)")
        case .memory: .text("\(request.door.name) memory")
        }
    }

    @Test(arguments: ["127.0.0.1", "::1"])
    func `a free port is picked and told`(_ host: String) async throws {
        let address = SocketAddress(host: host, port: 0)
        try await serve(Self.who, at: .tcp(address)) { server async throws in
            let real = try #require(server.address.socketAddress)
            #expect(real.host == host)
            #expect(real.port > 0)
            #expect(try server.ask(Self.ask).text == "test tcp \(host)")
        }
    }

    @Test func `a Unix socket is its owner's and knows who comes`() async throws {
        let scratch = try Scratch()
        let path = scratch.file("s")
        try await serve(Self.who, at: .unix(path: path)) { server async throws in
            var status = stat()
            #expect(lstat(path, &status) == 0)
            #expect(status.st_mode & 0o777 == 0o600)
            #expect(
                try server.ask(Self.ask).text == "test unix \(getuid()) \(getgid()) \(getpid())"
            )
        }
        #expect(access(path, F_OK) != 0, "The file is gone.")
    }

    @Test func `a socket file that nobody answers at is replaced`() async throws {
        let scratch = try Scratch()
        let path = scratch.file("s")
        let stale = try ListeningSocket(Listener(name: "old", .unix(path: path)))
        close(stale.descriptor)
        try await serve(Self.who, at: .unix(path: path)) { server async throws in
            #expect(try server.ask(Self.ask).status == .ok)
        }
    }

    @Test func `what is in use, or no socket, is left alone`() async throws {
        let scratch = try Scratch()
        let path = scratch.file("s")
        try await serve(Self.who, at: .unix(path: path)) { server async throws in
            #expect(throws: ServerError.addressTaken(path)) {
                _ = try Server.start(
                    [Listener(name: "second", .unix(path: path))],
                    handler: Self.who
                )
            }
            #expect(try server.ask(Self.ask).status == .ok)
        }
        let (file, directory) = (scratch.file("file"), scratch.file("directory"))
        let link = scratch.file("link")
        try Files.replace(file, with: [1])
        try Files.makePrivateDirectory(directory)
        #expect(symlink(file, link) == 0)
        for (path, kind) in [(file, "a file"), (directory, "a directory"), (link, "a link")] {
            let reason = "\(kind) is there. Move it away, or choose another address"
            #expect(throws: ServerError.addressRefused(path, reason: reason)) {
                _ = try Server.start([Listener(name: kind, .unix(path: path))], handler: Self.who)
            }
        }
        #expect(try Files.read(file) == [1])
    }

    @Test func `a socket file that became somebody else's is not removed`() async throws {
        let scratch = try Scratch()
        let path = scratch.file("s")
        try await serve(Self.who, at: .unix(path: path)) { _ in
            unlink(path)
            try Files.replace(path, with: [1])
        }
        #expect(try Files.read(path) == [1])
    }

    @Test func `a port that is taken is named`() async throws {
        try await serve(Self.who) { server async throws in
            let address = try #require(server.address.socketAddress)
            #expect(throws: ServerError.addressTaken(address.description)) {
                _ = try Server.start([Listener(name: "second", .tcp(address))], handler: Self.who)
            }
        }
    }

    @Test func `an address that is not ours is refused`() {
        for host in ["192.0.2.1", "nowhere", ""] {
            #expect(throws: ServerError.self) {
                let address = SocketAddress(host: host, port: 0)
                _ = try Server.start([Listener(name: "x", .tcp(address))], handler: Self.who)
            }
        }
        let long = "/tmp/" + String(repeating: "x", count: 200)
        #expect(throws: ServerError.self) {
            _ = try Server.start([Listener(name: "x", .unix(path: long))], handler: Self.who)
        }
    }

    @Test func `a socket that is open already is served`() async throws {
        let address = SocketAddress(host: "127.0.0.1", port: 0)
        let socket = try ListeningSocket(Listener(name: "given", .tcp(address)))
        try await serve(Self.who, at: .open(descriptor: socket.descriptor)) { server async throws in
            #expect(server.listeners[0].address == socket.listener.address)
            #expect(try server.ask(Self.ask).text == "test tcp 127.0.0.1")
        }
    }

    @Test func `several listeners are one server`() async throws {
        let scratch = try Scratch()
        let address = SocketAddress(host: "127.0.0.1", port: 0)
        let server = try Server.start(
            [
                Listener(name: "api", .tcp(address)),
                Listener(name: "ops", .tcp(address)),
                Listener(name: "socket", .unix(path: scratch.file("s"))),
            ],
            handler: { .text($0.door.name) }
        )
        for (listener, name) in zip(server.listeners, ["api", "ops", "socket"]) {
            let client = try RawClient(listener.address)
            try client.send(Self.ask)
            #expect(try client.answer().text == name)
        }
        await server.stop(within: .zero)
    }

    @Test func `a listener that cannot open closes those before it`() throws {
        let scratch = try Scratch()
        #expect(throws: ServerError.self) {
            _ = try Server.start(
                [
                    Listener(name: "good", .unix(path: scratch.file("s"))),
                    Listener(name: "bad", .tcp(SocketAddress(host: "192.0.2.1", port: 1))),
                ],
                handler: Self.who
            )
        }
        #expect(access(scratch.file("s"), F_OK) != 0)
    }
}

extension OpenListener.Address {
    fileprivate var socketAddress: SocketAddress? {
        if case .tcp(let address) = self { address } else { nil }
    }
}
