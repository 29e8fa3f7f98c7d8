import Glibc
import System

/// Where the driver gets what it is to send.
enum UploadBody: Sendable {
    case none
    case bytes([UInt8])
    case file(FileBody)
    case pipe(RequestPipe)

    var length: Int? {
        switch self {
        case .none: 0
        case .bytes(let bytes): bytes.count
        case .file(let file): file.length
        case .pipe(let pipe): pipe.length
        }
    }
}

/// What the driver finds when it wants more to send.
enum Portion: Equatable {
    case bytes(Int)
    /// Nothing yet; there will be a resume.
    case later
    case end
    case failed(String)
}

/// A file that is sent as it is read, with the length that it had at first: what is appended
/// meanwhile would be taken for the next request on the connection.
final class FileBody: Sendable {
    let length: Int
    private let file: File
    private let left: Lock<Int>

    init(path: String) throws(SystemError) {
        let file = try File(path: path, flags: O_RDONLY)
        let descriptor = file.descriptor
        var facts = stat()
        try system("fstat \(path)") { fstat(descriptor, &facts) }
        length = Int(facts.st_size)
        left = Lock(Int(facts.st_size))
        self.file = file
    }

    func read(into room: UnsafeMutableRawBufferPointer) -> Portion {
        let wanted = min(room.count, left.withLock { $0 })
        guard wanted > 0 else { return .end }
        do {
            let count = try system("read") { () -> Int in
                Glibc.read(file.descriptor, room.baseAddress, wanted)
            }
            left.withLock { $0 -= count }
            return count == 0 ? .failed("the file has become shorter") : .bytes(count)
        } catch {
            return .failed(error.description)
        }
    }
}

/// Where a task leaves what is to be sent, and the driver takes it.
final class RequestPipe: Sendable {
    fileprivate struct State {
        var waiting: ArraySlice<UInt8> = []
        var end: End?
        var isStarved = false
        var writer: CheckedContinuation<Bool, Never>?
    }

    fileprivate enum End {
        case whole
        case failed(String)
        case unwanted
    }

    let length: Int?
    private let state = Lock(State())

    init(length: Int?) { self.length = length }

    /// Takes over a piece and waits until it is gone.
    ///
    /// - Returns: Whether more is wanted.
    func put(_ bytes: [UInt8], resume: () -> Void) async -> Bool {
        guard !bytes.isEmpty else { return true }
        return await withCheckedContinuation { writer in
            let (isWanted, mustResume) = state.withLock { state in
                guard state.end == nil else { return (false, false) }
                state.waiting = bytes[...]
                state.writer = writer
                defer { state.isStarved = false }
                return (true, state.isStarved)
            }
            if !isWanted { writer.resume(returning: false) }
            if mustResume { resume() }
        }
    }

    func finish(failure: String?, resume: () -> Void) {
        let mustResume = state.withLock { state in
            guard state.end == nil else { return false }
            state.end = failure.map { .failed($0) } ?? .whole
            defer { state.isStarved = false }
            return state.isStarved
        }
        if mustResume { resume() }
    }

    /// Nobody will take anything any more.
    func refuse() {
        state.withLock { state in
            state.end = .unwanted
            state.waiting = []
            return state.writer.take()
        }?.resume(returning: false)
    }

    func read(into room: UnsafeMutableRawBufferPointer) -> Portion {
        let (portion, writer) = state.withLock { state in
            let portion = state.take(into: room)
            let isEmptied = state.waiting.isEmpty
            return (portion, isEmptied ? state.writer.take() : nil)
        }
        writer?.resume(returning: true)
        return portion
    }
}

extension RequestPipe.State {
    fileprivate mutating func take(into room: UnsafeMutableRawBufferPointer) -> Portion {
        guard waiting.isEmpty else {
            let piece = waiting.prefix(room.count)
            piece.withUnsafeBytes { room.copyMemory(from: $0) }
            waiting = waiting.dropFirst(piece.count)
            return .bytes(piece.count)
        }
        switch end {
        case .whole: return .end
        case .failed(let text): return .failed(text)
        case .unwanted: return .failed("unwanted")
        case nil:
            isStarved = true
            return .later
        }
    }
}
