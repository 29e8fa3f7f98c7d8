import CCeilings
import JSON
import System

/// A sync body as it comes, taken apart, read into structs and written, beside simdjson alone.
enum JSONBenchmarks {
    static func run(_ bench: Bench) async throws {
        let body = SyncBody.bytes(ciphers: bench.count(10_000, quick: 200))
        try await reading(bench, body)
        try await growth(bench)
        try await writing(bench)
        try await items(bench)
    }

    private static func rate(_ bytes: Int, _ body: () throws -> Int) async throws -> Double {
        var count = 0
        let duration = try await seconds { count = try body() }
        precondition(count > 0, "Nothing was read.")
        return Double(bytes) / duration / 1e6
    }

    private static func reading(_ bench: Bench, _ body: [UInt8]) async throws {
        guard let text = ceiling_text_new(body, body.count) else { return }
        defer { ceiling_text_free(text) }
        bench.note("sync body", "\(body.count / 1_000_000) MB")
        let split = { try await rate(body.count) { try ids(of: body) } }
        try await bench.compare(
            "split; ceiling checks no element",
            .rate("MB/s"),
            aim: 0.8,
            ours: split,
            ceiling: { try await rate(body.count) { ceiling_split(text) } }
        )
        try await bench.compare(
            "split; ceiling checks all, as we do",
            .rate("MB/s"),
            aim: 0.8,
            ours: split,
            ceiling: { try await rate(body.count) { ceiling_split_checked(text) } }
        )
        try await bench.compare(
            "structs; ceiling checks only what it takes",
            .rate("MB/s"),
            aim: 0.8,
            ours: { try await rate(body.count) { try ciphers(in: body).count } },
            ceiling: { try await rate(body.count) { ceiling_structs(text) } }
        )
        try await bench.measure("a document of it", unit: "MB/s") {
            try await rate(body.count) { try JSON.Document(body).root.kind == .object ? 1 : 0 }
        }
    }

    private static func ids(of body: [UInt8]) throws -> Int {
        let split = try JSON.Split(body, picking: ["id", "revisionDate"])
        return split["ciphers"]?.elements?.count { $0["id"] != nil && $0.raw.range.count > 0 } ?? 0
    }

    private static func ciphers(in body: [UInt8]) throws -> [SyncBody.Cipher] {
        try JSON.Document(body).root.read("ciphers")
    }

    private static func growth(_ bench: Bench) async throws {
        for count in bench.isQuick ? [100, 200] : [1_000, 10_000, 100_000] {
            let body = SyncBody.bytes(ciphers: count)
            try await bench.measure("split of \(count) items", unit: "MB/s") {
                try await rate(body.count) { try ids(of: body) }
            }
        }
    }

    private static func writing(_ bench: Bench) async throws {
        let times = bench.count(10_000, quick: 100)
        let strings = (0..<20).map { SyncBody.encrypted($0, length: 32 + 4 * $0) }
        let length = written(strings, times)
        let copies = strings.map { string in
            let copy = UnsafeMutablePointer<CChar>.allocate(capacity: string.utf8.count)
            for (index, byte) in string.utf8.enumerated() { copy[index] = CChar(byte) }
            return copy
        }
        defer { for copy in copies { copy.deallocate() } }
        let starts = copies.map { UnsafePointer($0) as UnsafePointer<CChar>? }
        let lengths = strings.map(\.utf8.count)
        try await bench.compare(
            "write; ceiling the same in C++",
            .rate("MB/s"),
            aim: 0.8,
            ours: { try await rate(length) { written(strings, times) } },
            ceiling: {
                try await rate(length) { ceiling_write(starts, lengths, starts.count, times) }
            }
        )
    }

    private static func written(_ strings: [String], _ times: Int) -> Int {
        let raw = JSON.Raw.array { array in
            for _ in 0..<times {
                array.object { object in
                    for (index, string) in strings.enumerated() {
                        object.add(String(index), string)
                    }
                }
            }
        }
        return raw.range.count
    }

    private static func items(_ bench: Bench) async throws {
        let item = Array(JSON.Raw(SyncBody.Cipher(number: 7)).bytes)
        let rounds = bench.count(20_000, quick: 100)
        func microseconds(_ body: () throws -> Void) async throws -> Double {
            try await seconds { for _ in 0..<rounds { try body() } } / Double(rounds) * 1e6
        }
        bench.note("one item", "\(item.count) bytes")
        try await bench.measure("its document", unit: "µs") {
            try await microseconds { _ = try JSON.Document(item) }
        }
        try await bench.measure("its struct", unit: "µs") {
            let document = try JSON.Document(item)
            return try await microseconds { _ = try SyncBody.Cipher(json: document.root) }
        }
        try await bench.measure("three edits and its bytes", unit: "µs") {
            let document = try JSON.Document(item)
            return try await microseconds {
                var edit = JSON.Edit(document)
                try edit.set(["login", "password"], to: "2.new")
                try edit.set(["passwordHistory"], to: .array { $0.add("2.old") })
                try edit.set(["favorite"], to: true)
                precondition(edit.bytes.count > item.count / 2)
            }
        }
    }
}
