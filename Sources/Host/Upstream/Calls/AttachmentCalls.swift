public import Bitwarden
import HTTP
import JSON
public import Vault

// Attachments. A file goes up in two steps: it is announced, then its bytes follow to where the
// answer says. They are encrypted before they get here, and pass through piece by piece.

extension UpstreamAccount {
    /// Announces a file. Until its bytes are there, the item has a file that cannot be opened: who
    /// cannot bring them takes the announcement back with ``deleteAttachment(_:of:)``.
    public func announceAttachment(
        _ request: AttachmentRequest,
        to id: String
    ) async throws(Setback) -> AttachmentUpload {
        let path = "/ciphers/\(segment: id)/attachment/v2"
        let call = Call(.createAttachment, .post, path, about: .cipher).sending(request)
        return try await send(call).read(of: call)
    }

    /// Brings the bytes of a file that was announced, to the server or to the store that it names.
    ///
    /// To a store, what is larger than it takes at once goes in blocks.
    public func upload(_ file: FileSource, as upload: AttachmentUpload) async throws(Setback) {
        try await self.upload(file, as: upload, cut: .usual)
    }

    func upload(
        _ file: FileSource,
        as upload: AttachmentUpload,
        cut sizes: BlockSizes
    ) async throws(Setback) {
        switch upload.way {
        case .direct:
            let url = directAddress(of: upload)
            let form = MultipartForm(file, chance: upstream.world.chance)
            var call = uploadCall(.post, url, body: form.body)
            call.headers["Content-Type"] = form.contentType
            call.isSigned = upstream.bases.isAPI(url)
            try await send(upload: call)
        case .store:
            try await store(file, as: upload, sizes)
        }
    }

    /// A server that keeps files itself is told a file where its other calls are; the address that Bitwarden gives for
    /// that leaves out half of the path.
    private func directAddress(of upload: AttachmentUpload) -> String {
        let url = upstream.bases.resolve(upload.url)
        guard upstream.bases.isAPI(url), let place = place(of: upload) else { return url }
        return upstream.bases.api + place
    }

    /// The path of a file that was announced.
    func place(of upload: AttachmentUpload) -> String? {
        guard let id = (try? JSON.Document(upload.cipher))?.root[anyCase: "id"]?.string else {
            return nil
        }
        return "/ciphers/\(segment: id)/attachment/\(segment: upload.attachmentID)"
    }

    func uploadCall(_ method: Method, _ url: String, body: Client.Body) -> Call {
        var call = Call(
            .uploadAttachment,
            method,
            url,
            at: .elsewhere,
            body: body,
            about: .file,
            expecting: .nothing
        )
        call.deadlines = .file
        return call
    }

    /// The token only goes where it belongs.
    private func send(upload call: Call) async throws(Setback) {
        if call.isSigned {
            _ = try await send(call)
        } else {
            _ = try await upstream.perform(call, for: session.userID, manner)
        }
    }

    /// Where the file can be fetched for a while.
    public func attachment(
        _ attachmentID: String,
        of id: String
    ) async throws(Setback) -> AttachmentAnswer {
        let path = "/ciphers/\(segment: id)/attachment/\(segment: attachmentID)"
        let call = Call(.findAttachment, .get, path, about: .file)
        return try await send(call).read(of: call)
    }

    /// The encrypted file, piece by piece. The address lets in whoever has it, so no token goes there.
    public func download(_ attachment: AttachmentAnswer) async throws(Setback) -> FileStream {
        var call = Call(
            .downloadAttachment,
            .get,
            upstream.bases.resolve(attachment.url ?? ""),
            at: .elsewhere,
            about: .file,
            expecting: .file,
            isSigned: false
        )
        guard attachment.url != nil else { throw call.malformed("a file without address") }
        call.deadlines = .file
        let answer = try await upstream.open(call, for: session.userID, manner)
        return FileStream(answer: answer, call: call)
    }

    public func deleteAttachment(
        _ attachmentID: String,
        of id: String
    ) async throws(Setback) {
        let path = "/ciphers/\(segment: id)/attachment/\(segment: attachmentID)"
        let call = Call(.deleteAttachment, .delete, path, about: .file, expecting: .nothing)
        _ = try await send(call)
    }
}

/// A file as it comes. One reader, once.
public struct FileStream: AsyncSequence, Sendable {
    let answer: StreamedAnswer
    let call: Call

    public struct Iterator: AsyncIteratorProtocol {
        let stream: FileStream

        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws(Setback) -> [UInt8]? {
            do throws(NetworkFailure) {
                return try await stream.answer.next()
            } catch {
                throw Setback(error, of: stream.call)
            }
        }
    }

    public func makeAsyncIterator() -> Iterator { Iterator(stream: self) }
}

extension Client.Deadlines {
    /// Files are large and lines are slow; what counts is that something moves.
    fileprivate static var file: Client.Deadlines {
        var deadlines = Client.Deadlines()
        deadlines.total = .seconds(3_600)
        return deadlines
    }
}
