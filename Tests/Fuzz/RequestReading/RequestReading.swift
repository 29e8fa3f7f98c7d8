import FuzzProperties

@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    RequestReading().demand(of: start, count: count)
    return 0
}

/// The package manager makes this the program's `main`, so it has to hand over to libFuzzer.
@_cdecl("FuzzRequestReading_main")
public func start(_ count: Int32, _ arguments: Arguments) -> Int32 {
    var (count, arguments) = (count, arguments)
    return runDriver(&count, &arguments, testOneInput)
}

public typealias Arguments = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>

@_silgen_name("LLVMFuzzerRunDriver")
private func runDriver(
    _ count: UnsafeMutablePointer<Int32>,
    _ arguments: UnsafeMutablePointer<Arguments>,
    _ test: @convention(c) (UnsafePointer<UInt8>?, Int) -> Int32
) -> Int32
