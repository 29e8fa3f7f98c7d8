import CWebsockets

/// One socket, from its opening to its end.
// @unchecked because everything that changes is touched by the driver's thread only, from the moment
// the link is handed to it.
final class WebSocketLink: @unchecked Sendable {
    typealias Outcome = Result<Void, WebSocketError.Reason>

    let id: UInt64
    let order: WebSocketOrder
    let pipe: MessagePipe

    private var opener: CheckedContinuation<Outcome, Never>?
    private var assembly: Assembly
    private var letters = Line<UInt64, Letter>()
    private var wantsPing = false
    private var wantsGoodbye = false
    private(set) var isPaused = false
    private(set) var isOpen = false
    /// Why a callback of ours ended the socket.
    private var verdict: WebSocketError.Reason?

    /// Where it may still be reached, when it is not where it was tried first.
    var addresses: ArraySlice<String> = []
    var socket: OpaquePointer?
    /// When something was last heard, and when the server was last asked.
    var heard: Duration = .zero
    var asked: Duration = .zero
    private(set) var deadline: Duration = .zero
    /// When the address that is being tried has to make way for the next.
    private(set) var patience: Duration = .zero
    var isMakingWay = false

    init(
        id: UInt64,
        order: WebSocketOrder,
        pipe: MessagePipe,
        messageLimit: Int,
        opener: CheckedContinuation<Outcome, Never>
    ) {
        self.id = id
        self.order = order
        self.pipe = pipe
        self.opener = opener
        assembly = Assembly(limit: messageLimit)
    }

    /// It is to be open by then.
    func begin(deadline: Duration) {
        self.deadline = deadline
        patience = deadline
    }

    // MARK: When to look after it

    /// What is to be done about it at that moment, and when to look again.
    func care(at now: Duration, _ bounds: WebSocketClient.Configuration) -> Care {
        guard isOpen else { return careToOpen(at: now) }
        // While nobody reads, nothing can be heard.
        if isPaused { heard = now }
        if heard + bounds.silenceLimit <= now { return .end(.silent) }
        let ask = max(asked, heard) + bounds.pingInterval
        let next = min(heard + bounds.silenceLimit, ask > now ? ask : now + bounds.pingInterval)
        if ask > now { return .wait(until: next) }
        asked = now
        return .ping(thenWaitUntil: next)
    }

    private func careToOpen(at now: Duration) -> Care {
        if deadline <= now { return .end(.timedOut) }
        return patience <= now ? .tryNext : .wait(until: min(patience, deadline))
    }

    enum Care: Equatable {
        case wait(until: Duration)
        /// The address that is being tried has had its time.
        case tryNext
        case ping(thenWaitUntil: Duration)
        case end(WebSocketError.Reason)
    }

    /// The address to try now. Each has its share of the time that is left, so that one which never
    /// answers does not hide those after it.
    func nextAddress(at now: Duration) -> String? {
        let count = addresses.count
        guard let address = addresses.popFirst() else { return nil }
        patience = now + max(deadline - now, .zero) / count
        return address
    }

    // MARK: What the library tells

    func open() {
        isOpen = true
        opener.take()?.resume(returning: .success(()))
    }

    /// - Returns: Whether the socket goes on.
    func take(_ piece: UnsafeRawBufferPointer, isText: Bool, isLast: Bool) -> Bool {
        switch assembly.take(piece, isText: isText, isLast: isLast) {
        case .more: break
        case .whole(let message): if !pipe.put(message) { pause() }
        case .tooLarge:
            verdict = .tooLarge(limit: assembly.limit)
            socket.map { cw_set_goodbye($0, 1009) }
            return false
        case .noText:
            verdict = .malformed("what is said to be text is none")
            socket.map { cw_set_goodbye($0, 1007) }
            return false
        }
        return true
    }

