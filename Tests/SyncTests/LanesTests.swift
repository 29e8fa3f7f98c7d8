import Messaging
import System
import TestSupport
import Testing

@testable import Sync

struct LanesTests {
    @Test(arguments: [1, 2, 3] as [UInt64])
    func `G-U1 who waits too long for a lane goes without it, and others keep their turns`(
        _ seed: UInt64
    ) throws {
        try SeededExecutor.run(seed: seed) { _, time in
            let (lanes, alarms) = (Lanes(), AlarmClock(timekeeper: time))
            await withTaskGroup(of: Void.self) { tasks in
                tasks.addTask { await alarms.run() }
                tasks.addTask {
                    await lanes.hold("mail") { try? await time.sleep(for: .seconds(20)) }
                }
                try? await time.sleep(for: .seconds(1))
                tasks.addTask {
                    let turn = await lanes.hold("mail", within: .seconds(5), by: alarms) { 1 }
                    #expect(turn == nil && time.elapsed == .seconds(6))
                }
                tasks.addTask {
                    let turn = await lanes.hold("mail", within: .seconds(60), by: alarms) {
                        time.elapsed
                    }
                    #expect(turn == .seconds(20))
                }
                #expect(await lanes.hold("bank", within: .seconds(5), by: alarms) { 2 } == 2)
                try? await time.sleep(for: .seconds(60))
                #expect(await lanes.hold("mail") { 3 } == 3)
                alarms.close()
            }
        }
    }
}
