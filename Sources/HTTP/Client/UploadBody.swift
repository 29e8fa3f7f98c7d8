/// Where the driver gets what it is to send.
enum UploadBody: Sendable {
    case none
    case bytes([UInt8])
    case pipe(RequestPipe)

    var length: Int? {
        switch self {
        case .none: 0
        case .bytes(let bytes): bytes.count
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
