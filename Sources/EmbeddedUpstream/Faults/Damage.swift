import HTTP
import JSON
import System

/// What becomes of an answer on its way.
extension Reply {
    /// A list or sync with no more items than that.
    func keeping(_ count: Int) -> Reply {
        guard let document = try? JSON.Document(body) else { return self }
        var edit = JSON.Edit(document)
        for name in ["ciphers", "data"] {
            guard let items = document.root[name]?.array else { continue }
            let kept = JSON.Raw.array { array in
                for item in items.prefix(count) { array.add(item) }
            }
            guard (try? edit.set([.member(name)], to: kept)) != nil else { continue }
        }
        return with(edit.bytes)
    }

    /// A place that is not there is left alone.
    func reshaped(_ changes: [Reshaping]) -> Reply {
        guard let document = try? JSON.Document(body) else { return self }
        var edit = JSON.Edit(document)
        for reshaping in changes { reshaping.apply(to: &edit, document.root) }
        return with(edit.bytes)
    }

    /// Compressed, and without end in sight.
    func bomb(_ count: Int) -> Reply {
        var reply = with(GzippedZeros.bytes(count: count))
        reply.headers["Content-Encoding"] = "gzip"
        return reply
    }

    private func with(_ body: [UInt8]) -> Reply {
        var reply = self
        reply.body = body
        return reply
    }

    /// Cut off after so many bytes, as if the connection had broken.
    func truncated(after count: Int) -> Response {
        let (body, whole) = (Array(body.prefix(count)), self.body.count)
        return Response(
            status,
            headers: headers,
            body: .stream(length: max(whole, count + 1)) { writer in
                if !body.isEmpty { try await writer.write(body) }
                throw ConnectionCut()
            }
        )
    }

    /// Announced longer than it is.
    func misannounced(by count: Int) -> Response {
        let body = body
        return Response(
            status,
            headers: headers,
            body: .stream(length: body.count + max(1, count)) { writer in
                try await writer.write(body)
                throw ConnectionCut()
            }
        )
    }

    func stalled(after count: Int, _ rest: Duration, _ time: any Timekeeper) -> Response {
        let body = body
        return Response(
            status,
            headers: headers,
            body: .stream(length: nil) { writer in
                try await writer.write(Array(body.prefix(count)))
                try await time.sleep(for: rest)
                try await writer.write(Array(body.dropFirst(count)))
            }
        )
    }
}

extension Response {
    /// No answer at all: the connection is cut.
    static var cut: Response {
        Response(body: .cut(reset: false))
    }

    /// The same, only that a connection which is to be cut is reset instead of closed.
    var abrupt: Response {
        if case .cut = body { Response(body: .cut(reset: true)) } else { self }
    }
}

extension Reshaping {
    fileprivate func apply(to edit: inout JSON.Edit, _ root: JSON.Value) {
        guard let value = root.at(path) else {
            if case .set(let raw) = change, (try? edit.set(path, to: raw)) != nil { return }
            return
        }
        switch change {
        case .set(let raw): _ = try? edit.set(path, to: raw)
        case .remove: edit.remove(path)
        case .rename(let name):
            edit.remove(path)
            let renamed = JSON.Path(path.steps.dropLast() + [.member(name)])
            _ = try? edit.set(renamed, to: value.raw)
        }
    }
}

extension JSON.Value {
    fileprivate func at(_ path: JSON.Path) -> JSON.Value? {
        path.steps.reduce(self) { value, step in
            switch step {
            case .member(let name): value?[name]
            case .element(let position): value?[position]
            }
        }
    }
}

/// Zeros, packed as tightly as the fixed code of DEFLATE can: thirteen bits for 258 of them.
enum GzippedZeros {
    static func bytes(count: Int) -> [UInt8] {
        var writer = BitWriter()
        writer.bytes = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 255]
        writer.add(0b1, count: 1)  // The last block,
        writer.add(0b01, count: 2)  // of the fixed code.
        writer.addCode(0x30, count: 8)  // One zero,
        for _ in 0..<max(0, (count - 1) / 258) {
            writer.addCode(0xC5, count: 8)  // and 258 more,
            writer.addCode(0, count: 5)  // from one back.
        }
        writer.addCode(0, count: 7)
        writer.flush()
        // The sum at the end is not right; nobody should get that far.
        return writer.bytes + [0, 0, 0, 0, 0, 0, 0, 0]
    }

    private struct BitWriter {
        var bytes: [UInt8] = []
        private var pending: UInt64 = 0
        private var pendingCount: UInt64 = 0

        mutating func add(_ bits: UInt64, count: UInt64) {
            pending |= bits << pendingCount
            pendingCount += count
            while pendingCount >= 8 {
                bytes.append(UInt8(truncatingIfNeeded: pending))
                pending >>= 8
                pendingCount -= 8
            }
        }

        /// Codes stand with their highest bit first, everything else with its lowest.
        mutating func addCode(_ code: UInt64, count: UInt64) {
            for place in (0..<count).reversed() { add(code >> place & 1, count: 1) }
        }

        mutating func flush() { add(0, count: (8 - pendingCount) % 8) }
    }
}
