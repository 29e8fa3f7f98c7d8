/// Says when the log has to be moved into the database.
///
/// SQLite would do it inside a commit, on whichever connection comes along. Here the writer does it
/// alone, because in this range of versions a checkpoint may lose a commit if another connection
/// starts the log over at the same moment; and it prefers a moment when nobody waits.
struct LogBound: Equatable {
    /// A log that has outgrown the bound so many times does not wait for a quiet moment.
    private static let patience = 8

    private let bound: Int
    private var pages = 0
    /// How long the log was when it was last moved. It starts over later, with the next commit that
    /// no reader stands in the way of.
    private var pagesMoved = 0

    init(pages bound: Int) { self.bound = bound }

    mutating func logHas(_ pages: Int) {
        if pages < pagesMoved { pagesMoved = 0 }
        self.pages = pages
    }

    /// Also called after an attempt that failed, so that the next one comes a bound later.
    mutating func logWasMoved() {
        pagesMoved = pages
    }

    /// A log that was moved but could not start over has grown all the same.
    func isOutgrown(whenQuiet isQuiet: Bool) -> Bool {
        pages - pagesMoved >= bound && (isQuiet || pages >= bound * Self.patience)
    }
}
