import System

extension Client {
    /// Fetches into a file, which appears whole or not at all: what was there before stays unless
    /// all of a successful answer has come and lies on stable storage. The body of the response is
    /// empty then.
    ///
    /// Any other answer (a refusal, an error page, a part of the whole) is returned with its body
    /// and touches no file.
    public func download(
        _ request: Request,
        to path: String
    ) async throws(ClientError) -> Response {
        let response = try await open(request)
        guard response.status.isWhole else { return try await gather(response, of: request) }
        do {
            let draft = try Draft(of: path)
            for try await piece in response.body { try draft.write(piece) }
            try draft.takePlace()
        } catch {
            throw clientError(error, of: request)
        }
        return Response(response, body: [])
    }

    private func gather(
        _ response: StreamedResponse,
        of request: Request
    ) async throws(ClientError) -> Response {
        let limit = request.bodyLimit ?? configuration.bodyLimit
        var body: [UInt8] = []
        for try await piece in response.body {
            guard body.count + piece.count <= limit else {
                throw error(.tooLarge(.body, limit: limit), of: request)
            }
            body += piece
        }
        return Response(response, body: body)
    }

    private func clientError(_ error: any Error, of request: Request) -> ClientError {
        if let error = error as? ClientError { return error }
        let text = (error as? SystemError)?.description ?? "\(error)"
        return self.error(.local(text), of: request)
    }

    private func error(_ reason: ClientError.Reason, of request: Request) -> ClientError {
        ClientError(
            reason: reason,
            operation: request.operation,
            server: request.server,
            progress: ClientError.Progress(sent: .whole, isAnswered: true)
        )
    }
}

extension Client.Response {
    fileprivate init(_ streamed: Client.StreamedResponse, body: [UInt8]) {
        self.init(
            status: streamed.status,
            headers: streamed.headers,
            body: body,
            url: streamed.url
        )
    }
}

extension Status {
    /// Whether what comes with it is what was asked for, all of it.
    fileprivate var isWhole: Bool { (200..<300).contains(rawValue) && rawValue != 206 }
}
