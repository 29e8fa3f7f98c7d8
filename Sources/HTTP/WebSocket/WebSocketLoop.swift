import CWebsockets
import System

/// What happens on the sockets' thread: all of libwebsockets.
final class WebSocketLoop {
    /// How many sockets one client can have.
    static let socketLimit = cw_sockets_max

    private let driver: WebSocketDriver
    private let configuration: WebSocketClient.Configuration
    private let timekeeper: any Timekeeper
    private let nameLookup: NameLookup
    private var links: [UInt64: WebSocketLink] = [:]
    /// Those that are not open yet, by the server they go to: one that never answers is not in the way of
    /// the others.
    private var porches: [String: Porch] = [:]
    /// When the links are to be looked after; perhaps too early, never too late.
    private var alarms = Ranking<UInt64, Duration>()
    private var context: OpaquePointer?
    private var isStopping = false
    /// No socket is looked at before.
    private var nextLook = Duration.zero

    init(
        _ driver: WebSocketDriver,
        configuration: WebSocketClient.Configuration,
        timekeeper: any Timekeeper,
        nameLookup: NameLookup
    ) {
        self.driver = driver
        self.configuration = configuration
        self.timekeeper = timekeeper
        self.nameLookup = nameLookup
    }

    func run() {
        var commands: [WebSocketDriver.Command] = []
        while !isStopping {
            driver.inbox.exchange(&commands)
            for command in commands { obey(command) }
            commands.removeAll(keepingCapacity: true)
            tend()
            while openNext() { tend() }
            if !isStopping && driver.inbox.maySleep() { rest() }
        }
        end()
    }

    private func rest() {
        guard let context else { return driver.waker.awaitCall() }
        if awaitNextLook() { cw_serve(context) }
    }

    /// The library looks at all sockets whenever one of them has something to say. With many of them it
    /// does so less often, and finds more at once.
    ///
    /// - Returns: Whether it is time. If not, there are commands.
    private func awaitNextLook() -> Bool {
        let now = timekeeper.elapsed
        if now < nextLook, driver.waker.nap(for: nextLook - now) { return false }
        let distance = min(Self.distancePerSocket * links.count, Self.longestDistance)
        // A shorter one is not worth a nap.
        if distance >= .milliseconds(1) { nextLook = max(now, nextLook) + distance }
        return true
    }

    private static let distancePerSocket = Duration.microseconds(10)
    private static let longestDistance = Duration.milliseconds(10)

    /// In seconds. The library's own timers are for what we forget.
    private static let extraPatience: Int64 = 30

    /// Made for the first socket: all authorities that the machine trusts are read for it, which takes
    /// longer than all else at a host's start.
    private func requireContext() -> Bool {
        if context == nil {
            context = makeContext()
            driver.waker.set(context)
        }
        return context != nil
    }

    private func makeContext() -> OpaquePointer? {
        var callbacks = WebSocketCallbacks.table()
        let patience = UInt32(
            clamping: configuration.connectDeadline.components.seconds + Self.extraPatience
        )
        guard let path = configuration.extraAuthoritiesPath else {
            return cw_context_new(nil, patience, &callbacks)
        }
        return path.withCString { cw_context_new($0, patience, &callbacks) }
    }

    private func obey(_ command: WebSocketDriver.Command) {
        switch command {
        case .open(let link): begin(link)
        case .resolved(let id, let answer): links[id].map { connect($0, to: answer) }
        case .cancel(let id): links[id].map { kill($0, .cancelled) }
        case .resume(let id): links[id].map(resume)
        case .send(let id, let letter):
            guard let link = links[id] else {
                letter.sender?.resume(returning: .failure(.closed))
                return
            }
            link.post(letter)
        case .takeBack(let id, let ticket): links[id]?.takeBack(ticket)
        case .goodbye(let id, let code): links[id]?.sayGoodbye(code)
        case .count(let answer): answer.resume(returning: links.count)
        case .stop: isStopping = true
        }
    }

    // MARK: Open

    private func begin(_ link: WebSocketLink) {
        guard !isStopping else { return link.end(with: .cancelled) }
        links[link.id] = link
        link.begin(deadline: timekeeper.elapsed + configuration.connectDeadline)
        alarms.set(link.id, at: link.deadline)
        let limit = min(Self.socketLimit, configuration.socketLimit)
        guard links.count <= limit else {
            return finish(link, .local("there are \(limit) sockets already"))
        }
        guard requireContext() else {
            return finish(link, .local("libwebsockets cannot be set up"))
        }
        let (host, inbox) = (link.order.nextHost, driver.inbox)
        guard addressBytes(host) == nil else { return connect(link, to: .success([host])) }
        nameLookup.ask(host, for: link.id) { inbox.post(.resolved($0, $1)) }
    }

    private func connect(_ link: WebSocketLink, to answer: NameLookup.Answer) {
        switch answer {
        case .failure(let error): finish(link, .local("names cannot be looked up: \(error)"))
        case .success([]): finish(link, .unresolvable)
        case .success(let addresses):
            link.addresses = addresses[...]
            porches[link.order.target.origin, default: Porch()].line.append(link, ticket: link.id)
        }
    }

    /// - Returns: Whether there was anybody whose turn it was.
    private func openNext() -> Bool {
        if isStopping { return false }
        let links = porches.keys.flatMap { porches[$0]?.admit() ?? [] }
        for link in links { open(link) }
        return !links.isEmpty
    }

    /// Whose time is all but over in line is not worth the server's trouble.
    private func open(_ link: WebSocketLink) {
        let left = link.deadline - timekeeper.elapsed
        guard left > configuration.connectDeadline / 20 else { return finish(link, .timedOut) }
        tryNext(link, otherwise: .unreachable)
    }

