import CCurl

/// Curl's handles, one for each transfer. Those that are done with are kept and used again.
final class EasyHandles {
    private let configuration: Client.Configuration
    private let trust: Trust?
    private var spare: [OpaquePointer] = []
    private static let spareLimit = 64

    init(configuration: Client.Configuration, trust: Trust?) {
        self.configuration = configuration
        self.trust = trust
    }

    func make(for transfer: Transfer) -> OpaquePointer? {
        guard let easy = spare.popLast() ?? makeNew() else { return nil }
        guard prepare(easy, for: transfer) else {
            giveBack(easy)
            return nil
        }
        return easy
    }

    func giveBack(_ easy: OpaquePointer) {
        cc_easy_clear(easy)
        guard spare.count < Self.spareLimit else { return cc_easy_free(easy) }
        spare.append(easy)
    }

    func discard(_ easy: OpaquePointer) {
        cc_easy_clear(easy)
        cc_easy_free(easy)
    }

    func close() {
        spare.forEach(cc_easy_free)
        spare = []
    }

    private func makeNew() -> OpaquePointer? {
        configuration.userAgent.withCString { agent in
            var callbacks = TransferCallbacks.table()
            var defaults = cc_defaults(
                user_agent: agent,
                trust: trust?.certificates,
                connection_age_seconds: Int(configuration.connectionAge.components.seconds),
                unacknowledged_milliseconds: UInt32(
                    clamping: configuration.deadlines.stall.wholeMilliseconds
                )
            )
            return cc_easy_new(&defaults, &callbacks)
        }
    }

    private func prepare(_ easy: OpaquePointer, for transfer: Transfer) -> Bool {
        let order = transfer.order
        guard order.headerLines.allSatisfy({ cc_easy_add_header(easy, $0) }) else { return false }
        let owner = Unmanaged.passUnretained(transfer).toOpaque()
        return order.request.url.withCString { url in
            order.request.method.rawValue.withCString { method in
                order.proxy.withCString { proxy in
                    withOptionalCString(order.request.socketPath) { socketPath in
                        withBytes(of: order.body) { bytes in
                            var request = request(for: transfer, url, method, proxy)
                            request.socket_path = socketPath
                            request.bytes = bytes
                            return cc_easy_prepare(easy, owner, &request)
                        }
                    }
                }
            }
        }
    }

    private func request(
        for transfer: Transfer,
        _ url: UnsafePointer<CChar>,
        _ method: UnsafePointer<CChar>,
        _ proxy: UnsafePointer<CChar>
    ) -> cc_request {
        let order = transfer.order
        return cc_request(
            url: url,
            method: method,
            body: order.body.kind,
            bytes: nil,
            length: Int64(order.body.length ?? -1),
            proxy: proxy,
            socket_path: nil,
            connect_milliseconds: max(Int(order.deadlines.connect.wholeMilliseconds), 1),
            total_milliseconds: max(Int(transfer.allowance.wholeMilliseconds), 1),
            stall_bytes_per_second: order.deadlines.leastBytesPerSecond,
            stall_seconds: Int(order.deadlines.stall.components.seconds)
        )
    }
}

private func withOptionalCString<Result>(
    _ text: String?,
    _ body: (UnsafePointer<CChar>?) -> Result
) -> Result {
    guard let text else { return body(nil) }
    return text.withCString(body)
}

private func withBytes<Result>(
    of body: UploadBody,
    _ use: (UnsafeRawPointer?) -> Result
) -> Result {
    guard case .bytes(let bytes) = body else { return use(nil) }
    // An empty body is a body: its address must not be null.
    return bytes.isEmpty
        ? "".withCString { use($0) } : bytes.withUnsafeBytes { use($0.baseAddress) }
}

extension UploadBody {
    fileprivate var kind: cc_body {
        switch self {
        case .none: CC_BODY_NONE
        case .bytes: CC_BODY_BYTES
        case .pipe: CC_BODY_PULLED
        }
    }
}
