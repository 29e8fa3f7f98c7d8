/// A value while it is being edited.
indirect enum Draft: Sendable {
    /// As the original has it.
    case kept(JSON.Value)
    case written(JSON.Raw)
    /// An array or object inside of which something has changed.
    case list(DraftList)

    func write(to bytes: inout [UInt8]) {
        switch self {
        case .kept(let value): bytes += value.raw.bytes
        case .written(let raw): bytes += raw.bytes
        case .list(let list): list.write(to: &bytes)
        }
    }

    private var kind: JSON.Kind {
        switch self {
        case .kept(let value): value.kind
        case .written(let raw): raw.kind
        case .list(let list): list.kind
        }
    }

    private var unfolded: DraftList {
        switch self {
        case .list(let list): return list
        case .kept(let value): return DraftList(value)
        case .written(let raw):
            guard let document = try? JSON.Document(raw, depthLimit: .max) else {
                preconditionFailure("A raw value is JSON, and there is memory to read it.")
            }
            return DraftList(document.root)
        }
    }

    /// Lets the body change the array or object that is here; one is made in place of `null`.
    private mutating func change(
        as kind: JSON.Kind,
        _ body: (inout DraftList) throws(JSON.Mismatch) -> Void
    ) throws(JSON.Mismatch) {
        if self.kind == .null {
            self = .written(kind == .object ? .object { _ in } : .array { _ in })
        }
        guard self.kind == kind else {
            throw JSON.Mismatch(kind == .object ? "must be an object" : "must be an array")
        }
        var list = unfolded
        try body(&list)
        self = .list(list)
    }
}

typealias Steps = ArraySlice<JSON.Step>

extension Draft {
    mutating func set(_ path: Steps, to value: JSON.Raw) throws(JSON.Mismatch) {
        guard let step = path.first else {
            self = .written(value)
            return
        }
        try change(as: step.kindOfContainer) { (list) throws(JSON.Mismatch) in
            guard let index = list.index(making: step) else {
                throw JSON.Mismatch("is missing", at: JSON.Path([step]))
            }
            do throws(JSON.Mismatch) {
                try list.entries[index].content.set(path.dropFirst(), to: value)
            } catch {
                throw error.inside(step)
            }
        }
    }

    mutating func remove(_ path: Steps) -> Bool {
        guard let step = path.first, kind == step.kindOfContainer else { return false }
        var list = unfolded
        guard let index = list.index(of: step) else { return false }
        if path.count == 1 {
            list.remove(step)
        } else if !list.entries[index].content.remove(path.dropFirst()) {
            return false
        }
        self = .list(list)
        return true
    }
}

extension JSON.Step {
    fileprivate var kindOfContainer: JSON.Kind {
        switch self {
        case .member: .object
        case .element: .array
        }
    }
}
