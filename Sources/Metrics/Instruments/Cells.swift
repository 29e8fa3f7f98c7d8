import Synchronization

/// The numbers of one metric family, all in one block of memory.
///
/// Every series has a row of its own, and every row begins on a cache line of its own: two threads
/// that count different things never wait for each other. A family costs one allocation however
/// many series it has.
// @unchecked because the words are only ever reached as atomics, and the pointer never changes.
final class Cells: @unchecked Sendable {
    private static let wordsPerLine = 8

    private let words: UnsafeMutablePointer<Atomic<UInt64>>
    private let rows: Int
    private let stride: Int

    /// All words are 0, which is also the bit pattern of the floating-point 0.
    init(rows: Int, width: Int) {
        let lines = (width + Self.wordsPerLine - 1) / Self.wordsPerLine
        self.rows = rows
        stride = lines * Self.wordsPerLine
        let bytes = UnsafeMutableRawPointer.allocate(
            byteCount: max(rows, 1) * stride * MemoryLayout<Atomic<UInt64>>.stride,
            alignment: Self.wordsPerLine * MemoryLayout<UInt64>.size
        )
        words = bytes.bindMemory(to: Atomic<UInt64>.self, capacity: max(rows, 1) * stride)
        for index in 0..<rows * stride {
            (words + index).initialize(to: Atomic(0))
        }
    }

    func row(_ index: Int) -> Row {
        precondition(index < rows, "There is no such series.")
        return Row(cells: self, words: words + index * stride)
    }

    deinit {
        words.deinitialize(count: rows * stride)
        UnsafeMutableRawPointer(words).deallocate()
    }
}

/// The numbers of one series. Keeps the block that they lie in.
// @unchecked because the pointer never changes, and what it points to are atomics.
struct Row: @unchecked Sendable {
    private let cells: Cells
    let words: UnsafeMutablePointer<Atomic<UInt64>>

    fileprivate init(cells: Cells, words: UnsafeMutablePointer<Atomic<UInt64>>) {
        self.cells = cells
        self.words = words
    }
}
