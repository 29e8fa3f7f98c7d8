import Glibc

/// How many files and sockets this process may have open at a time.
public enum Descriptors {
    /// Takes as many as the system lets this process have.
    ///
    /// - Returns: How many that are.
    @discardableResult
    public static func claim() -> UInt64 {
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0 else { return .max }
        var claimed = rlimit(rlim_cur: limit.rlim_max, rlim_max: limit.rlim_max)
        return UInt64(setrlimit(resource, &claimed) == 0 ? claimed.rlim_cur : limit.rlim_cur)
    }

    /// How many this process may have now.
    public static var limit: UInt64 {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else {
            return .max
        }
        return UInt64(limit.rlim_cur)
    }

    /// What keeps this process from opening another socket at this moment, if anything does.
    ///
    /// For libraries that were refused one, or a file that they needed first, and say only that something failed.
    public static var lack: Int32? {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        let code = errno
        if descriptor >= 0 { close(descriptor) }
        return descriptor < 0 && isLack(code) ? code : nil
    }

    /// Whether a call was refused because this process or this machine has nothing left for it.
    public static func isLack(_ code: Int32) -> Bool {
        [EMFILE, ENFILE, ENOMEM, ENOBUFS].contains(code)
    }
}
