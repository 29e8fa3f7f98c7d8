import Testing

@testable import HTTP

/// The two ends of a body, without a task and without a connection.
@Suite struct ServerStreamStateTests {
    @Test func `a reader that waits gets the next piece at once`() {
        var state = InletState<String>(capacity: 10, limit: 100)
        #expect(state.next(false, "reader").text == "rouse")
        let (room, action) = state.push([1, 2])
        #expect(room == .plenty)
        #expect(action.text == "reader gets [1, 2]")
    }

    @Test func `a full inlet makes the connection rest until half is read`() {
        var state = InletState<String>(capacity: 4, limit: 100)
        #expect(state.push([1, 2]).0 == .plenty)
        #expect(state.push([3]).0 == .plenty)
        #expect(state.push([4]).0 == .full)
        #expect(state.next(false, "a").text == "a gets [1, 2], rouse")
        #expect(state.next(false, "b").text == "b gets [3], rouse")
        #expect(state.next(false, "c").text == "c gets [4]")
    }

    @Test func `a body beyond its limit fails for its reader and is taken no further`() {
        var state = InletState<String>(capacity: 10, limit: 3)
        #expect(state.push([1, 2, 3]).0 == .plenty)
        #expect(state.push([4]).0 == .exceeded)
        #expect(state.next(false, "a").text == "a fails tooLarge(limit: 3)")
    }

    @Test func `what has arrived is read before the end`() {
        var state = InletState<String>(capacity: 10, limit: 100)
        _ = state.push([1])
        _ = state.end(.complete)
        #expect(state.next(false, "a").text.hasPrefix("a gets [1]"))
        #expect(state.next(false, "b").text == "b is at the end")
        #expect(state.next(false, "c").text == "c is at the end")
    }

    @Test func `a client that leaves ends the waiting`() {
        var state = InletState<String>(capacity: 10, limit: 100)
        _ = state.next(false, "a")
        #expect(state.end(.failed(.clientLeft)).text == "a fails clientLeft")
        #expect(state.end(.complete).text == "nothing", "The first ending counts.")
        #expect(state.push([1]).1.text == "nothing")
    }

    @Test func `a reader that is cancelled leaves nothing behind`() {
        var state = InletState<String>(capacity: 10, limit: 100)
        _ = state.next(false, "a")
        #expect(state.cancel().text == "a fails cancelled")
        #expect(state.push([1]).1.text == "nothing")
        #expect(state.next(true, "b").text == "b gets [1]")
        #expect(state.next(true, "c").text == "c fails cancelled")
    }

    @Test func `a connection that rests is roused once by what is written`() {
        var state = OutletState<String>(capacity: 4)
        #expect(state.take(8).0 == .nothingYet)
        #expect(state.push([1]).text == "rouse")
        #expect(state.push([2]).text == "nothing")
        #expect(state.take(8).0 == .bytes(2))
    }

    @Test func `a writer waits while too much is on its way`() {
        var state = OutletState<String>(capacity: 4)
        _ = state.push([1, 2, 3, 4, 5])
        #expect(state.room == .none)
        #expect(state.rest(false, "w").text == "nothing")
        #expect(state.take(2).1.text == "nothing")
        #expect(state.take(1).1.text == "resume w")
        #expect(state.room == .some)
    }

    @Test func `the end comes after the last byte`() {
        var state = OutletState<String>(capacity: 4)
        _ = state.push([1])
        _ = state.end(.complete)
        #expect(state.room == .never)
        #expect(state.take(8).0 == .bytes(1))
        #expect(state.take(8).0 == .complete)
    }

    @Test func `a producer that gives up breaks the answer after what it wrote`() {
        var state = OutletState<String>(capacity: 4)
        _ = state.push([1])
        _ = state.end(.broken)
        #expect(state.take(8).0 == .bytes(1))
        #expect(state.take(8).0 == .broken)
    }

    @Test func `a client that leaves lets all writers go`() {
        var state = OutletState<String>(capacity: 2)
        _ = state.push([1, 2, 3])
        _ = state.rest(false, "w")
        _ = state.rest(false, "v")
        #expect(state.end(.clientLeft).text == "resume w, v")
        #expect(state.room == .never)
        #expect(state.take(8).0 == .broken)
        #expect(state.rest(true, "x").text == "resume x")
    }

    @Test(arguments: 1...20)
    func `pieces come out as they went in`(_ size: Int) {
        var pieces = Pieces()
        var put: [UInt8] = []
        var got: [UInt8] = []
        for round in 0..<50 {
            let piece = (0..<(round % 7)).map { UInt8(truncatingIfNeeded: round * 7 + $0) }
            pieces.append(piece)
            put += piece
            if round % 5 == 4, let next = pieces.takePiece() { got += next }
            if round % 3 == 0 { got += pieces.take(size) }
        }
        while pieces.count > 0 { got += pieces.take(size) }
        #expect(got == put)
        #expect(pieces.takePiece() == nil)
    }
}

extension Pieces {
    fileprivate mutating func take(_ count: Int) -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: count)
        let filled = buffer.withUnsafeMutableBytes { move(into: $0) }
        return Array(buffer.prefix(filled))
    }
}

extension OutletState {
    fileprivate mutating func take(_ count: Int) -> (OutletYield, Action) {
        var buffer = [UInt8](repeating: 0, count: count)
        return buffer.withUnsafeMutableBytes { move(into: $0) }
    }
}

extension InletState<String>.Action {
    fileprivate var text: String {
        switch self {
        case .nothing: "nothing"
        case .rouse: "rouse"
        case .answer(let reader, let answer): Self.text(reader, answer)
        case .answerAndRouse(let reader, let answer): Self.text(reader, answer) + ", rouse"
        }
    }

    private static func text(_ reader: String, _ answer: InletAnswer) -> String {
        switch answer {
        case .success(let piece?): "\(reader) gets \(piece)"
        case .success(nil): "\(reader) is at the end"
        case .failure(.tooLarge(let limit)): "\(reader) fails tooLarge(limit: \(limit))"
        case .failure(.clientLeft): "\(reader) fails clientLeft"
        case .failure(.cancelled): "\(reader) fails cancelled"
        }
    }
}

extension OutletState<String>.Action {
    fileprivate var text: String {
        switch self {
        case .nothing: "nothing"
        case .rouse: "rouse"
        case .resume(let writers): "resume " + writers.joined(separator: ", ")
        }
    }
}
