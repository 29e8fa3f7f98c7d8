/// JSON as this house needs it: read fast and strictly, split without building trees, changed
/// without touching what was not meant, and written byte by byte.
///
/// - ``Document`` reads a text; ``Value`` walks in it.
/// - ``Split`` takes a large body apart into the raw texts of its elements.
/// - ``Edit`` changes a text and leaves every other byte as it was.
/// - ``Writer`` writes; ``Writable`` and ``Readable`` are for our own types.
///
/// What was read keeps its spelling: the raw bytes of every value, numbers above all, can be had
/// as they came.
public enum JSON {
    /// Texts of this length and more are refused.
    public static let lengthLimit = Int(Int32.max)
}
