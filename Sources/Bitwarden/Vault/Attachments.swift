public import JSON

/// Announces a file. Its bytes follow in a call of their own.
public struct AttachmentRequest: Sendable, Hashable, JSON.Readable, JSON.Writable {
    /// The file's key and name, both encrypted like the item's fields.
    public let key: String
    public let fileName: String
    /// Bytes of the encrypted file.
    public let size: Int
    public let lastKnownRevisionDate: String?

    public init(key: String, fileName: String, size: Int, lastKnownRevisionDate: String? = nil) {
        self.key = key
        self.fileName = fileName
        self.size = size
        self.lastKnownRevisionDate = lastKnownRevisionDate
    }

    /// Some clients send the size as text.
    public init(json: JSON.Value) throws(JSON.Mismatch) {
        key = try json.read(anyCase: "key")
        fileName = try json.read(anyCase: "fileName")
        let size = json[anyCase: "fileSize"]
        guard let bytes = size?.int ?? size?.string.flatMap({ Int($0) }) else {
            throw JSON.Mismatch("must be a whole number", at: ["fileSize"])
        }
        self.size = bytes
        lastKnownRevisionDate = try json.read(anyCase: "lastKnownRevisionDate")
    }

    public func write(to json: inout JSON.Writer) {
        json.object {
            $0.add("key", key)
            $0.add("fileName", fileName)
            $0.add("fileSize", size)
            $0.add("adminRequest", false)
            $0.add("lastKnownRevisionDate", lastKnownRevisionDate)
        }
    }
}

/// Where the bytes of a file that was announced are to go.
public struct AttachmentUpload: Sendable, JSON.Readable, JSON.Writable {
    public enum Way: Int, Sendable {
        /// A form with one part, sent to the server itself.
        case direct = 0
        /// The bare bytes, sent to a store that the address lets in.
        case store = 1
    }

    public let attachmentID: String
    /// May be relative to the API's base.
    public let url: String
    public let way: Way
    public let cipher: JSON.Raw

    public init(attachmentID: String, url: String, way: Way, cipher: JSON.Raw) {
        self.attachmentID = attachmentID
        self.url = url
        self.way = way
        self.cipher = cipher
    }

    public init(json: JSON.Value) throws(JSON.Mismatch) {
        attachmentID = try json.read(anyCase: "attachmentId")
        url = try json.read(anyCase: "url")
        guard let way = Way(rawValue: try json.read(anyCase: "fileUploadType")) else {
            throw JSON.Mismatch("must be 0 or 1", at: ["fileUploadType"])
        }
        self.way = way
        cipher = try json.read(anyCase: "cipherResponse")
    }

    public func write(to json: inout JSON.Writer) {
        json.object {
            $0.add("attachmentId", attachmentID)
            $0.add("url", url)
            $0.add("fileUploadType", way.rawValue)
            $0.add("cipherResponse", cipher)
            $0.add("object", "attachment-fileUpload")
        }
    }
}

/// Where the bytes of a file that was announced are to go from now on, when the first address does not
/// let in any more.
public struct AttachmentAddress: Sendable, Hashable, JSON.Readable {
    public let url: String

    public init(json: JSON.Value) throws(JSON.Mismatch) {
        url = try json.read(anyCase: "url")
    }
}

/// A file that there is, and where it can be fetched for a while, without the access token.
public struct AttachmentAnswer: Sendable, Hashable, JSON.Readable, JSON.Writable {
    public let id: String
    public let url: String?
    public let fileName: String
    public let key: String?
    public let size: Int

    public init(id: String, url: String?, fileName: String, key: String?, size: Int) {
        self.id = id
        self.url = url
        self.fileName = fileName
        self.key = key
        self.size = size
    }

    public init(json: JSON.Value) throws(JSON.Mismatch) {
        id = try json.read(anyCase: "id")
        url = try json.read(anyCase: "url")
        fileName = try json.read(anyCase: "fileName")
        key = try json.read(anyCase: "key")
        let size = json[anyCase: "size"]
        self.size = size?.int ?? size?.string.flatMap { Int($0) } ?? 0
    }

    public func write(to json: inout JSON.Writer) {
        json.object {
            $0.add("id", id)
            $0.add("url", url)
            $0.add("fileName", fileName)
            $0.add("key", key)
            $0.add("size", String(size))
            $0.add("sizeName", sizeName)
            $0.add("object", "attachment")
        }
    }

    /// `81.00 bytes`, `1.50 KB`
    private var sizeName: String {
        let units = ["bytes", "KB", "MB", "GB"]
        var (hundredths, unit) = (min(size, .max / 100) * 100, 0)
        while hundredths >= 102_400, unit < units.count - 1 {
            hundredths /= 1_024
            unit += 1
        }
        let fraction = String(hundredths % 100)
        return "\(hundredths / 100).\(fraction.count < 2 ? "0" : "")\(fraction) \(units[unit])"
    }
}
