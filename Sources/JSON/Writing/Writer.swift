extension JSON {
    /// Writes one value as compact JSON.
    ///
    /// ```swift
    /// let raw = JSON.Raw.object { folder in
    ///     folder.add("id", id)
    ///     folder.add("name", name)
    /// }
    /// ```
    ///
    /// What is written is right by construction: arrays and objects close themselves, a value from
    /// elsewhere goes in as a ``Raw`` and has been checked, and whoever writes no value or a second
    /// one is stopped. Only that names do not repeat is left to the caller.
    public struct Writer {
        var bytes: [UInt8] = []
        /// Whether the value of this place has been written.
        var isDone = false

        public mutating func null() { put("null") }

        public mutating func bool(_ value: Bool) { put(value ? "true" : "false") }

        public mutating func int(_ value: some BinaryInteger) {
            begin()
            if let digit = UInt8(exactly: value), digit < 10 { return bytes.append(.zero + digit) }
            bytes += String(value).utf8
        }

        public mutating func double(_ value: Finite) {
            begin()
            bytes += value.double.description.utf8
        }

        public mutating func string(_ value: String) {
            begin()
            quote(value)
        }

        public mutating func raw(_ raw: Raw) {
            begin()
            raw.source.withUnsafeBufferPointer {
                bytes.append(contentsOf: UnsafeBufferPointer(rebasing: $0[raw.range]))
            }
        }

        public mutating func array(_ body: (inout ArrayWriter) -> Void) {
            begin()
            bytes.append(.openBracket)
            var array = ArrayWriter(bytes: takeBytes())
            body(&array)
            bytes = array.takeBytes()
            bytes.append(.closeBracket)
        }

        public mutating func object(_ body: (inout ObjectWriter) -> Void) {
            begin()
            bytes.append(.openBrace)
            var object = ObjectWriter(bytes: takeBytes())
            body(&object)
            bytes = object.takeBytes()
            bytes.append(.closeBrace)
        }

        private mutating func begin() {
            precondition(!isDone, "There is a value in this place already.")
            isDone = true
        }

        private mutating func put(_ word: StaticString) {
            begin()
            bytes.append(
                contentsOf: UnsafeBufferPointer(
                    start: word.utf8Start,
                    count: word.utf8CodeUnitCount
                )
            )
        }

        /// Hands the bytes on, so that they are never shared while somebody writes.
        fileprivate mutating func takeBytes() -> [UInt8] {
            var taken: [UInt8] = []
            swap(&taken, &bytes)
            return taken
        }

        fileprivate mutating func next(_ write: (inout Writer) -> Void) {
            isDone = false
            write(&self)
            precondition(isDone, "A value must be written in this place.")
        }
    }

    /// Writes the elements of an array.
    public struct ArrayWriter {
        private var writer: Writer
        private var isFirst = true

        fileprivate init(bytes: [UInt8]) {
            writer = Writer(bytes: bytes)
        }

        public mutating func add(_ value: some Writable) {
            add { value.write(to: &$0) }
        }

        public mutating func object(_ body: (inout ObjectWriter) -> Void) {
            add { $0.object(body) }
        }

        private mutating func add(_ write: (inout Writer) -> Void) {
            if !isFirst { writer.bytes.append(.comma) }
            isFirst = false
            writer.next(write)
        }

        fileprivate mutating func takeBytes() -> [UInt8] { writer.takeBytes() }
    }

    /// Writes the members of an object.
    public struct ObjectWriter {
        private var writer: Writer
        private var isFirst = true

        fileprivate init(bytes: [UInt8]) {
            writer = Writer(bytes: bytes)
        }

        public mutating func add(_ name: String, _ value: some Writable) {
            add(name) { value.write(to: &$0) }
        }

        public mutating func array(_ name: String, _ body: (inout ArrayWriter) -> Void) {
            add(name) { $0.array(body) }
        }

        public mutating func object(_ name: String, _ body: (inout ObjectWriter) -> Void) {
            add(name) { $0.object(body) }
        }

        private mutating func add(_ name: String, _ write: (inout Writer) -> Void) {
            if !isFirst { writer.bytes.append(.comma) }
            isFirst = false
            writer.quote(name)
            writer.bytes.append(.colon)
            writer.next(write)
        }

        fileprivate mutating func takeBytes() -> [UInt8] { writer.takeBytes() }
    }
}
