import Bitwarden
import Crypto
import HTTP
import System
import Vault

// A store of files takes the bare bytes at the address that lets them in. What is larger than it
// takes at once goes up in blocks, which are no file until it is told their list.

/// From what length on a file is cut into blocks, and of what length those are.
struct BlockSizes: Sendable {
    var whole: Int
    var block: Int

    /// What the store takes at once; and blocks that every version of it takes.
    static let usual = BlockSizes(whole: 256 << 20, block: 64 << 20)

    /// The lengths of the blocks of a file.
    func blocks(of length: Int) -> [Int] {
        stride(from: 0, to: length, by: block).map { min(block, length - $0) }
    }
}

extension UpstreamAccount {
    func store(
        _ file: FileSource,
        as upload: AttachmentUpload,
        _ sizes: BlockSizes
    ) async throws(Setback) {
        guard file.length > sizes.whole else {
            return try await put(file.body, at: upload.url) {
                $0["Content-Type"] = "application/octet-stream"
                $0["x-ms-blob-type"] = "BlockBlob"
            }
        }
        let lengths = sizes.blocks(of: file.length)
        try await putBlocks(of: file, lengths, as: upload)
        let address = try await renewedAddress(of: upload).asking("comp=blocklist")
        try await put(.bytes(BlockList.bytes(count: lengths.count)), at: address) {
            $0["Content-Type"] = "application/xml"
        }
    }

    private func putBlocks(
        of file: FileSource,
        _ lengths: [Int],
        as upload: AttachmentUpload
    ) async throws(Setback) {
        let dealer = BlockDealer(file)
        for (number, length) in lengths.enumerated() {
            // An address lets in for a minute, by a clock that is not ours, and the block before may
            // have taken longer than that.
            let address = number == 0 ? upload.url : try await renewedAddress(of: upload)
            let block = dealer.block(length, isLast: number == lengths.count - 1)
            let place = address.asking("comp=block&blockid=\(BlockList.id(number))")
            try await put(.stream(block), at: place) { _ in }
        }
    }

    /// No token goes along.
    private func put(
        _ body: Client.Body,
        at address: String,
        _ describe: (inout Headers) -> Void
    ) async throws(Setback) {
        var call = uploadCall(.put, upstream.bases.resolve(address), body: body)
        call.isSigned = false
        describe(&call.headers)
        _ = try await upstream.perform(call, for: session.userID, manner)
    }

    private func renewedAddress(of upload: AttachmentUpload) async throws(Setback) -> String {
        let call = Call(.renewUpload, .get, (place(of: upload) ?? "") + "/renew", about: .file)
        let renewed: AttachmentAddress = try await send(call).read(of: call)
        return renewed.url
    }
}

extension String {
    /// The address with something more in its query.
    fileprivate func asking(_ query: String) -> String {
        self + (utf8.contains(UInt8(ascii: "?")) ? "&" : "?") + query
    }
}

/// What makes a file of blocks that are there.
private enum BlockList {
    /// All of a file's have the same length, as the store wants it.
    static func id(_ number: Int) -> String {
        let digits = String(number)
        let text = String(repeating: "0", count: 48 - digits.utf8.count) + digits
        return Base64.text(of: Array(text.utf8))
    }

    static func bytes(count: Int) -> [UInt8] {
        let blocks = (0..<count).map { "<Latest>\(id($0))</Latest>" }.joined()
        return Array(
            #"<?xml version="1.0" encoding="utf-8"?><BlockList>\#(blocks)</BlockList>"#.utf8
        )
    }
}

/// Deals a file out block by block, as its source gives it. One reader at a time.
private final class BlockDealer: Sendable {
    private struct State {
        /// What the source gave beyond the last block.
        var rest: [UInt8] = []
        /// What is still missing of this one.
        var missing = 0
    }

    private let file: FileSource
    private let state = Lock(State())

    init(_ file: FileSource) {
        self.file = file
    }

    /// The last block asks the source for more than there should be: with a file that has become
    /// longer it is not what was declared, and no list will follow.
    func block(_ length: Int, isLast: Bool) -> Client.Upload {
        state.withLock { $0.missing = length }
        return Client.Upload(length: length) { try await self.next(isLast: isLast) }
    }

    private func next(isLast: Bool) async throws -> [UInt8]? {
        let (missing, rest) = state.withLock { state in
            defer { state.rest = [] }
            return (state.missing, state.rest)
        }
        guard missing > 0 || isLast else {
            state.withLock { $0.rest = rest }
            return nil
        }
        guard let piece = rest.isEmpty ? try await file.next() : rest else { return nil }
        let own = isLast ? piece : Array(piece.prefix(missing))
        state.withLock { state in
            state.rest = Array(piece.dropFirst(own.count))
            state.missing = max(0, missing - own.count)
        }
        return own
    }
}
