import CCurl

/// One exchange with a server.
// @unchecked because everything that changes is touched by the driver's thread only, from the moment
// the transfer is handed to it.
final class Transfer: @unchecked Sendable {
    struct Answer: Sendable {
        let head: ResponseHead
        let body: [UInt8]
    }

    typealias Outcome = Result<Answer, ClientError>

    let id: UInt64
    let order: Order
    /// Where the body goes; if `nil`, it is kept here until it is whole.
    let pipe: ResponsePipe?

    /// Resumed once, by whichever end comes first: it is taken from here to be resumed.
    private var answer: UnsafeContinuation<Outcome, Never>?
    private(set) var head: ResponseHead
    private var body: [UInt8] = []
    private var received = 0
    private var unpacker: Unpacker?
    private var sendings = 0
    private var hasSentAll = false
    /// Why a callback of ours ended the transfer.
    private var verdict: ClientError.Reason?

    /// What does the work, while it is under way.
    var easy: OpaquePointer?
    /// How much of its time was left when it got under way.
    var allowance: Duration = .zero
    /// Hears that there is a connection.
    var whenConnected: (() -> Void)?

    init(
        id: UInt64,
        order: Order,
        pipe: ResponsePipe?,
        configuration: Client.Configuration,
        answer: UnsafeContinuation<Outcome, Never>
    ) {
        self.id = id
        self.order = order
        self.pipe = pipe
        self.answer = answer
        head = ResponseHead(
            byteLimit: configuration.headLimit,
            fieldLimit: configuration.fieldLimit
        )
    }

    // MARK: What curl asks and tells

    /// The request is about to go out. A second time is curl's own idea, when a connection that was
    /// used again dies without a word: the server may have acted before it died, so a write is not
    /// sent again.
    func mayBeSent() -> Bool {
        sendings += 1
        head.clear()
        whenConnected.take()?()
        guard sendings > 1, !order.isRepeatable else { return true }
        hasSentAll = true
        verdict = .connectionLost
        return false
    }

    func takeHead(_ line: UnsafeRawBufferPointer) -> Bool {
        switch head.take(line) {
        case .more: return true
        case .end:
            if pipe != nil { resume(.success(Answer(head: head, body: []))) }
            return true
        case .tooLarge:
            verdict = .tooLarge(.head, limit: head.byteLimit)
            return false
        }
    }

    enum Taking { case taken, later, refused }

    func takeBody(_ bytes: UnsafeRawBufferPointer) -> Taking {
        switch head.coding {
        case .none: return take(bytes)
        case .gzip: return unpack(bytes)
        case .unknown:
            verdict = .malformedAnswer("it is encoded in a way that was not asked for")
            return .refused
        }
    }

    private func take(_ bytes: UnsafeRawBufferPointer) -> Taking {
        guard received + bytes.count <= order.bodyLimit else {
            verdict = .tooLarge(.body, limit: order.bodyLimit)
            return .refused
        }
        if let pipe {
            guard pipe.put(bytes) else { return .later }
        } else {
            if received == 0 { reserve() }
            body.append(contentsOf: bytes)
        }
        received += bytes.count
        return .taken
    }

    private func unpack(_ bytes: UnsafeRawBufferPointer) -> Taking {
        unpacker = unpacker ?? Unpacker()
        guard let unpacker else {
            verdict = .local("there is no memory to unpack the answer")
            return .refused
        }
        let outcome = unpacker.unpack(bytes) {
            pipe?.hasRoom() ?? true
        } give: {
            take($0) == .taken
        }
        switch outcome {
        case .taken: return .taken
        case .full: return .later
        case .refused: return .refused
        case .broken:
            verdict = .malformedAnswer("its body is not gzip as it says")
            return .refused
        }
    }

    /// A length is only believed as far as it costs nothing to be lied to.
    private func reserve() {
        guard let easy else { return }
        let announced = Int(cc_easy_content_length(easy))
        body.reserveCapacity(min(max(announced, 0), order.bodyLimit, 256 << 10))
    }

    func giveBody(into room: UnsafeMutableRawBufferPointer) -> Portion {
        let portion = portion(into: room)
        switch portion {
        case .end: hasSentAll = true
        case .failed(let reason): verdict = reason
        case .bytes, .later: break
        }
        return portion
    }

    private func portion(into room: UnsafeMutableRawBufferPointer) -> Portion {
        switch order.body {
        case .none, .bytes: .end
        case .pipe(let pipe): pipe.read(into: room)
        }
    }

    // MARK: The end

    func finish(with ending: Ending) -> ClientError.Reason? {
        if let reason = failure(with: ending) {
            fail(reason, uploaded: ending.report().uploaded)
            return reason
        }
        resume(.success(Answer(head: head, body: body)))
        pipe?.finish(.success(()))
        refuseMore()
        return nil
    }

    /// A connection that ends in the middle of the head counts as complete with curl.
    private func failure(with ending: Ending) -> ClientError.Reason? {
        guard verdict == nil, ending.kind == CC_COMPLETE else { return reason(for: ending) }
        guard head.isComplete else { return .connectionLost }
        if let unpacker, !unpacker.isWhole {
            return .malformedAnswer("its body ends before what was packed")
        }
        return head.status == nil ? .malformedAnswer("it has no status") : nil
    }

    /// Why it failed: what we said ourselves goes before what curl makes of it.
    func reason(for ending: Ending) -> ClientError.Reason {
        verdict ?? ending.reason(allowance: allowance)
    }

    func fail(_ reason: ClientError.Reason, uploaded: Int64 = 0) {
        let error = ClientError(
            reason: reason,
            operation: order.request.operation,
            server: order.server,
            progress: progress(uploaded: uploaded),
            proxy: Proxies.place(of: order.proxy)
        )
        resume(.failure(error))
        pipe?.finish(.failure(error))
        refuseMore()
    }

    private func refuseMore() {
        if case .pipe(let pipe) = order.body { pipe.refuse() }
    }

    private func progress(uploaded: Int64) -> ClientError.Progress {
        let isAnswered = !head.bytes.isEmpty
        guard sendings > 0 else { return .init(isAnswered: isAnswered) }
        let isWhole =
            hasSentAll || isForgotten(uploaded)
            || order.body.length.map { Int64($0) <= uploaded } ?? false
        return .init(sent: isWhole ? .whole : .part, isAnswered: isAnswered)
    }

    /// When a connection dies without a word, curl tries another and counts anew. If nobody answers there,
    /// it does not say what went over the first, which may have been all. Of what is read from us we know.
    private func isForgotten(_ uploaded: Int64) -> Bool {
        if case .bytes = order.body { uploaded == 0 } else { false }
    }

    private func resume(_ outcome: Outcome) {
        answer.take()?.resume(returning: outcome)
    }
}
