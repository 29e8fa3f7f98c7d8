public import JSON

/// How the master key is derived, in the numbers of the wire. They are whatever a server says;
/// `KeyDerivation` of the room `Crypto` holds them to bounds.
public struct DerivationSettings: Sendable, Hashable {
    /// 0 is PBKDF2 with SHA-256, 1 is Argon2id.
    public let kind: Int
    public let iterations: Int
    /// In MiB.
    public let memory: Int?
    public let parallelism: Int?

    public init(kind: Int, iterations: Int, memory: Int? = nil, parallelism: Int? = nil) {
        self.kind = kind
        self.iterations = iterations
        self.memory = memory
        self.parallelism = parallelism
    }

    /// What a server says of an address it does not know.
    public static let usual = DerivationSettings(kind: 0, iterations: 600_000)
}

extension DerivationSettings: JSON.Readable {
    /// The object of its own: `{"kdfType": 0, "iterations": 600000, …}`.
    public init(json: JSON.Value) throws(JSON.Mismatch) {
        kind = try json.read(anyCase: "kdfType")
        iterations = try json.read(anyCase: "iterations")
        memory = try json.read(anyCase: "memory")
        parallelism = try json.read(anyCase: "parallelism")
    }

    /// The members `kdf`, `kdfIterations` and so on of a larger object.
    public init(flat json: JSON.Value) throws(JSON.Mismatch) {
        kind = try json.read(anyCase: "kdf")
        iterations = try json.read(anyCase: "kdfIterations")
        memory = try json.read(anyCase: "kdfMemory")
        parallelism = try json.read(anyCase: "kdfParallelism")
    }

    public func write(to object: inout JSON.ObjectWriter, _ spelling: Spelling) {
        object.add(spelling("kdfType"), kind)
        object.add(spelling("iterations"), iterations)
        object.add(spelling("memory"), memory)
        object.add(spelling("parallelism"), parallelism)
    }

    public func writeFlat(to object: inout JSON.ObjectWriter, _ spelling: Spelling) {
        object.add(spelling("kdf"), kind)
        object.add(spelling("kdfIterations"), iterations)
        object.add(spelling("kdfMemory"), memory)
        object.add(spelling("kdfParallelism"), parallelism)
    }
}
