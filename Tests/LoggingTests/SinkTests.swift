import FoundationEssentials
import Glibc
import Logging
import System
import TestSupport
import Testing

/// Real descriptors.
struct SinkTests {
    private struct Line: Decodable {
        var writer: Int
        var number: Int
        var text: String
    }

    /// `F_SETPIPE_SZ`, which Glibc does not show to Swift.
    private static let setPipeSize: Int32 = 1_031

    @Test func `lines of many tasks do not mix in a pipe`() async throws {
        let (reading, writing) = try pipe()
        // A line that finds no room for a while is left out, so there is plenty.
        try #require(fcntl(writing, Self.setPipeSize, 1 << 20) == 1 << 20)
        let read = Lock<[UInt8]>([])
        let reader = Thread.start(name: "reader") {
            while let chunk = Self.read(reading) { read.withLock { $0 += chunk } }
        }
        let book = Logbook(
            format: .json,
            sink: DescriptorSink(writing),
            timekeeper: SystemTimekeeper()
        )
        await withTaskGroup { tasks in
            for writer in 0..<8 {
                tasks.addTask {
                    let log = Logger(book).with("writer", writer)
                    for number in 0..<250 {
                        let text = String(repeating: "x", count: number * 14)
                        log.info("Said.", ["number": number, "text": text])
                    }
                }
            }
        }
        close(writing)
        reader.join()
        close(reading)

        var next = [Int](repeating: 0, count: 8)
        for line in read.withLock({ $0 }).split(separator: 0x0A) {
            let line = try JSONDecoder().decode(Line.self, from: Data(line))
            #expect(line.number == next[line.writer], "Each writer's lines keep their order.")
            #expect(line.text.utf8.count == line.number * 14)
            next[line.writer] = line.number + 1
        }
        #expect(book.lostLines == 0)
        #expect(next == [Int](repeating: 250, count: 8))
    }

    @Test(arguments: [false, true])
    func `a pipe that nobody reads loses lines but holds nobody up`(_ isNonBlocking: Bool) throws {
        let (reading, writing) = try pipe()
        defer {
            close(reading)
            close(writing)
        }
        if isNonBlocking { _ = fcntl(writing, F_SETFL, O_NONBLOCK) }
        let book = Logbook(sink: DescriptorSink(writing), timekeeper: StillTime())
        let log = Logger(book)
        let text = String(repeating: "x", count: 1000)
        for number in 0..<500 { log.info("Said.", ["number": number, "text": text]) }
        #expect(book.lostLines > 400, "A pipe holds 64 KiB.")

        var chunk = [UInt8](repeating: 0, count: 1 << 17)
        let lost = book.lostLines
        let count = chunk.withUnsafeMutableBytes { Glibc.read(reading, $0.baseAddress, $0.count) }
        let before = String(decoding: chunk[..<count], as: UTF8.self)
        #expect(before.hasSuffix("x\n"), "What got through got through whole.")

        log.info("Back.")
        let after = String(decoding: try #require(Self.read(reading)), as: UTF8.self)
        #expect(
            after == """
                2025-11-21T10:57:07.123Z info    Back.
                2025-11-21T10:57:07.123Z warning Lines of this log were lost, because it was not \
                read. lines=\(lost)

                """
        )
        log.info("And on.")
        let last = String(decoding: try #require(Self.read(reading)), as: UTF8.self)
        #expect(last == "2025-11-21T10:57:07.123Z info    And on.\n")
    }

    @Test func `a line that got through in part is ended before the next`() throws {
        var ends: [Int32] = [0, 0]
        try system("socketpair") { () -> Int32 in
            socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends)
        }
        defer { for end in ends { close(end) } }
        _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
        let sink = DescriptorSink(ends[0])
        let size = 1 << 20
        #expect(!sink.write([UInt8](repeating: 0x61, count: size) + [0x0A]))

        var seen = 0
        while fdHasBytes(ends[1]) { seen += Self.read(ends[1])?.count ?? 0 }
        #expect(seen > 0 && seen < size)
        #expect(sink.write(Array("next\n".utf8)))
        #expect(Self.read(ends[1]) == Array("\nnext\n".utf8))
        #expect(sink.write(Array("last\n".utf8)))
        #expect(Self.read(ends[1]) == Array("last\n".utf8))
    }

    @Test func `a descriptor that is none refuses, and a file takes everything`() throws {
        #expect(!DescriptorSink(9999).write([0x0A]))
        let scratch = try Scratch()
        let file = try File(path: scratch.file("log"), flags: O_WRONLY | O_CREAT)
        #expect(DescriptorSink(file.descriptor).write(Array("line\n".utf8)))
        #expect(try Files.read(scratch.file("log")) == Array("line\n".utf8))
    }

    private func pipe() throws -> (reading: Int32, writing: Int32) {
        var ends: [Int32] = [0, 0]
        try system("pipe") { () -> Int32 in Glibc.pipe(&ends) }
        return (ends[0], ends[1])
    }

    private func fdHasBytes(_ descriptor: Int32) -> Bool {
        var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&request, 1, 0) > 0
    }

    /// What is there, or `nil` at the end.
    private static func read(_ descriptor: Int32) -> [UInt8]? {
        var chunk = [UInt8](repeating: 0, count: 65_536)
        let count = chunk.withUnsafeMutableBytes {
            Glibc.read(descriptor, $0.baseAddress, $0.count)
        }
        return count > 0 ? Array(chunk[..<count]) : nil
    }
}
