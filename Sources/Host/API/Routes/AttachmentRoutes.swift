import HTTP
import Vault
import Sync

/// The files of items.
extension VaultAPI {
    /// The largest file that is taken, its form included. It is held in memory until it is sent.
    static let uploadLimit = 100 << 20

    static let attachmentRoutes: [Route] = [
        .vault(
            .get,
            "/object/attachment/{id}",
            Description(
                "A file, by its id or a part of its name.",
                query: [.item],
                answer: .bytes
            )
        ) { call, desk in
            guard let text = call.itemID else {
                throw DeskRefusal.notAllowed("--itemid <itemid> required.")
            }
            let item = try await desk.findItem(text).item
            let attachment = try item.attachment(call.id)
            try await desk.requirePremium(for: item)
            do {
                let bytes = try await offTheLoop {
                    try await desk.attachment(attachment.id ?? "", of: item.id ?? "")
                }
                return .file(bytes, named: attachment.fileName ?? "attachment")
            } catch let error as DeskRefusal {
                throw error.ofDownload ?? error
            }
        },
        .vault(
            .post,
            "/attachment",
            Description(
                "Attaches a file to an item.",
                query: [.item],
                body: .file,
                answer: .data(.item),
                isEdit: true
            ),
            attach
        ),
        .vault(
            .post,
            "/object/attachment",
            Description("Says where files are to be sent.", query: [.item], answer: .nothing)
        ) { call, _ in
            _ = try call.ownerOfFile()
            throw DeskRefusal.notAllowed("Send the file to `POST /attachment`.")
        },
        .vault(
            .delete,
            "/object/attachment/{id}",
            Description(
                "Deletes a file.",
                query: [.item],
                answer: .nothing,
                isEdit: true
            )
        ) { call, desk in
            let item = try await desk.knownItem(try call.ownerOfFile())
            let id = call.id.lowercased()
            let known = item.attachments.first { $0.id?.lowercased() == id }?.id
            guard let known else { throw DeskRefusal.noAttachment(call.id) }
            try await desk.deleteAttachment(known, of: item.id ?? "")
            return .done.with(.saved)
        },
    ]

    private static let attach: @Sendable (Call, any AccountDesk) async throws -> Response = {
        call,
        desk in
        let item = try await desk.knownItem(try call.ownerOfFile())
        try await desk.requirePremium(for: item)
        let attached = try await call.api.uploadRoom.holding(call.uploadLength) {
            let (form, boundary) = try await call.uploadedForm()
            let id = item.id ?? ""
            // A large form takes a while to read, and its file to seal.
            return try await offTheLoop {
                guard let file = UploadedFile(form: form, boundary: boundary) else {
                    throw DeskRefusal.notAllowed("The form has no part `file` with a file's name.")
                }
                return try await desk.attach(file.bytes, named: file.name, to: id)
            }
        }
        return .success(attached).with(.saved)
    }
}

extension VaultAPI.Call {
    /// The item that the file belongs to. Clients that were made from the published description
    /// call it `id`.
    fileprivate func ownerOfFile() throws -> String {
        guard let id = itemID ?? option("id") else {
            throw DeskRefusal.notAllowed("`itemid` option is required.")
        }
        return id
    }

    /// As its sender says, or as much as may come.
    fileprivate var uploadLength: Int {
        let told = request.headers["Content-Length"].flatMap { Int($0) }
        return min(told ?? VaultAPI.uploadLimit, VaultAPI.uploadLimit)
    }

    fileprivate func uploadedForm() async throws -> (form: [UInt8], boundary: String) {
        let type = request.headers["Content-Type"].map(MediaTypeName.init)
        guard let type, type.name == "multipart/form-data", let boundary = type["boundary"] else {
            throw DeskRefusal.notAllowed("The file must come in a form (multipart/form-data).")
        }
        return (try await request.body(limit: VaultAPI.uploadLimit), boundary)
    }
}

extension Item {
    /// By the id, by the whole name, or by a part of it.
    fileprivate func attachment(_ text: String) throws -> Attachment {
        guard !attachments.isEmpty else {
            throw DeskRefusal.notAllowed("No attachments available for this item.")
        }
        let folded = text.lowercased()
        let ways: [(Attachment) -> Bool] = [
            { $0.id?.lowercased() == folded },
            { $0.fileName == text },
            { $0.fileName?.lowercased() == folded },
            { $0.fileName?.lowercased().contains(folded) ?? false },
        ]
        let found = ways.lazy.map { self.attachments.filter($0) }.first { !$0.isEmpty } ?? []
        guard let first = found.first else { throw DeskRefusal.noAttachment(text) }
        guard found.count == 1 else { throw Declined.ambiguous(found.compactMap(\.id)) }
        return first
    }
}

extension DeskRefusal {
    fileprivate static func noAttachment(_ text: String) -> DeskRefusal {
        .notAllowed("Attachment `\(text)` was not found.")
    }
}

extension Response {
    /// A file to be saved, under its name.
    fileprivate static func file(_ bytes: [UInt8], named name: String) -> Response {
        Response(
            headers: [
                "Content-Type": "application/octet-stream",
                "Content-Disposition": FileDisposition(name).text,
                "Cache-Control": "no-store",
                "X-Content-Type-Options": "nosniff",
            ],
            body: .bytes(bytes)
        )
    }
}

/// What a file is to be called by whoever saves it (RFC 6266).
struct FileDisposition {
    let text: String

    /// A name that cannot stand in a header as it is comes in plain letters first, and in full behind.
    init(_ name: String) {
        let plain = String(name.unicodeScalars.map(Self.plain).joined())
        let isPlain = plain.utf8.elementsEqual(name.utf8)
        let full = isPlain ? "" : "; filename*=UTF-8''\(Percent.encode(name))"
        text = "attachment; filename=\"\(plain)\"\(full)"
    }

    private static func plain(_ scalar: Unicode.Scalar) -> String {
        switch scalar {
        case "\"", "\\": "\\\(scalar)"
        case " "..."~": String(scalar)
        default: "_"
        }
    }
}

extension DeskRefusal {
    /// In the words of `bw`, where it is the file's own place that refused.
    fileprivate var ofDownload: DeskRefusal? {
        guard case .upstream(let setback) = self,
            setback.operation == Operation.downloadAttachment.words, let status = setback.status
        else { return nil }
        return .notAllowed("A \(status) error occurred while downloading the attachment.")
    }
}

extension Setback {
    /// What was answered, if it was an error.
    fileprivate var status: Int? {
        switch reason {
        case .rejected(let words), .stale(let words), .missing(let words): words.status
        case .unavailable(let status), .foreign(.page(let status)), .foreign(.answer(let status)):
            status < 400 ? nil : status
        case .unauthorised: 401
        case .signedOut, .throttled, .unreachable, .foreign(.redirect), .malformed, .cancelled: nil
        }
    }
}
