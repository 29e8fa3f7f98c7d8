import FuzzProperties

@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    guard let property = try? ItemReading() else { return -1 }
    property.demand(of: start, count: count)
    return 0
}