    /// Sends one thing of those that wait.
    ///
    /// - Returns: Whether the socket goes on.
    func write() -> Bool {
        guard let socket else { return false }
        if wantsPing {
            wantsPing = false
            guard Frame(.text("")).write(to: socket, as: CW_PING) else { return lose() }
        } else if let letter = letters.popFirst() {
            let kind = letter.message.kind
            let isSent = Frame(letter.message).write(to: socket, as: kind)
            letter.sender?.resume(returning: isSent ? .success(()) : .failure(.connectionLost))
            guard isSent else { return lose() }
        } else if wantsGoodbye {
            return false
        }
        if wantsGoodbye || wantsPing || !letters.isEmpty { cw_ask_to_write(socket) }
        return true
    }

    private func lose() -> Bool {
        verdict = verdict ?? .connectionLost
        return false
    }

    // MARK: What others want

    func post(_ letter: Letter) {
        guard isOpen, let socket, !wantsGoodbye else {
            letter.sender?.resume(returning: .failure(.closed))
            return
        }
        letters.append(letter, ticket: letter.ticket)
        cw_ask_to_write(socket)
    }

    func takeBack(_ ticket: UInt64) {
        letters.remove(ticket)?.sender?.resume(returning: .failure(.cancelled))
    }

    func ping() {
        guard let socket else { return }
        wantsPing = true
        cw_ask_to_write(socket)
    }

    func sayGoodbye(_ code: UInt16) {
        guard isOpen, let socket, !wantsGoodbye else { return }
        wantsGoodbye = true
        cw_set_goodbye(socket, code)
        cw_ask_to_write(socket)
        // The answer has to be heard even if nobody reads.
        resume()
    }

    func resume() {
        guard isPaused, let socket else { return }
        isPaused = false
        cw_read(socket, true)
    }

    private func pause() {
        guard !wantsGoodbye, let socket else { return }
        isPaused = true
        cw_read(socket, false)
    }

    // MARK: The end

    /// Whether somebody has said why the socket ends.
    var isCondemned: Bool { verdict != nil }

    func condemn(_ reason: WebSocketError.Reason) { verdict = verdict ?? reason }

    func end(_ ending: cw_ending, status: Int32, text: String) {
        end(with: verdict ?? reason(ending, status, text))
    }

    /// `nil` is an end in good order.
    func end(with reason: WebSocketError.Reason?) {
        isOpen = false
        socket = nil
        opener.take()?.resume(returning: .failure(reason ?? .connectionLost))
        while let letter = letters.popFirst() {
            letter.sender?.resume(returning: .failure(reason ?? .closed))
        }
        guard let reason else { return pipe.finish(.success(())) }
        let error = WebSocketError(reason: reason, server: order.target.origin)
        reason == .cancelled ? pipe.abandon(error) : pipe.finish(.failure(error))
    }

    private func reason(
        _ ending: cw_ending,
        _ status: Int32,
        _ text: String
    ) -> WebSocketError.Reason? {
        switch ending {
        case CW_CLOSED: nil
        case CW_UNREACHABLE: .unreachable
        case CW_UNTRUSTED: .untrusted(text)
        case CW_REFUSED: .refused(Status(rawValue: Int(status)))
        case CW_MALFORMED: .malformed(text)
        default: wantsGoodbye && isOpen ? nil : .connectionLost
        }
    }
}

/// The bytes of a message with room before them, where the library puts its header.
private struct Frame {
    private var bytes: [UInt8]

    init(_ message: WebSocketMessage) {
        bytes = [UInt8](repeating: 0, count: cw_headroom)
        switch message {
        case .text(let text): bytes += text.utf8
        case .binary(let content): bytes += content
        }
    }

    consuming func write(to socket: OpaquePointer, as kind: cw_frame) -> Bool {
        let count = bytes.count - cw_headroom
        return bytes.withUnsafeMutableBufferPointer { buffer in
            guard let start = buffer.baseAddress else { return false }
            return cw_write(socket, start + cw_headroom, count, kind)
        }
    }
}

extension WebSocketMessage {
    fileprivate var kind: cw_frame {
        switch self {
        case .text: CW_TEXT
        case .binary: CW_BINARY
        }
    }
}
