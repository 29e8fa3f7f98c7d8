/// Bytes in a row of pieces, taken from the front in the order in which they came.
struct Pieces {
    private var pieces: [[UInt8]] = []
    private var first = 0
    /// How much of the first piece is gone.
    private var offset = 0
    /// All bytes that are left.
    private(set) var count = 0

    mutating func append(_ piece: [UInt8]) {
        guard !piece.isEmpty else { return }
        pieces.append(piece)
        count += piece.count
    }

    /// Everything, in as few pieces as possible.
    mutating func takePiece() -> [UInt8]? {
        guard count > 0 else { return nil }
        let piece = offset == 0 ? pieces[first] : Array(pieces[first][offset...])
        count -= piece.count
        dropFirstPiece()
        return piece
    }

    /// Moves as many bytes as fit, and returns how many.
    mutating func move(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        var filled = 0
        while count > 0, filled < buffer.count {
            let taken = min(pieces[first].count - offset, buffer.count - filled)
            let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])
            pieces[first].withUnsafeBytes { bytes in
                rest.copyMemory(
                    from: UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + taken])
                )
            }
            filled += taken
            offset += taken
            count -= taken
            if offset == pieces[first].count { dropFirstPiece() }
        }
        return filled
    }

    mutating func removeAll() { self = Pieces() }

    private mutating func dropFirstPiece() {
        pieces[first] = []
        first += 1
        offset = 0
        if first == pieces.count {
            pieces.removeAll(keepingCapacity: true)
            first = 0
        }
    }
}
