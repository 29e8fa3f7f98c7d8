import CCurl

/// The doors through which curl reaches a ``Transfer``.
///
/// Static members of a nonisolated type: a closure literal in isolated code would inherit the
/// isolation and trap on the driver's thread.
enum TransferCallbacks {
    static func table() -> cc_callbacks {
        cc_callbacks(head: head, body: body, upload: upload, sending: sending)
    }

    private typealias Sink =
        @convention(c) (UnsafeMutablePointer<CChar>?, Int, Int, UnsafeMutableRawPointer?) -> Int
    private typealias Gate =
        @convention(c) (
            UnsafeMutableRawPointer?, UnsafeMutablePointer<CChar>?, UnsafeMutablePointer<CChar>?,
            Int32, Int32
        ) -> Int32

    private static let head: Sink = { bytes, size, count, owner in
        guard let transfer = transfer(owner) else { return 0 }
        let line = UnsafeRawBufferPointer(start: bytes, count: size * count)
        return transfer.takeHead(line) ? line.count : 0
    }

    private static let body: Sink = { bytes, size, count, owner in
        guard let transfer = transfer(owner) else { return 0 }
        let piece = UnsafeRawBufferPointer(start: bytes, count: size * count)
        switch transfer.takeBody(piece) {
        case .taken: return piece.count
        case .later: return cc_pause
        case .refused: return 0
        }
    }

    private static let upload: Sink = { room, size, count, owner in
        guard let transfer = transfer(owner) else { return cc_abort }
        let room = UnsafeMutableRawBufferPointer(start: room, count: size * count)
        switch transfer.giveBody(into: room) {
        case .bytes(let count): return count
        case .later: return cc_pause
        case .end: return 0
        case .failed: return cc_abort
        }
    }

    private static let sending: Gate = { owner, _, _, _, _ in
        transfer(owner)?.mayBeSent() == true ? 0 : 1
    }

    private static func transfer(_ owner: UnsafeMutableRawPointer?) -> Transfer? {
        owner.map { Unmanaged<Transfer>.fromOpaque($0).takeUnretainedValue() }
    }
}
