extension Driver {
    /// Moves a body from its source into the pipe, for as long as somebody takes it out.
    func pump(_ upload: Client.Upload, into pipe: RequestPipe, id: UInt64) async {
        let resume = { self.resume(id) }
        var measure = Measure(declared: upload.length)
        do {
            while let piece = try await upload.next() {
                guard let ready = measure.take(piece) else { break }
                guard await pipe.put(ready, resume: resume) else { return }
            }
            if let rest = measure.rest {
                guard await pipe.put(rest, resume: resume) else { return }
            }
            pipe.finish(failure: measure.failure, resume: resume)
        } catch {
            pipe.finish(failure: .bodyUnreadable("its source failed"), resume: resume)
        }
    }
}

/// Holds a body to its declared length.
///
/// The piece that reaches the length is held back until the source has ended. So a server that has
/// the whole of a body has what its source gave, and not only the beginning of it.
struct Measure {
    let declared: Int?
    private var given = 0
    private var held: [UInt8]?

    init(declared: Int?) { self.declared = declared }

    /// - Returns: What may be sent now; `nil` if the source has given too much.
    mutating func take(_ piece: [UInt8]) -> [UInt8]? {
        given += piece.count
        guard let declared, !piece.isEmpty else { return piece }
        guard given <= declared else { return nil }
        guard given == declared else { return piece }
        held = piece
        return []
    }

    /// What is left to be sent when the source has ended.
    var rest: [UInt8]? { failure == nil ? held : nil }

    var failure: ClientError.Reason? {
        guard let declared, given != declared else { return nil }
        return .wrongLength(declared: declared, given: given)
    }
}
