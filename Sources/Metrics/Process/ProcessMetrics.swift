import Glibc
import System

extension Registry {
    /// Registers what every Prometheus client tells about its process, under the usual names.
    ///
    /// Read anew for each page. What the kernel does not tell (a container may hide `/proc`) is
    /// left out of the page.
    public func registerProcess() {
        let process = ProcessReader()
        beforeEachPage { process.read() }
        register(
            .counter("process_cpu_seconds_total", "CPU time spent in user and system mode.")
        ) { process.figures?.cpuSeconds }
        register(
            .gauge("process_start_time_seconds", "When the process was started, since 1970.")
        ) { process.figures?.startSeconds }
        register(
            .gauge("process_resident_memory_bytes", "Memory of the process that is in RAM.")
        ) { process.figures?.residentBytes }
        register(
            .gauge("process_virtual_memory_bytes", "Address space of the process.")
        ) { process.figures?.virtualBytes }
        register(.gauge("process_threads", "Threads of the process.")) {
            process.figures?.threads
        }
        register(.gauge("process_open_fds", "Open file descriptors.")) { openFiles() }
        register(.gauge("process_max_fds", "How many file descriptors may be open.")) {
            (try? Files.read("/proc/self/limits")).flatMap(ProcessTexts.maxOpenFiles)
        }
    }
}

/// The latest figures, read once for all metrics of a page.
private final class ProcessReader: Sendable {
    private let latest = Lock<ProcessFigures?>(nil)
    private let machine = ProcessFigures.Machine.current()

    var figures: ProcessFigures? { latest.withLock { $0 } }

    func read() {
        // Read under the lock, so that of two pages at once none puts back the older figures.
        latest.withLock { latest in
            let stat = try? Files.read("/proc/self/stat")
            latest = stat.flatMap { stat in
                machine.flatMap { ProcessFigures(stat: stat, on: $0) }
            }
        }
    }
}

extension ProcessFigures.Machine {
    fileprivate static func current() -> Self? {
        guard let stat = try? Files.read("/proc/stat") else { return nil }
        return ProcessTexts.bootSeconds(in: stat).map { boot in
            Self(
                ticksPerSecond: Double(sysconf(Int32(_SC_CLK_TCK))),
                bytesPerPage: Double(sysconf(Int32(_SC_PAGESIZE))),
                bootSeconds: boot
            )
        }
    }
}

/// Without the one that the counting itself opens.
private func openFiles() -> Double? {
    guard let directory = opendir("/proc/self/fd") else { return nil }
    defer { closedir(directory) }
    var names = 0
    while readdir(directory) != nil { names += 1 }
    // The directory itself, the one above, and the descriptor that reads them.
    return Double(names - 3)
}
