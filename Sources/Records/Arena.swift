internal import CRecords
internal import Glibc

/// Memory for the messages of one record, given back all at once.
struct Arena: ~Copyable {
    private var blocks: [UnsafeMutableRawPointer] = []
    private var free = UnsafeMutableRawBufferPointer(start: nil, count: 0)

    /// Most records fit, and the allocator keeps blocks of that size at hand.
    private static let blockSize = 1_024
    private static let alignment = 16

    mutating func allocate(_ count: Int) -> UnsafeMutableRawPointer {
        let size = max((count + Self.alignment - 1) & -Self.alignment, Self.alignment)
        if size > free.count { addBlock(atLeast: size) }
        guard let memory = free.baseAddress else { preconditionFailure("No memory is left.") }
        free = UnsafeMutableRawBufferPointer(rebasing: free[size...])
        return memory
    }

    private mutating func addBlock(atLeast size: Int) {
        let size = max(size, Self.blockSize)
        let block = UnsafeMutableRawPointer.allocate(
            byteCount: size,
            alignment: Self.alignment
        )
        blocks.append(block)
        free = UnsafeMutableRawBufferPointer(start: block, count: size)
    }

    mutating func message<Message>(
        _ initialize: (UnsafeMutablePointer<Message>?) -> Void
    ) -> UnsafeMutablePointer<Message> {
        let message = allocate(MemoryLayout<Message>.size)
            .bindMemory(to: Message.self, capacity: 1)
        initialize(message)
        return message
    }

    /// A text of C, which ends at its first NUL.
    mutating func text(_ text: String) -> UnsafeMutablePointer<CChar> {
        var text = text
        return text.withUTF8 { bytes in
            let memory = allocate(bytes.count + 1)
            if let first = bytes.baseAddress {
                memory.copyMemory(from: first, byteCount: bytes.count)
            }
            memory.storeBytes(of: 0, toByteOffset: bytes.count, as: UInt8.self)
            return memory.bindMemory(to: CChar.self, capacity: bytes.count + 1)
        }
    }

    mutating func bytes(_ bytes: [UInt8]) -> ProtobufCBinaryData {
        let memory = allocate(bytes.count)
        bytes.withUnsafeBytes { source in
            guard let first = source.baseAddress else { return }
            memory.copyMemory(from: first, byteCount: source.count)
        }
        return ProtobufCBinaryData(
            len: bytes.count,
            data: memory.bindMemory(to: UInt8.self, capacity: bytes.count)
        )
    }

    mutating func array<Element>(_ elements: [Element]) -> UnsafeMutablePointer<Element> {
        let memory = allocate(elements.count * MemoryLayout<Element>.stride)
            .bindMemory(to: Element.self, capacity: elements.count)
        for (index, element) in elements.enumerated() { memory[index] = element }
        return memory
    }

    deinit {
        for block in blocks { block.deallocate() }
    }
}

/// Packs a message of any kind.
func packed(_ message: UnsafePointer<ProtobufCMessage>) -> [UInt8] {
    let count = protobuf_c_message_get_packed_size(message)
    return [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
        initialized = protobuf_c_message_pack(message, buffer.baseAddress)
    }
}

extension ProtobufCBinaryData {
    var array: [UInt8] { Array(UnsafeBufferPointer(start: data, count: len)) }
}
