import CZlib

/// Unpacks a body that comes as gzip, piece by piece, no further than there is room for it.
///
/// The framing of a response says only that all of the packed bytes have come; that they are the
/// whole of what was packed is for gzip to say.
final class Unpacker {
    enum Outcome { case taken, full, refused, broken }

    private let unpacker: OpaquePointer
    private let room = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)
    /// How much of the piece that comes next was unpacked when it came before, and was turned away.
    private var done = 0

    init?() {
        guard let unpacker = cz_unpacker_new() else { return nil }
        self.unpacker = unpacker
    }

    deinit {
        cz_unpacker_free(unpacker)
        room.deallocate()
    }

    /// Whether what has come is complete.
    var isWhole: Bool { cz_is_whole(unpacker) }

    /// Unpacks a piece and gives it on, in parts.
    ///
    /// - Parameter hasRoom: Asked before each part. If there is none, the outcome is `full`, and the
    ///   piece is to come again.
    /// - Parameter give: Whether it accepts the part. If it does not, the outcome is `refused`.
    func unpack(
        _ piece: UnsafeRawBufferPointer,
        hasRoom: () -> Bool,
        give: (UnsafeRawBufferPointer) -> Bool
    ) -> Outcome {
        let outcome = unpackRest(of: piece, hasRoom: hasRoom, give: give)
        // Only what there was no room for comes again.
        if outcome != .full { done = 0 }
        return outcome
    }

    private func unpackRest(
        of piece: UnsafeRawBufferPointer,
        hasRoom: () -> Bool,
        give: (UnsafeRawBufferPointer) -> Bool
    ) -> Outcome {
        var step = cz_step()
        repeat {
            guard hasRoom() else { return .full }
            let rest = UnsafeRawBufferPointer(rebasing: piece[done...])
            step = cz_unpack(unpacker, rest.baseAddress, rest.count, room.baseAddress, room.count)
            done += step.taken
            guard !step.is_broken else { return .broken }
            let part = UnsafeRawBufferPointer(rebasing: room[..<step.made])
            guard part.isEmpty || give(part) else { return .refused }
        } while done < piece.count || step.made == room.count
        return .taken
    }
}
