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
    case failed(ClientError.Reason)
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
            return count == 0
                ? .failed(.bodyUnreadable("the file has become shorter")) : .bytes(count)
        } catch {
            return .failed(.bodyUnreadable(error.description))
        }
    }
}
