import CSystem
import Glibc

/// What keeps the memory of this process from other eyes.
public enum Privacy {
    /// No core dump, whatever goes wrong, and no debugger of another process.
    public static func forbidDumps() {
        var limit = rlimit(rlim_cur: 0, rlim_max: 0)
        setrlimit(__rlimit_resource_t(UInt32(RLIMIT_CORE.rawValue)), &limit)
        cs_forbid_dumps()
    }
}
