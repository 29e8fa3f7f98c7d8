/// Says when the log has to be moved into the database, and when it has to start over.
///
/// SQLite would do both inside a commit, on whichever connection comes along. Here the ``LogMover``
/// moves it while edits go on. It then starts over by itself with the next commit, if none came
/// meanwhile; under constant load one always does, and the writer has to see to it.
struct LogBound: Equatable {
    /// A log that has outgrown the bound so many times does not wait for a quiet moment.
    private static let patience = 8

    private let bound: Int
    private var pages = 0
    /// How long the log was when it was last moved. It starts over later, with the next commit that
    /// no reader stands in the way of.
    private var pagesMoved = 0
    /// How long it was when it was last to start over.
    private var pagesTried = 0

    init(pages bound: Int) { self.bound = bound }

    mutating func logHas(_ pages: Int) {
        if pages < pagesMoved { pagesMoved = 0 }
        if pages < pagesTried { pagesTried = 0 }
        self.pages = pages
    }

    /// Also called after an attempt that failed, so that the next one comes a bound later.
    mutating func logWasMoved() { pagesMoved = pages }

    /// A long reader may have stood in the way, so that the log goes on growing.
    mutating func logWasToStartOver() {
        pagesMoved = pages
        pagesTried = pages
    }

    /// A log that was moved but could not start over has grown all the same.
    var isOutgrown: Bool { pages - pagesMoved >= bound }

    var isLong: Bool { pages >= bound * Self.patience && pages - pagesTried >= bound }
}
