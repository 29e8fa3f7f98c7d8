/// What a segment of a path can be read as. A path whose segment cannot be read as the type that
/// its route names is not a path of that route.
public protocol PathValue: Sendable {
    init?(pathSegment: String)
}

extension String: PathValue {
    public init?(pathSegment: String) { self = pathSegment }
}

extension Int: PathValue {
    /// Decimal digits, and nothing else.
    public init?(pathSegment: String) {
        guard pathSegment.utf8.allSatisfy(\.isDigit) else { return nil }
        self.init(pathSegment)
    }
}
