import System
import Testing

@testable import HTTP

struct ServerExpectationTests {
    @Test func `a client that asks is told nothing before the handler wants the body`() async throws
    {
        let (asked, gate) = (Signals(), Signals())
        let handler: Handler = { request in
            await asked.happen()
            await gate.happened()
            return await Self.echo(request)
        }
        try await serve(handler) { server async throws in
            let client = try server.client()
            try client.send(
                "POST / HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n"
            )
            await asked.happened()
            #expect(client.isSilent)
            await gate.happen()
            #expect(try client.take(until: "\r\n\r\n") == "HTTP/1.1 100 Continue\r\n\r\n")
            try client.send("wxyz")
            #expect(try client.answer().text == "POST / 4 wxyz")
        }
    }
}
