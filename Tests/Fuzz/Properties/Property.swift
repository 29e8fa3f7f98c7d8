/// Something that must hold for every input, whoever made it up.
public protocol Property: Sendable {
    /// What did not hold, in a sentence.
    func violation(by bytes: [UInt8]) -> String?
}

extension Property {
    /// For libFuzzer, which takes a stop for a finding.
    public func demand(of start: UnsafePointer<UInt8>?, count: Int) {
        let bytes = Array(UnsafeBufferPointer(start: start, count: count))
        if let violation = violation(by: bytes) { preconditionFailure(violation) }
    }
}
