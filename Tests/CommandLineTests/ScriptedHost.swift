import HTTP
import System
import TestSupport

/// A host that answers what the test says, on a socket of its own, and remembers what it was asked.
final class ScriptedHost: Sendable {
    struct Question: Hashable, Sendable {
        let line: String
        let body: String
    }

    private final class Memory: Sendable {
        let questions = Lock<[Question]>([])
    }

    private let scratch: Scratch
    private let server: Server
    private let memory: Memory

    var socket: String { scratch.file("holdfast.sock") }
    var state: String { scratch.path }
    var asked: [Question] { memory.questions.withLock { $0 } }

    init(_ answer: @escaping @Sendable (Question) async -> Response = { _ in .envelope("") }) throws
    {
        let (scratch, memory) = (try Scratch(), Memory())
        let place = Listener(name: "socket", .unix(path: scratch.file("holdfast.sock")))
        server = try Server.start([place]) { request in
            let body = (try? await request.body(limit: 1 << 20)) ?? []
            let question = Question(
                line: "\(request.method) \(request.target.raw)",
                body: String(decoding: body, as: UTF8.self)
            )
            memory.questions.withLock { $0.append(question) }
            return await answer(question)
        }
        self.scratch = scratch
        self.memory = memory
    }

    func close() async { await server.stop(within: .seconds(1)) }
}

extension Response {
    /// A success with that data, in JSON; with none if it is empty.
    static func envelope(_ data: String) -> Response {
        .text(data.isEmpty ? #"{"success":true}"# : #"{"success":true,"data":\#(data)}"#)
    }

    static func refusal(_ status: Int, _ message: String) -> Response {
        .text(#"{"success":false,"message":"\#(message)"}"#, status: Status(rawValue: status))
    }
}
