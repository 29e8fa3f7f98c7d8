/// How the names of members are written: the identity server says `Kdf`, the rest of the API `kdf`.
///
/// Only for writing. What is read is read in either.
public enum Spelling: Sendable {
    case camel
    case pascal

    func callAsFunction(_ name: String) -> String {
        switch self {
        case .camel: name
        case .pascal: name.prefix(1).uppercased() + name.dropFirst()
        }
    }
}
