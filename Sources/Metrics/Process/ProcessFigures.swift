/// What the kernel says about this process, read from the texts under `/proc`.
struct ProcessFigures: Equatable, Sendable {
    var cpuSeconds: Double
    var threads: Double
    var virtualBytes: Double
    var residentBytes: Double
    /// Since 1970.
    var startSeconds: Double

    /// What the texts leave to the machine.
    struct Machine: Equatable, Sendable {
        /// The kernel's own ticks.
        var ticksPerSecond: Double
        var bytesPerPage: Double
        /// When the machine was started, since 1970.
        var bootSeconds: Double
    }

    /// - Parameter stat: The contents of `/proc/self/stat`.
    ///
    /// The second field is the program's name in parentheses, and the name may hold blanks and
    /// parentheses of its own: what counts begins behind the last one that closes.
    init?(stat: [UInt8], on machine: Machine) {
        guard let end = stat.lastIndex(of: UInt8(ascii: ")")) else { return nil }
        let fields = stat[(end + 1)...].split { $0 == 0x20 || $0 == 0x0A }.map {
            Double(String(decoding: $0, as: UTF8.self))
        }
        // The manual counts from 1, and the first of these is its third.
        func field(_ number: Int) -> Double? {
            fields.indices.contains(number - 3) ? fields[number - 3] : nil
        }
        guard let user = field(14), let system = field(15), let threads = field(20),
            let start = field(22), let virtual = field(23), let pages = field(24)
        else { return nil }
        cpuSeconds = (user + system) / machine.ticksPerSecond
        self.threads = threads
        virtualBytes = virtual
        residentBytes = pages * machine.bytesPerPage
        startSeconds = machine.bootSeconds + start / machine.ticksPerSecond
    }
}

enum ProcessTexts {
    /// When the machine was started, since 1970, from the contents of `/proc/stat`.
    static func bootSeconds(in stat: [UInt8]) -> Double? {
        number(in: stat, behind: "btime ")
    }

    /// The limit that is in force, from the contents of `/proc/self/limits`; infinite if there is
    /// none.
    static func maxOpenFiles(in limits: [UInt8]) -> Double? {
        number(in: limits, behind: "Max open files ")
    }

    private static func number(in text: [UInt8], behind name: String) -> Double? {
        let line = text.split(separator: 0x0A).first { $0.starts(with: name.utf8) }
        let word = line?.dropFirst(name.utf8.count).split(separator: 0x20).first
        guard let word = word.map({ String(decoding: $0, as: UTF8.self) }) else { return nil }
        return word == "unlimited" ? .infinity : Double(word)
    }
}
