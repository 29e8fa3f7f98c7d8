/// A body of several parts, as a browser sends a file.
struct Multipart {
    private let boundary: [UInt8]

    init?(_ contentType: String?) {
        guard let contentType, contentType.lowercased().hasPrefix("multipart/form-data") else {
            return nil
        }
        let parameters = contentType.split(separator: ";").dropFirst().map {
            $0.drop(while: \.isWhitespace)
        }
        guard let boundary = parameters.first(where: { $0.lowercased().hasPrefix("boundary=") })
        else { return nil }
        let text = boundary.dropFirst("boundary=".count).filter { $0 != "\"" }
        guard !text.isEmpty else { return nil }
        self.boundary = Array(("--" + text).utf8)
    }

    /// The bytes of the part of that name.
    func part(_ name: String, in body: [UInt8]) -> [UInt8]? {
        let gap = Array("\r\n\r\n".utf8)
        var rest = body[...]
        while let start = rest.firstRange(of: boundary) {
            rest = rest[start.upperBound...]
            guard let head = rest.firstRange(of: gap),
                let end = rest[head.upperBound...].firstRange(of: Array("\r\n".utf8) + boundary)
            else { return nil }
            let fields = String(decoding: rest[..<head.lowerBound], as: UTF8.self)
            if fields.contains("name=\"\(name)\"") {
                return Array(body[head.upperBound..<end.lowerBound])
            }
            rest = rest[end.lowerBound...].dropFirst(2)
        }
        return nil
    }
}
