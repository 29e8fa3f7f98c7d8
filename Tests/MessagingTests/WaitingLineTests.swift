import Testing

@testable import Messaging

struct WaitingLineTests {
    var line = WaitingLine<String>()

    @Test mutating func `those who stay keep their order when others leave`() {
        for ticket in 0..<100 { line.append("\(ticket)", ticket: ticket) }
        for ticket in 0..<100 where ticket % 10 != 7 {
            #expect(line.remove(ticket: ticket) == "\(ticket)")
        }
        #expect(line.remove(ticket: 0) == nil)
        #expect(line.count == 10)
        #expect(line.drain() == ["7", "17", "27", "37", "47", "57", "67", "77", "87", "97"])
    }

    @Test mutating func `coming and going leaves nothing behind`() {
        line.append("stays", ticket: 0)
        for ticket in 1...10_000 {
            line.append("goes", ticket: ticket)
            _ = line.remove(ticket: ticket)
            guard line.tickets.count < 32 else { break }
        }
        #expect(line.tickets.count < 32)
        #expect(line.drain() == ["stays"])
    }
}
