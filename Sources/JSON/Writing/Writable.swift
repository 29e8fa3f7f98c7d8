extension JSON {
    /// A type that can be written as a value.
    ///
    /// ```swift
    /// extension Folder: JSON.Writable {
    ///     func write(to json: inout JSON.Writer) {
    ///         json.object {
    ///             $0.add("id", id)
    ///             $0.add("name", name)
    ///         }
    ///     }
    /// }
    /// ```
    public protocol Writable {
        /// Writes one value, neither more nor less.
        func write(to json: inout Writer)
    }

    /// A number that can be written: JSON has no word for infinity or for what is not a number.
    ///
    /// `Double` itself cannot be written, so that nobody forgets. Where `null` will do instead,
    /// `add("load", JSON.Finite(load))` says so.
    public struct Finite: Hashable, Sendable, Writable {
        public let double: Double

        public init?(_ double: Double) {
            guard double.isFinite else { return nil }
            self.double = double
        }

        public func write(to json: inout Writer) { json.double(self) }
    }
}

extension String: JSON.Writable {
    public func write(to json: inout JSON.Writer) { json.string(self) }
}

extension Int: JSON.Writable {
    public func write(to json: inout JSON.Writer) { json.int(self) }
}

extension Int64: JSON.Writable {
    public func write(to json: inout JSON.Writer) { json.int(self) }
}

extension UInt64: JSON.Writable {
    public func write(to json: inout JSON.Writer) { json.int(self) }
}

extension Bool: JSON.Writable {
    public func write(to json: inout JSON.Writer) { json.bool(self) }
}

extension JSON.Raw: JSON.Writable {
    public func write(to json: inout JSON.Writer) { json.raw(self) }
}

extension JSON.Value: JSON.Writable {
    public func write(to json: inout JSON.Writer) { json.raw(raw) }
}

extension Optional: JSON.Writable where Wrapped: JSON.Writable {
    public func write(to json: inout JSON.Writer) {
        if let self { self.write(to: &json) } else { json.null() }
    }
}

extension Array: JSON.Writable where Element: JSON.Writable {
    public func write(to json: inout JSON.Writer) {
        json.array { array in
            for element in self { array.add(element) }
        }
    }
}