    private func leavePorch(_ link: WebSocketLink) {
        let origin = link.order.target.origin
        porches[origin]?.remove(link.id)
        if porches[origin]?.isQuiet == true { porches[origin] = nil }
    }

    /// One address after the other, until one lets itself be tried.
    private func tryNext(_ link: WebSocketLink, otherwise reason: WebSocketError.Reason) {
        guard let context else { return }
        while let address = link.nextAddress(at: timekeeper.elapsed) {
            alarms.set(link.id, at: link.patience)
            let owner = Unmanaged.passRetained(Attempt(link: link, loop: self))
            link.socket = open(link.order, at: address, in: context, owner: owner.toOpaque())
            if link.socket != nil { return }
            owner.release()
        }
        finish(link, reason)
    }

    private func open(
        _ order: WebSocketOrder,
        at address: String,
        in context: OpaquePointer,
        owner: UnsafeMutableRawPointer
    ) -> OpaquePointer? {
        withCStrings([
            address, order.target.host, order.hostField, order.target.path, order.headerLines,
            order.proxy?.credentials ?? "",
        ]) { texts in
            var target = cw_target(
                address: texts[0],
                name: texts[1],
                host_field: texts[2],
                port: Int32(order.target.port),
                is_secure: order.target.scheme == "wss",
                path: texts[3],
                header_lines: texts[4],
                proxy_credentials: order.proxy == nil ? nil : texts[5],
                proxy_port: Int32(order.proxy?.port ?? 0)
            )
            return cw_open(context, owner, &target)
        }
    }

    // MARK: Watch

    /// Sees to deadlines, pings and silence, and sets the alarm for the next of them.
    private func tend() {
        let now = timekeeper.elapsed
        while let id = alarms.takeFirst(upTo: now) {
            links[id].map { tend($0, now) }
        }
        guard let context, let next = alarms.first?.rank else { return }
        cw_alarm(context, max((next - now).microseconds, 1_000))
    }

    private func tend(_ link: WebSocketLink, _ now: Duration) {
        switch link.care(at: now, configuration) {
        case .end(let reason): kill(link, reason)
        case .tryNext: passOver(link)
        case .wait(let moment): alarms.set(link.id, at: moment)
        case .ping(let moment):
            alarms.set(link.id, at: moment)
            link.ping()
        }
    }

    /// Ends the attempt that is under way, but not the link.
    private func passOver(_ link: WebSocketLink) {
        link.isMakingWay = true
        link.socket.map(cw_kill)
        link.isMakingWay = false
        tryNext(link, otherwise: .timedOut)
    }

    func hasOpened(_ link: WebSocketLink) {
        leavePorch(link)
        hasHeard(link)
        alarms.set(link.id, at: link.heard + configuration.pingInterval)
        link.open()
    }

    func hasHeard(_ link: WebSocketLink) {
        link.heard = timekeeper.elapsed
    }

    private func resume(_ link: WebSocketLink) {
        hasHeard(link)
        link.resume()
    }

    // MARK: End

    /// The last word of an attempt: the link ends, or has another address to try.
    func attemptEnded(
        _ link: WebSocketLink,
        _ ending: cw_ending,
        _ status: Int32,
        _ text: String
    ) {
        link.socket = nil
        guard !link.isMakingWay else { return }
        let mayGoOn = !link.isOpen && !link.isCondemned && !link.addresses.isEmpty
        if mayGoOn && ending == CW_UNREACHABLE { return tryNext(link, otherwise: .unreachable) }
        forget(link)
        link.end(ending, status: status, text: text)
    }

    private func kill(_ link: WebSocketLink, _ reason: WebSocketError.Reason) {
        guard let socket = link.socket else { return finish(link, reason) }
        link.condemn(reason)
        cw_kill(socket)
    }

    private func finish(_ link: WebSocketLink, _ reason: WebSocketError.Reason) {
        forget(link)
        nameLookup.withdraw(link.id)
        link.end(with: reason)
    }

    private func forget(_ link: WebSocketLink) {
        links[link.id] = nil
        leavePorch(link)
        alarms.remove(link.id)
    }

    private func end() {
        var commands: [WebSocketDriver.Command] = []
        driver.stop()
        driver.inbox.exchange(&commands)
        for command in commands { obey(command) }
        for link in Array(links.values) { kill(link, .cancelled) }
        driver.waker.set(nil)
        if let context { cw_context_free(context) }
        driver.inbox.end()
    }
}

/// Before a server: those that are being opened, and those in line.
///
/// The library has 30 KB for each that it is opening, and when a server is back, all want it to.
private struct Porch {
    static let openedAtOnce = 64

    private var opening: Set<UInt64> = []
    var line = Line<UInt64, WebSocketLink>()

    var isQuiet: Bool { opening.isEmpty && line.isEmpty }

    mutating func admit() -> [WebSocketLink] {
        var admitted: [WebSocketLink] = []
        while opening.count < Self.openedAtOnce, let link = line.popFirst() {
            opening.insert(link.id)
            admitted.append(link)
        }
        return admitted
    }

    mutating func remove(_ id: UInt64) {
        opening.remove(id)
        line.remove(id)
    }
}

private func withCStrings<Result>(
    _ texts: [String],
    _ body: ([UnsafePointer<CChar>]) -> Result
) -> Result {
    func add(_ rest: ArraySlice<String>, _ pointers: [UnsafePointer<CChar>]) -> Result {
        guard let text = rest.first else { return body(pointers) }
        return text.withCString { add(rest.dropFirst(), pointers + [$0]) }
    }
    return add(texts[...], [])
}

extension Duration {
    fileprivate var microseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds * 1_000_000 + attoseconds / 1_000_000_000_000
    }
}
