/// Writes into a ``Logbook``, with fields that all its lines have.
///
/// A value: whoever does something for an account makes itself a logger with that account, and
/// passes it on.
///
/// ```swift
/// let log = log.with("account", 1)
/// log.notice("The network is gone.", ["pending": count])
/// log.error("The store cannot be opened.", because: error, ["path": path])
/// ```
///
/// A message is a fixed sentence; what changes goes into the fields. So nothing gets into a line
/// that the compiler has not seen to be a ``LogField``, and equal things are called the same.
/// Where a level is off, its fields are not even computed.
public struct Logger: Sendable {
    private let book: Logbook
    private var inherited: [(name: StaticString, value: LogValue)] = []

    public init(_ book: Logbook) {
        self.book = book
    }

    /// A logger whose lines have this field too. A field of a line takes the place of an inherited
    /// one of that name.
    public func with(_ name: StaticString, _ value: some LogField) -> Logger {
        var logger = self
        logger.inherited.removeAll { $0.name.isSame(as: name) }
        logger.inherited.append((name: name, value: value.logValue))
        return logger
    }

    public func debug(_ message: StaticString, _ fields: @autoclosure () -> LogFields = [:]) {
        if book.isOn(.debug) { write(.debug, message, fields()) }
    }

    public func info(_ message: StaticString, _ fields: @autoclosure () -> LogFields = [:]) {
        if book.isOn(.info) { write(.info, message, fields()) }
    }

    public func notice(_ message: StaticString, _ fields: @autoclosure () -> LogFields = [:]) {
        if book.isOn(.notice) { write(.notice, message, fields()) }
    }

    public func warning(
        _ message: StaticString,
        because error: (any Error)? = nil,
        _ fields: @autoclosure () -> LogFields = [:]
    ) {
        if book.isOn(.warning) { write(.warning, message, fields(), error) }
    }

    public func error(
        _ message: StaticString,
        because error: (any Error)? = nil,
        _ fields: @autoclosure () -> LogFields = [:]
    ) {
        if book.isOn(.error) { write(.error, message, fields(), error) }
    }

    private func write(
        _ level: LogLevel,
        _ message: StaticString,
        _ fields: LogFields,
        _ error: (any Error)? = nil
    ) {
        var own = fields.pairs.map { (name: $0.name, value: $0.value.logValue) }
        if let error { own.append((name: "error", value: .text(String(describing: error)))) }
        let kept = inherited.filter { old in !own.contains { $0.name.isSame(as: old.name) } }
        book.write(level, message, kept + own)
    }
}

extension StaticString {
    fileprivate func isSame(as other: StaticString) -> Bool {
        withUTF8Buffer { mine in other.withUTF8Buffer { mine.elementsEqual($0) } }
    }
}
