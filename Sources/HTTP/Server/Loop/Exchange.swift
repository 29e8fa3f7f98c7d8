import CMicrohttpd

/// One request and its answer, from the request line to the last byte sent.
///
/// Lives on the loop's thread, its task too; what other threads may touch are its inlet and its
/// outlet, and the order to be roused.
// @unchecked because the loop's thread is the only one that reads or changes it: the library calls
// on that thread, and the task's executor is that thread.
final class Exchange: @unchecked Sendable {
    enum Stage {
        /// The request line is there.
        case targeted
        /// The handler decides whether it wants the body, before the client is told to send it.
        case deciding
        case body
        /// The request is whole.
        case whole
        case answered
        case over
    }

    let loop: ServerLoop
    let connection: Connection
    let target: [UInt8]
    private(set) var stage = Stage.targeted
    private var handle: OpaquePointer?
    private var head: RequestHead?
    private var inlet: Inlet?
    private(set) var outlet: Outlet?
    private var response: Response?
    private var handover: Handover?
    private var task: Task<Void, Never>?
    private var isParked = false
    private var isDoomed = false
    private(set) var received = 0
    private var bodyStart = Duration.zero
    private var sending = Sending()

    init(loop: ServerLoop, connection: Connection, target: [UInt8]) {
        self.loop = loop
        self.connection = connection
        self.target = target
    }
}

// MARK: What the library says

extension Exchange {
    /// - Returns: Whether the connection may live on.
    func called(_ handle: OpaquePointer, _ bytes: UnsafeRawBufferPointer) -> Bool {
        self.handle = handle
        if isDoomed { return false }
        switch stage {
        case .targeted: return begin()
        case .deciding: return decide()
        case .body where bytes.isEmpty: return becomeWhole()
        case .body: return take(bytes)
        case .whole: return answerOrRest()
        case .answered, .over: return true
        }
    }

    /// The library has forgotten it. Everybody who still works for it is told.
    ///
    /// - Parameter isDelivered: The answer is with the client, from beginning to end.
    func completed(isDelivered: Bool) {
        stage = .over
        handle = nil
        isParked = false
        inlet?.end(.failed(.clientLeft))
        outlet?.end(isDelivered ? .delivered : .clientLeft)
        handover?.fail()
        if !isDelivered { task?.cancel() }
        task = nil
    }

    private func begin() -> Bool {
        let request: Request
        do {
            request = try readRequest()
        } catch {
            connection.hasUnreadRequest = true
            return deliver(loop.answer(to: error))
        }
        guard let inlet else {
            // The answer waits for the second call, which follows at once: after an answer to the
            // first, the library closes the connection.
            stage = .whole
            connection.enter(.handling, until: nil)
            start(request)
            return true
        }
        stage = head?.expectsContinue == true ? .deciding : .body
        bodyStart = loop.now
        connection.enter(.body, until: bodyDeadline)
        loop.look(at: connection)
        start(request)
        return stage == .deciding ? decide() : refuseUnread(inlet)
    }

    private func decide() -> Bool {
        if let response {
            connection.hasUnreadRequest = true
            return deliver(response)
        }
        if inlet?.isWanted == true {
            stage = .body
            bodyStart = loop.now
            connection.enter(.body, until: bodyDeadline)
            loop.look(at: connection)
            return true
        }
        park()
        return true
    }

    /// A handler that has answered without the body spares a client the sending of a large one.
    private func refuseUnread(_ inlet: Inlet) -> Bool {
        guard let response, (inlet.declaredLength ?? .max) > loop.patience else { return true }
        connection.hasUnreadRequest = true
        return deliver(response)
    }

    private func take(_ bytes: UnsafeRawBufferPointer) -> Bool {
        received += bytes.count
        if let response { return passOver(for: response) }
        let room = inlet?.push(Array(bytes)) ?? .plenty
        loop.runJobs()
        switch room {
        case .exceeded:
            return breakOff(with: response)
        case .full: loop.restAfterRun(self)
        case .plenty:
            connection.enter(.body, until: bodyDeadline)
            loop.look(at: connection)
        }
        return true
    }

    /// An answer that is held back only until a body has gone by which nobody wants.
    var heldBack: Response? {
        guard stage == .body, let response, response.isSaidAtOnce else { return nil }
        return response
    }

