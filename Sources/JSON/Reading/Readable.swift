extension JSON {
    /// A type that can be read from a value.
    ///
    /// ```swift
    /// extension Folder: JSON.Readable {
    ///     init(json: JSON.Value) throws(JSON.Mismatch) {
    ///         id = try json.read("id")
    ///         name = try json.read("name")
    ///     }
    /// }
    /// ```
    public protocol Readable {
        init(json: Value) throws(Mismatch)

        /// What stands in for a member that is missing, if anything may.
        static var inAbsence: Self? { get }
    }
}

extension JSON.Readable {
    public static var inAbsence: Self? { nil }
}

extension JSON.Value {
    /// The member of that name. An optional may be missing or `null`, all else may not.
    public func read<Wanted: JSON.Readable>(
        _ name: String,
        as type: Wanted.Type = Wanted.self
    ) throws(JSON.Mismatch) -> Wanted {
        try read(try required()[name], .member(name))
    }

    /// The member of that name, its first letter in either case.
    public func read<Wanted: JSON.Readable>(
        anyCase name: String,
        as type: Wanted.Type = Wanted.self
    ) throws(JSON.Mismatch) -> Wanted {
        try read(try required()[anyCase: name], .member(name))
    }

    private func required() throws(JSON.Mismatch) -> Self {
        guard kind == .object else { throw JSON.Mismatch("must be an object") }
        return self
    }

    private func read<Wanted: JSON.Readable>(
        _ value: JSON.Value?,
        _ step: JSON.Step
    ) throws(JSON.Mismatch) -> Wanted {
        guard let value else {
            if let stand = Wanted.inAbsence { return stand }
            throw JSON.Mismatch("is missing", at: JSON.Path([step]))
        }
        do {
            return try Wanted(json: value)
        } catch {
            throw error.inside(step)
        }
    }
}

extension String: JSON.Readable {
    public init(json: JSON.Value) throws(JSON.Mismatch) {
        guard let string = json.string else { throw JSON.Mismatch("must be a string") }
        self = string
    }
}

extension Int: JSON.Readable {
    /// A whole number, however it is spelled: some clients write 1.0 for 1.
    public init(json: JSON.Value) throws(JSON.Mismatch) {
        guard let int = json.int ?? json.double.flatMap(Int.init(exactly:)) else {
            throw JSON.Mismatch("must be a whole number")
        }
        self = int
    }
}

extension Double: JSON.Readable {
    public init(json: JSON.Value) throws(JSON.Mismatch) {
        guard let double = json.double else { throw JSON.Mismatch("must be a number") }
        self = double
    }
}

extension Bool: JSON.Readable {
    public init(json: JSON.Value) throws(JSON.Mismatch) {
        guard let bool = json.bool else { throw JSON.Mismatch("must be true or false") }
        self = bool
    }
}

extension JSON.Raw: JSON.Readable {
    public init(json: JSON.Value) throws(JSON.Mismatch) {
        self = json.raw
    }
}

extension Optional: JSON.Readable where Wrapped: JSON.Readable {
    public init(json: JSON.Value) throws(JSON.Mismatch) {
        self = json.isNull ? nil : try Wrapped(json: json)
    }

    public static var inAbsence: Self? { .some(.none) }
}

extension Array: JSON.Readable where Element: JSON.Readable {
    public init(json: JSON.Value) throws(JSON.Mismatch) {
        guard let elements = json.array else { throw JSON.Mismatch("must be an array") }
        self = []
        reserveCapacity(elements.count)
        for (position, element) in elements.enumerated() {
            do {
                append(try Element(json: element))
            } catch {
                throw error.inside(.element(position))
            }
        }
    }
}
