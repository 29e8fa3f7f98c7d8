import CMicrohttpd

/// Takes the head of a request out of the library's hands, and looks at what the library does not.
enum HeadReader {
    static func read(
        _ handle: OpaquePointer,
        target: [UInt8],
        limits: Limits
    ) throws(Refusal) -> RequestHead {
        guard target.count <= limits.head else { throw .targetTooLong }
        let (head, headers) = try fields(handle, target.count, limits)
        return try RequestHead(
            method: Method(text: head.method),
            target: target,
            minorVersion: Int(head.minor_version),
            headers: headers,
            limits: limits
        )
    }

    private static func fields(
        _ handle: OpaquePointer,
        _ targetLength: Int,
        _ limits: Limits
    ) throws(Refusal) -> (cm_head, Headers) {
        try withUnsafeTemporaryAllocation(of: cm_field.self, capacity: limits.fields) {
            (fields) throws(Refusal) in
            var head = cm_head()
            let block = cm_read_head(handle, targetLength, &head, fields.baseAddress, fields.count)
            guard head.size <= limits.head, block != CM_BLOCK_CROWDED else { throw .headTooLarge }
            guard block == CM_BLOCK_PLAIN else {
                throw .malformed("The headers are not in lines, or a line is not a field.")
            }
            return (head, try headers(fields[..<head.count]))
        }
    }

    private static func headers(
        _ fields: Slice<UnsafeMutableBufferPointer<cm_field>>
    ) throws(Refusal) -> Headers {
        var headers = Headers()
        for field in fields {
            let name = UnsafeRawBufferPointer(start: field.name, count: field.name_length)
            let value = UnsafeRawBufferPointer(start: field.value, count: field.value_length)
            guard name.allSatisfy(\.isTokenByte), value.allSatisfy(\.isFieldByte) else {
                throw .malformed("A header holds what no header may.")
            }
            headers.add(
                String(decoding: name, as: UTF8.self),
                String(decoding: value.withoutTrailingSpace, as: UTF8.self)
            )
        }
        return headers
    }
}

extension Method {
    fileprivate init(text: UnsafePointer<CChar>) {
        self.init(rawValue: String(cString: text))
    }
}

extension UnsafeRawBufferPointer {
    fileprivate var withoutTrailingSpace: Slice<UnsafeRawBufferPointer> {
        var rest = self[...]
        while let last = rest.last, last == .space || last == 0x09 { rest.removeLast() }
        return rest
    }
}