    /// Lets a body go by that nobody wants any more, up to where that costs more than a new
    /// connection. The library takes no answer in the middle of a body, so then it goes past it.
    private func passOver(for response: Response) -> Bool {
        // Whoever still reads must not take what was there for the whole.
        inlet?.end(.failed(.cancelled))
        guard received > loop.patience else { return true }
        return breakOff(with: response)
    }

    /// Answers in the middle of a body and ends the connection.
    private func breakOff(with response: Response?) -> Bool {
        if case .cut(let isReset) = response?.body {
            connection.vanish(isReset: isReset)
            return false
        }
        let answer = response.flatMap { $0.isSaidAtOnce ? $0 : nil }
        connection.say(answer ?? Refusal.bodyTooLarge.response)
        return false
    }

    private func becomeWhole() -> Bool {
        stage = .whole
        connection.enter(.handling, until: nil)
        inlet?.end(.complete)
        loop.runJobs()
        return answerOrRest()
    }

    private func answerOrRest() -> Bool {
        if let response { return deliver(response) }
        loop.restAfterRun(self)
        return true
    }

    private var bodyDeadline: Duration {
        bodyStart + loop.limits.bodyTime + loop.limits.time(for: received)
    }
}

// MARK: The request

extension Exchange {
    private func readRequest() throws(Refusal) -> Request {
        guard let handle else { throw .malformed("") }
        let read = try HeadReader.read(handle, target: target, limits: loop.limits)
        head = read
        inlet = makeInlet(read.framing)
        return Request(
            read.method,
            read.target,
            headers: read.headers,
            body: inlet.map { RequestBody(source: .inlet($0)) } ?? .none,
            peer: connection.peer,
            door: connection.door
        )
    }

    private func makeInlet(_ framing: RequestHead.Framing) -> Inlet? {
        let length: Int? =
            switch framing {
            case .none: 0
            case .length(let length): length
            case .chunked: nil
            }
        if length == 0 { return nil }
        return Inlet(declaredLength: length, capacity: loop.patience, limit: loop.limits.body) {
            [weak self] in
            if let self { loop.rouse(self) }
        }
    }

    private func start(_ request: Request) {
        loop.handlers += 1
        // The library's call is the root here: there is no task to be a child of. It is the loop
        // that waits for it, and its end is what `stop` waits for. Immediate, because most handlers
        // are through before the call is over, and then nothing has to be parked or roused.
        task = Task.immediate(executorPreference: loop.executor) { [self] in
            await respond(to: request)
            loop.handlers -= 1
        }
        loop.runJobs()
    }

    private func respond(to request: Request) async {
        let response = await loop.handler(request)
        switch response.body {
        case .stream(_, let produce) where request.method != .head:
            await answer(response, producing: produce)
        case .upgrade(let take): await answer(response, handingOverTo: take)
        case .bytes, .fixed, .stream, .cut: answer(response)
        }
    }

    private func answer(
        _ response: Response,
        producing produce: @Sendable (BodyWriter) async throws -> Void
    ) async {
        let outlet = Outlet(capacity: loop.patience) { [weak self] in
            if let self { loop.rouse(self) }
        }
        self.outlet = outlet
        if stage == .over { outlet.end(.clientLeft) }
        answer(response)
        do {
            try await produce(BodyWriter(sink: .outlet(outlet)))
            outlet.end(.complete)
        } catch {
            outlet.end(.broken)
        }
    }

    private func answer(
        _ response: Response,
        handingOverTo take: @Sendable (UpgradedConnection) async -> Void
    ) async {
        guard stage != .over else { return }
        let handover = Handover()
        self.handover = handover
        answer(response)
        guard let connection = await handover.connection() else { return }
        await take(connection)
        handover.takeBack()
        loop.mustRun = true
    }

    private func answer(_ response: Response) {
        guard stage != .over else { return }
        self.response = response
        loop.rouse(self)
    }
}

// MARK: The answer

