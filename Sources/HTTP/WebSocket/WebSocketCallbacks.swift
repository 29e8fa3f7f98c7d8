import CWebsockets

/// The doors through which the library reaches an ``Attempt``. In a nonisolated type, so that they
/// inherit no isolation.
enum WebSocketCallbacks {
    static func table() -> cw_callbacks {
        cw_callbacks(
            opened: { attempt($0)?.open() },
            received: { owner, bytes, count, isText, isLast in
                let piece = UnsafeRawBufferPointer(start: bytes, count: count)
                let goesOn = attempt(owner)?.take(piece, isText: isText, isLast: isLast)
                return goesOn == true ? 0 : -1
            },
            ponged: { attempt($0)?.hear() },
            writable: { attempt($0)?.link.write() == true ? 0 : -1 },
            goodbye: { attempt($0)?.link.pipe.note(goodbye: $1) },
            ended: { owner, ending, status, text in
                guard let owner else { return }
                let attempt = Unmanaged<Attempt>.fromOpaque(owner).takeRetainedValue()
                attempt.end(ending, status, text.map { String(cString: $0) } ?? "")
            }
        )
    }
}

private func attempt(_ owner: UnsafeMutableRawPointer?) -> Attempt? {
    owner.map { Unmanaged<Attempt>.fromOpaque($0).takeUnretainedValue() }
}
