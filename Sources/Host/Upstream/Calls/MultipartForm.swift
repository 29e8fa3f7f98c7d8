import HTTP
import System

/// An encrypted file that is to go up, made while it is sent.
public struct FileSource: Sendable {
    public let length: Int
    let next: @Sendable () async throws -> [UInt8]?

    /// `next` returns the file piece by piece, and nil after the last; together they have that length.
    public init(length: Int, next: @escaping @Sendable () async throws -> [UInt8]?) {
        self.length = length
        self.next = next
    }

    var body: Client.Body { .stream(Client.Upload(length: length, next: next)) }
}

/// A form with a file as its only part.
struct MultipartForm: Sendable {
    let contentType: String
    let body: Client.Body

    private enum Part { case head, file, foot, end }

    /// - Parameter chance: The boundary must not occur in the file, which nobody has read yet.
    init(_ file: FileSource, chance: any Chance) {
        let boundary = "holdfast-" + (0..<2).map { _ in String(chance.next(), radix: 36) }.joined()
        let head = Array(
            """
            --\(boundary)\r
            Content-Disposition: form-data; name="data"; filename="data"\r
            Content-Type: application/octet-stream\r
            \r

            """.utf8
        )
        let foot = Array("\r\n--\(boundary)--\r\n".utf8)
        contentType = "multipart/form-data; boundary=\(boundary)"
        let part = PartMark()
        body = .stream(
            Client.Upload(length: head.count + file.length + foot.count) {
                if part.isAtHead { return head }
                if let piece = try await part.inFile(file.next) { return piece }
                return part.isAtFoot ? foot : nil
            }
        )
    }

    /// How far the form has come. Its source is asked by one reader.
    private final class PartMark: Sendable {
        private let part = Lock(Part.head)

        var isAtHead: Bool { advance(from: .head, to: .file) }
        var isAtFoot: Bool { advance(from: .foot, to: .end) }

        func inFile(
            _ next: @Sendable () async throws -> [UInt8]?
        ) async throws -> [UInt8]? {
            guard part.withLock({ $0 == .file }) else { return nil }
            let piece = try await next()
            if piece == nil { _ = advance(from: .file, to: .foot) }
            return piece
        }

        private func advance(from old: Part, to new: Part) -> Bool {
            part.withLock { part in
                guard part == old else { return false }
                part = new
                return true
            }
        }
    }
}
