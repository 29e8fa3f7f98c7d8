import CSimdjson

/// Where each token of a text begins.
///
/// simdjson's first stage finds them, and in the same pass it makes sure that the text is UTF-8, that
/// every string is closed and that none holds a bare control character. It reads the bytes where
/// they are. Four bytes for each token is all that it takes.
struct Marks: ~Copyable {
    private let marks: OpaquePointer

    init(_ text: UnsafeBufferPointer<UInt8>) throws(JSON.Failure) {
        guard text.count < JSON.lengthLimit else {
            throw JSON.Failure(reason: .tooLong, offset: JSON.lengthLimit)
        }
        guard let start = text.baseAddress, !text.isEmpty else {
            throw JSON.Failure(reason: .empty, offset: 0)
        }
        var marks: OpaquePointer?
        let verdict = csj_mark(start, text.count, &marks)
        guard verdict == CSJ_GOOD, let marks else {
            csj_free(marks)
            throw JSON.Failure(verdict, in: text)
        }
        self.marks = marks
    }

    /// The offsets in ascending order, with the text's length after the last.
    var offsets: UnsafeBufferPointer<UInt32> {
        UnsafeBufferPointer(start: csj_offsets(marks), count: csj_count(marks) + 1)
    }

    deinit { csj_free(marks) }
}

extension JSON.Failure {
    /// simdjson says what is wrong, but not where; so the place is looked for once more.
    fileprivate init(_ verdict: csj_verdict, in text: UnsafeBufferPointer<UInt8>) {
        switch verdict {
        case CSJ_NOT_UTF8:
            self.init(reason: .notUTF8, offset: offsetOfBadUTF8(in: text))
        case CSJ_CONTROL_CHARACTER, CSJ_UNCLOSED_STRING:
            self = flawOfStrings(in: text)
        case CSJ_NO_MEMORY:
            self.init(reason: .noMemory, offset: 0)
        default:
            self.init(reason: .empty, offset: text.count)
        }
    }
}

private func offsetOfBadUTF8(in text: UnsafeBufferPointer<UInt8>) -> Int {
    do {
        _ = try UTF8Span(validating: text.span)
        return text.count
    } catch {
        return error.byteOffsets.lowerBound
    }
}

private func flawOfStrings(in text: UnsafeBufferPointer<UInt8>) -> JSON.Failure {
    var opening: Int?
    var isEscaped = false
    for (offset, byte) in text.enumerated() {
        if isEscaped {
            isEscaped = false
        } else if byte == .backslash {
            // Outside of a string a backslash escapes nothing for us, but for simdjson it does.
            isEscaped = true
        } else if byte == .quote {
            opening = opening == nil ? offset : nil
        }
        if opening != nil && byte < 0x20 {
            return JSON.Failure(reason: .controlCharacter, offset: offset)
        }
    }
    return JSON.Failure(reason: .unclosedString, offset: opening ?? text.count)
}
