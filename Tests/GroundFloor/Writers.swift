import HTTP

/// Clients that write notes, all at once, and remember what was acknowledged.
struct Writers {
    let client: Client
    let address: String

    func write(_ clients: Int, _ notes: Int) async throws -> [Int: String] {
        try await withThrowingTaskGroup(of: [Int: String].self) { group in
            for number in 0..<clients {
                group.addTask { [self] in try await write(as: number, notes) }
            }
            return try await group.reduce(into: [:]) { $0.merge($1) { first, _ in first } }
        }
    }

    private func write(as number: Int, _ notes: Int) async throws -> [Int: String] {
        var kept: [Int: String] = [:]
        for note in 0..<notes {
            let text = "Note \(note) of client \(number)."
            let answer = try await client.send(
                Client.Request(.post, address + "/notes", body: .bytes(Array(text.utf8)))
            )
            let body = String(decoding: answer.body, as: UTF8.self)
            guard answer.status == .ok, let id = Int(body) else {
                throw Refused(status: answer.status, text: body)
            }
            kept[id] = text
        }
        return kept
    }
}

struct Refused: Error {
    let status: Status
    let text: String
}
