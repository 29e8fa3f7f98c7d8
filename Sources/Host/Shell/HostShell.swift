import Glibc
public import Logging
public import Sync
public import System

/// The life of a host, from taking its state directory to letting go of it.
public struct HostShell: Sendable {
    private let settings: HostSettings
    private let premises: HostServer.Premises
    private let logbook: Logbook
    private let closing: HostServer.Closing
    private let abandon: @Sendable () -> Void

    /// - Parameter abandon: Ends the process at once, whatever it waits for; nil for the system's way.
    public init(
        _ settings: HostSettings,
        premises: HostServer.Premises,
        logbook: Logbook,
        closing: HostServer.Closing = HostServer.Closing(),
        abandon: (@Sendable () -> Void)? = nil
    ) {
        self.settings = settings
        self.premises = premises
        self.logbook = logbook
        self.closing = closing
        self.abandon = abandon ?? { _exit(1) }
    }

    /// Takes as many files and sockets as this process may have, before anything is opened.
    public static func claimDescriptors() throws(ShellError) {
        let count = Descriptors.claim()
        guard count >= Allotment.least else { throw .tooFewDescriptors(count) }
    }

    /// Serves until it is told to end.
    ///
    /// - Parameters:
    ///   - reread: The settings as they would be after a new start.
    ///   - wire: Furnishes the rooms. The state directory is this host's own by then.
    ///   - opened: Hears when everybody can come in, before that is announced.
    public func serve(
        until signals: AsyncStream<Signal>,
        reread: () throws(SettingFlaw) -> HostSettings,
        wire: (StateDirectory, HostServer.Premises) async throws -> Interior,
        opened: (HostServer.Addresses) async -> Void = { _ in }
    ) async throws {
        try settings.requireListeners(premises.activation)
        let start = Shift()
        let (heard, listener) = AsyncStream<Signal>.makeStream()
        try await withThrowingDiscardingTaskGroup { services in
            services.addTask { await pass(signals, on: listener, during: start) }
            try await serve(until: heard, from: start, reread, wire, opened)
            services.cancelAll()
        }
    }

    /// Passes on what comes, also while the host starts. Where that waits for a disk that does not answer, nobody else
    /// would hear of it.
    private func pass(
        _ signals: AsyncStream<Signal>,
        on listener: AsyncStream<Signal>.Continuation,
        during start: Shift
    ) async {
        for await signal in signals {
            listener.yield(signal)
            guard signal == .hangUp else { break }
        }
        listener.finish()
        let limit = closing.within + closing.leaving
        guard !start.isOver, (try? await premises.timekeeper.sleep(for: limit)) != nil,
            !start.isOver
        else { return }
        premises.log.error(
            "The host was to end while it started, and waits no longer for that. What was acknowledged is kept."
        )
        abandon()
    }

    private func serve(
        until signals: AsyncStream<Signal>,
        from start: Shift,
        _ reread: () throws(SettingFlaw) -> HostSettings,
        _ wire: (StateDirectory, HostServer.Premises) async throws -> Interior,
        _ opened: (HostServer.Addresses) async -> Void
    ) async throws {
        let directory = try StateDirectory(settings.state)
        takeFromOthers(directory)
        warnOfStrangers(in: directory)
        // Whoever waits for the file is not to find that of an earlier run.
        if let file = settings.readyFile { Files.withdraw(file) }
        let tokens = try TokenCabinet(state: settings.state, timekeeper: premises.timekeeper)
        let interior = try await wire(directory, premises)
        start.end()
        let server: HostServer
        do {
            server = try await HostServer.open(
                settings,
                household: interior.household,
                inside: interior.inside,
                tokens: tokens,
                tally: interior.tally,
                premises: premises
            )
        } catch {
            await withDiscardingTaskGroup { leaving in
                leaving.addTask { await abandonUnlessDone(within: closing.leaving) }
                await interior.close()
                leaving.cancelAll()
            }
            await interior.conclude()
            throw error
        }
        try await serve(server, interior, until: signals, opened) {
            await reload(tokens, interior, reread)
        }
    }

