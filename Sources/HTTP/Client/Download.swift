import Glibc
import System

extension Client {
    /// Fetches into a file, which appears whole or not at all; what was there before stays if
    /// the transfer fails. An answer of any status is an answer: the caller looks at it before the
    /// file is believed. The response's own body is empty.
    public func download(
        _ request: Request,
        to path: String
    ) async throws(ClientError) -> Response {
        let response = try await open(request)
        let draft = path + ".draft"
        do {
            let file = try File(path: draft, flags: O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW)
            for try await piece in response.body { try file.write(piece) }
            try file.flush()
            try system("rename \(draft)") { rename(draft, path) }
        } catch {
            unlink(draft)
            throw clientError(error, of: request)
        }
        return Response(
            status: response.status,
            headers: response.headers,
            body: [],
            url: response.url
        )
    }

    private func clientError(_ error: any Error, of request: Request) -> ClientError {
        if let error = error as? ClientError { return error }
        return ClientError(
            reason: .local((error as? SystemError)?.description ?? "\(error)"),
            operation: request.operation,
            server: request.socketPath
                ?? (try? Destination(request.url, schemes: Redirect.schemes))?
                .origin
                ?? "no server",
            progress: ClientError.Progress(sent: .whole, isAnswered: true)
        )
    }
}