extension Exchange {
    private func deliver(_ response: Response) -> Bool {
        guard let handle else { return false }
        stage = .answered
        self.response = nil
        if case .cut(let isReset) = response.body {
            connection.vanish(isReset: isReset)
            return false
        }
        if case .upgrade = response.body, head?.mayUpgrade != true {
            return deliver(Refusal.notUpgradable.response)
        }
        if isTooMuch(response) { return deliver(Refusal.tooManyAnswers.response) }
        if head?.method == .head, response.length == nil {
            // The library would end a body without a length even where there is none, and the next
            // answer on the connection would begin with that.
            connection.say(response)
            return false
        }
        let closes = closes(after: response)
        let answer = LibraryResponse(response, exchange: self, closes: closes)
        sending = Sending()
        if response.isHere {
            let time = loop.limits.answerTime + loop.limits.time(for: response.length ?? 0)
            sending.end = loop.now + time
        }
        goOnAnswering()
        return answer.send(to: handle)
    }

    /// What an edit came to is told in any case.
    private func isTooMuch(_ response: Response) -> Bool {
        guard head?.method == .get, case .bytes(let bytes) = response.body,
            bytes.count > LibraryResponse.copied
        else { return false }
        return loop.answering > 0 && loop.answering + bytes.count > loop.limits.answers
    }

    private func goOnAnswering() {
        connection.enter(.answering, until: loop.now + loop.limits.answerTime)
        loop.look(at: connection)
    }

    private func closes(after response: Response) -> Bool {
        if case .upgrade = response.body { return false }
        return loop.isDraining || head?.framing == .chunked || head == nil
    }

    /// The answer has gone out, and the connection speaks another protocol now.
    func upgraded(_ line: OpaquePointer, _ received: [UInt8]) {
        let connection = UpgradedConnection(
            descriptor: connection.descriptor,
            received: received
        )
        handover?.give(connection, line)
    }

    /// The library asks for more of a stream; what it had is with the client by now.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> Int64 {
        if isDoomed { return Int64(CM_READ_BROKEN) }
        switch outlet?.move(into: buffer) ?? .broken {
        case .bytes(let count):
            goOnAnswering()
            return Int64(count)
        case .nothingYet:
            loop.restAfterRun(self)
            return 0
        case .complete: return Int64(CM_READ_END)
        case .broken: return Int64(CM_READ_BROKEN)
        }
    }
}

// MARK: Clients that take their time

/// How far an answer has gone.
private struct Sending {
    /// Until when the client has to have all of it, if it lies here whole.
    var end: Duration?
    /// Up to where the library has fetched it.
    var position = 0
    /// How it was at the last look.
    var seen: Mark?

    struct Mark: Equatable {
        let position: Int
        let unsent: Int32
    }
}

extension Exchange {
    /// The library asks for the bytes from there on.
    func isAsked(from position: Int) { sending.position = position }

    /// Whether the client has taken any of the answer since the last look. What a socket holds is asked for, too: to
    /// take that alone may be long for a slow client.
    func isBeingTaken() -> Bool {
        let mark = Sending.Mark(
            position: sending.position,
            unsent: cm_unsent(connection.descriptor)
        )
        guard mark != sending.seen, sending.end.map({ loop.now < $0 }) ?? true else { return false }
        sending.seen = mark
        goOnAnswering()
        return true
    }
}

// MARK: Rest

extension Exchange {
    /// Takes the connection out of the library's hands until there is something to do.
    ///
    /// Inside a call of the library's only where it would otherwise ask the client for more.
    private func park() {
        guard let handle, !isParked else { return }
        isParked = true
        loop.leaveAlone(connection)
        cm_suspend(handle)
    }

    /// The library's run is over and it still wants what is not there.
    ///
    /// Not earlier: a connection that is suspended inside a call is read from when it is resumed,
    /// and a client that has closed its sending side would be dropped instead of answered.
    func rest() {
        if isDoomed || response != nil { loop.mustRun = true } else { park() }
    }

    /// The one place where a connection is resumed, once for each time it was parked.
    func wake() {
        guard isParked, let handle else { return }
        isParked = false
        goOn()
        cm_resume(handle)
        loop.mustRun = true
    }

    private func goOn() {
        switch stage {
        case .body:
            // A reader that takes its time is not held against the client.
            bodyStart = loop.now - loop.limits.time(for: received)
            connection.enter(.body, until: bodyDeadline)
        case .answered: return goOnAnswering()
        case .targeted, .deciding, .whole, .over: return
        }
        loop.look(at: connection)
    }

    /// The client has left, or has to.
    func doom() {
        isDoomed = true
        inlet?.end(.failed(.clientLeft))
        outlet?.end(.clientLeft)
        task?.cancel()
        wake()
    }
}
