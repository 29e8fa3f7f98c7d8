extension JSON {
    /// A large body taken apart: which member holds what, where each element of an array lies, and
    /// where in each element the fields lie that were asked for.
    ///
    /// ```swift
    /// let sync = try JSON.Split(body, picking: ["id", "revisionDate"])
    /// for cipher in sync["ciphers"]?.elements ?? [] {
    ///     store(cipher["id"]?.string, cipher.raw.bytes)
    /// }
    /// ```
    ///
    /// All of the body has been checked before the first element can be seen, so half an answer is
    /// never taken for a whole one. No element is copied; besides the body itself it takes eight
    /// bytes for each element and each field picked, and while it reads, four for each token.
    public struct Split: Sendable {
        let bytes: [UInt8]
        let picks: [String]
        let places: [Place]
        let parts: [PartPlaces]

        /// - Parameter names: The members that are looked for in each element that is an object, their
        ///   first letter in either case.
        /// - Throws: ``Failure`` if the body is anything but one JSON value in strict UTF-8.
        public init(
            _ body: [UInt8],
            picking names: [String] = [],
            depthLimit: Int = Document.depthLimit
        ) throws(Failure) {
            let dissection = try Dissection.dissect(body, picking: names, depthLimit: depthLimit)
            bytes = body
            picks = names
            places = dissection.places
            parts = dissection.parts
        }

        /// The whole value: an array has elements of its own.
        public var root: Part { part(at: 0) }

        /// The members of the body, if it is an object, in order.
        public var members: [(name: String, part: Part)] {
            bytes.withUnsafeBufferPointer { text in
                parts.indices.dropFirst().map {
                    (text.string(at: parts[$0].name.extent), part(at: $0))
                }
            }
        }

        /// The body's member of that name; of several, the last.
        public subscript(name: String) -> Part? { last(named: name, .exact) }

        /// The body's member of that name, its first letter in either case.
        public subscript(anyCase name: String) -> Part? {
            self[name] ?? last(named: name, .anyCase)
        }

        private func last(named name: String, _ letters: Letters) -> Part? {
            var name = name
            let index = name.withUTF8 { name in
                bytes.withUnsafeBufferPointer { text in
                    parts.indices.dropFirst().last {
                        text.name(at: parts[$0].name.extent, is: name, letters)
                    }
                }
            }
            return index.map { part(at: $0) }
        }

        private func part(at index: Int) -> Part {
            Part(split: self, places: parts[index])
        }
    }

    /// One member of a body that was split, or all of it.
    public struct Part: Sendable {
        let split: Split
        let places: PartPlaces

        public var raw: Raw { Raw(source: split.bytes, extent: places.value.extent) }

        /// The elements, if this is an array.
        public var elements: Pieces? {
            places.elements.map { Pieces(split: split, first: $0.lowerBound, count: $0.count) }
        }
    }

    /// The elements of an array in a body that was split.
    public struct Pieces: RandomAccessCollection, Sendable {
        let split: Split
        let first: Int
        public let count: Int

        public var startIndex: Int { 0 }
        public var endIndex: Int { count }

        public subscript(position: Int) -> Piece {
            precondition(indices.contains(position), "There is no such element.")
            return Piece(split: split, index: (first + position) * (split.picks.count + 1))
        }
    }

    /// One element, with the fields that were picked.
    public struct Piece: Sendable {
        let split: Split
        let index: Int

        public var raw: Raw { Raw(source: split.bytes, extent: split.places[index].extent) }

        /// The element's member of that name, which must be among those picked; of several, the last.
        public subscript(name: String) -> Raw? {
            guard let pick = split.picks.firstIndex(of: name) else {
                preconditionFailure("\(name) was not picked.")
            }
            let extent = split.places[index + 1 + pick].extent
            return extent.end == 0 ? nil : Raw(source: split.bytes, extent: extent)
        }
    }
}

/// Says how much it is and not what it says, for that may be secret.
extension JSON.Split: CustomStringConvertible, CustomReflectable {
    public var description: String { "\(root.raw), \(parts.count - 1) members" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