    private func serve(
        _ server: HostServer,
        _ interior: Interior,
        until signals: AsyncStream<Signal>,
        _ opened: (HostServer.Addresses) async -> Void,
        reload: () async -> Void
    ) async throws(ShellError) {
        var failure: ShellError?
        await withDiscardingTaskGroup { services in
            services.addTask { await interior.run() }
            await opened(server.addresses)
            do throws(ShellError) {
                try server.announce(readyFile: settings.readyFile)
                await server.serve(until: signals, isAlive: interior.isAlive, reload: reload)
            } catch {
                failure = error
            }
            let closing = failure == nil ? closing : closing.atOnce
            await close(server, interior, closing)
            services.cancelAll()
        }
        if let failure { throw failure }
    }

    private func close(
        _ server: HostServer,
        _ interior: Interior,
        _ closing: HostServer.Closing
    ) async {
        await withDiscardingTaskGroup { leaving in
            leaving.addTask { await abandonUnlessDone(within: closing.within + closing.leaving) }
            await server.close(closing, hangUp: interior.hangUp, giveUp: interior.giveUp) {
                await interior.close()
                // From here on it is not the disk that is waited for.
                leaving.cancelAll()
                await interior.conclude()
            }
        }
    }

    /// A flush that never returns cannot be called off, and keeps everybody who waits for it.
    private func abandonUnlessDone(within limit: Duration) async {
        guard (try? await premises.timekeeper.sleep(for: limit)) != nil else { return }
        premises.log.error(
            "The disk does not answer, and the host ends without its last flush. What was acknowledged is kept."
        )
        abandon()
    }

    private func takeFromOthers(_ directory: StateDirectory) {
        let opened = directory.makePrivate(
            with: TokenFile.names + [HostKey.fileName, FileCache.directoryName]
        )
        guard !opened.isEmpty else { return }
        let log = premises.log.with("path", directory.path)
            .with("opened", opened.joined(separator: ", "))
        // A token that somebody has read or added is good for as long as nobody revokes it.
        if opened.contains(where: { (["."] + TokenFile.names).contains($0) }) {
            log.warning(
                "What others could do with the host's files was taken from them. Look through its tokens."
            )
        } else {
            log.notice("What others could do with the host's files was taken from them.")
        }
    }

    /// What somebody else may put in the place of ours, no mode of a file keeps from them.
    private func warnOfStrangers(in directory: StateDirectory) {
        var status = stat()
        guard stat(directory.path, &status) == 0,
            // Where the sticky bit is set, nobody can take away what is ours.
            status.st_mode & 0o022 != 0, status.st_mode & 0o1000 == 0
        else { return }
        premises.log.warning(
            "Others may write to the state directory. Take that from them: chmod go-w.",
            ["path": directory.path]
        )
    }

    /// Takes over what can change while the host runs, and says what has to wait.
    private func reload(
        _ tokens: TokenCabinet,
        _ interior: Interior,
        _ reread: () throws(SettingFlaw) -> HostSettings
    ) async {
        do {
            // Tokens come last, for they count as soon as they are read.
            let changed = try reread()
            try await tokens.reload()
            logbook.setLevel(changed.logLevel)
            let waiting = settings.differences(from: changed).filter {
                !Self.changeable.contains($0)
            }
            let level = changed.logLevel
            let fields: LogFields =
                waiting.isEmpty
                ? ["logLevel": level]
                : ["logLevel": level, "afterRestart": waiting.joined(separator: ", ")]
            premises.log.notice("Tokens and the log's level were read again.", fields)
            rereadTrust(changed.extraAuthorities, interior)
        } catch {
            premises.log.error(
                "Nothing was changed, because what was read is not right.",
                because: error
            )
        }
    }

    private static let changeable = ["log-level", "extra-ca"]

    private func rereadTrust(_ path: String?, _ interior: Interior) {
        let log = premises.log.with("path", path ?? "none")
        do {
            guard try interior.trust(path) else { return }
            log.notice("The authorities that servers are trusted by were read again.")
        } catch {
            log.error(
                "The authorities that servers are trusted by could not be read again; those of before count.",
                because: error
            )
        }
    }
}
