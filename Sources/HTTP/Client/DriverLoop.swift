import CCurl
import Glibc
import System

/// What happens on the client's thread: all of curl, and nothing else that would block.
final class DriverLoop {
    private let driver: Driver
    private let multi: OpaquePointer
    private let configuration: Client.Configuration
    private let handles: EasyHandles
    private var transfers: [UInt64: Transfer] = [:]
    /// Those of `transfers` that wait have no `easy` yet.
    private var admission: Admission
    /// Servers to which there is now a connection that others have waited for.
    private var reached: [String] = []
    private var isStopping = false

    init(
        _ driver: Driver,
        multi: OpaquePointer,
        configuration: Client.Configuration,
        trust: Trust?
    ) {
        self.driver = driver
        self.multi = multi
        self.configuration = configuration
        handles = EasyHandles(configuration: configuration, trust: trust)
        admission = Admission(limit: configuration.requestsPerHost)
    }

    func run() {
        var commands: [Driver.Command] = []
        while !isStopping {
            driver.inbox.exchange(&commands)
            for command in commands { obey(command) }
            commands.removeAll(keepingCapacity: true)
            perform()
            heedAlarm()
            driver.executor.runJobs()
            if transfers.isEmpty { linger() }
            if !isStopping && driver.inbox.maySleep() { rest() }
        }
        end()
    }

    private func obey(_ command: Driver.Command) {
        switch command {
        case .start(let transfer): start(transfer)
        case .cancel(let id): cancel(id)
        case .resume(let id): transfers[id].map(resume)
        case .count(let answer): answer.resume(returning: load)
        case .stop: isStopping = true
        }
    }

    private var load: Client.Load {
        let waiting = admission.waitingCount
        return Client.Load(underWay: transfers.count - waiting, waiting: waiting)
    }

    // MARK: Begin

    private func start(_ transfer: Transfer) {
        let order = transfer.order
        transfers[transfer.id] = transfer
        let mayGo = admission.arrive(
            transfer.id,
            at: order.server,
            deadline: order.end,
            patience: order.mayShare ? now + Self.patience : nil
        )
        guard mayGo else { return }
        if admission.isAwaited(order.server) {
            transfer.whenConnected = { [unowned self] in reached.append(order.server) }
        }
        if let reason = launch(transfer) { settle(transfer, reason) }
    }

    /// Longer than it takes to make a connection, and little of any deadline.
    private static let patience = Duration.seconds(1)

    /// - Returns: Why it cannot get under way, if it cannot.
    private func launch(_ transfer: Transfer) -> ClientError.Reason? {
        transfer.allowance = transfer.order.end - now
        guard transfer.allowance > .zero else { return .timedOut(.total) }
        guard let easy = handles.make(for: transfer) else {
            return .local("libcurl cannot prepare the request")
        }
        transfer.easy = easy
        return cc_multi_add(multi, easy) ? nil : .local("libcurl cannot take the request")
    }

    /// Whatever places there are at that server, those who are next take them. Whoever has run out
    /// of time meanwhile leaves its place at once, which may be so with the whole of a long line.
    private func passOn(_ server: String) {
        while let id = admission.next(at: server), let next = transfers[id] {
            guard let reason = launch(next) else { continue }
            drop(next, reason)
            admission.leave(server)
        }
    }

    // MARK: Go on

    private func perform() {
        guard cc_multi_perform(multi) else { return failAll(.local("libcurl is out of order")) }
        for server in reached {
            admission.stopAwaiting(server)
            passOn(server)
        }
        reached.removeAll(keepingCapacity: true)
        takeEnded()
    }

    private func takeEnded() {
        var code: Int32 = 0
        while let easy = cc_multi_next_ended(multi, &code) {
            guard let owner = cc_easy_owner(easy) else { continue }
            let transfer = Unmanaged<Transfer>.fromOpaque(owner).takeUnretainedValue()
            let ending = Ending(code: code, easy: easy)
            let failure = transfer.finish(with: ending)
            forget(transfer, hasFailed: failure != nil)
            leave(transfer.order.server)
        }
    }

    private func resume(_ transfer: Transfer) {
        guard let easy = transfer.easy else { return }
        let ending = Ending(code: cc_easy_resume(easy), easy: easy)
        guard ending.kind != CC_COMPLETE else { return }
        settle(transfer, transfer.reason(for: ending))
    }

    private func heedAlarm() {
        guard let alarm = admission.alarm, alarm <= now else { return }
        while let server = admission.losePatience(at: now) { passOn(server) }
        while let id = admission.expire(at: now) {
            guard let transfer = transfers.removeValue(forKey: id) else { continue }
            transfer.fail(.timedOut(.total))
        }
    }

    /// Whoever sends one request after the other comes back at once with the next. Falling asleep
    /// and being woken costs both of us more than looking for it some microseconds longer. A job may
    /// be what brings it, so none has to wait for that.
    private func linger() {
        for _ in 0..<Self.glances {
            guard !isStopping, driver.inbox.isEmpty, driver.executor.runJobs() == 0 else { return }
            sched_yield()
        }
    }

    private static let glances = 60

    private func rest() {
        if cc_multi_poll(multi, driver.bell.descriptor, sleep) { driver.bell.quieten() }
    }

    private var sleep: Int32 {
        guard let alarm = admission.alarm else { return 60_000 }
        return Int32(clamping: min(max((alarm - now).wholeMilliseconds + 1, 0), 60_000))
    }

    // MARK: End

    private func cancel(_ id: UInt64) {
        guard let transfer = transfers[id] else { return }
        if admission.withdraw(id) {
            transfers[id] = nil
            transfer.fail(.cancelled)
        } else {
            settle(transfer, .cancelled)
        }
    }

    /// Ends one that is under way, for a reason of ours.
    private func settle(_ transfer: Transfer, _ reason: ClientError.Reason) {
        drop(transfer, reason)
        leave(transfer.order.server)
    }

    private func leave(_ server: String) {
        admission.leave(server)
        passOn(server)
    }

    private func drop(_ transfer: Transfer, _ reason: ClientError.Reason) {
        let uploaded = transfer.easy.map { easy in
            cc_multi_remove(multi, easy)
            return cc_easy_report(easy).uploaded
        }
        transfer.fail(reason, uploaded: uploaded ?? 0)
        forget(transfer, hasFailed: true)
    }

    private func forget(_ transfer: Transfer, hasFailed: Bool) {
        transfers[transfer.id] = nil
        guard let easy = transfer.easy.take() else { return }
        // The number of an error stays with its handle, and would be told of a connection that never began.
        if hasFailed { handles.discard(easy) } else { handles.giveBack(easy) }
    }

    private func failAll(_ reason: ClientError.Reason) {
        for id in transfers.keys.sorted() {
            guard let transfer = transfers[id] else { continue }
            if admission.withdraw(id) {
                transfers[id] = nil
                transfer.fail(reason)
            } else {
                settle(transfer, reason)
            }
        }
    }

    private func end() {
        failAll(.cancelled)
        handles.close()
        cc_multi_free(multi)
        driver.inbox.end()
        driver.executor.runJobs()
    }

    // MARK: Beside

    private var now: Duration { configuration.timekeeper.elapsed }
}

extension Ending {
    fileprivate init(code: Int32, easy: OpaquePointer) {
        kind = cc_ending_of(code)
        report = { cc_easy_report(easy) }
        lack = { Descriptors.lack }
        guard kind != CC_COMPLETE else {
            text = ""
            return
        }
        let words = String(cString: cc_easy_error(easy))
        text = words.isEmpty ? String(cString: cc_code_text(code)) : words
    }
}
