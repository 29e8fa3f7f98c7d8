import CCurl
import Glibc
import System

/// How a transfer ended, as curl sees it.
struct Ending {
    var kind: cc_ending
    /// Asked for only where somebody wants to know: of a success that nobody observes, nobody does.
    var report: () -> cc_report
    /// curl's own words.
    var text: String
    /// What this machine lacks for another connection; asked for only where that may be why.
    var lack: () -> Int32?

    /// What that means to the caller, of whose time `allowance` was left at the start.
    func reason(allowance: Duration) -> ClientError.Reason {
        if mayBeOurs, let code = lack() { return .exhausted(code: code) }
        return switch kind {
        case CC_UNRESOLVABLE: .unresolvable(.server)
        case CC_PROXY_UNRESOLVABLE: .unresolvable(.proxy)
        case CC_UNREACHABLE: unreachable
        case CC_TLS_FAILED: .untrusted(text)
        case CC_TIMED_OUT: .timedOut(phase(allowance))
        case CC_LOST: isTunnelRefused ? .refusedByProxy(text) : .connectionLost
        case CC_COMPLETE, CC_MALFORMED: .malformedAnswer(text)
        case CC_BAD_REQUEST: .invalidRequest(text)
        default: .local(text)
        }
    }

    /// Without a descriptor no name is looked up, no authority read and no connection begun, and curl has the
    /// same codes for that as for names that nobody knows, servers that nobody trusts and nobody who answers.
    private var mayBeOurs: Bool {
        switch kind {
        case CC_UNRESOLVABLE, CC_PROXY_UNRESOLVABLE, CC_TLS_FAILED, CC_LOCAL: true
        case CC_UNREACHABLE: report().system_error == 0
        default: false
        }
    }

    /// Some errors of `connect` are about this machine and not about the server.
    private var unreachable: ClientError.Reason {
        let code = Int32(report().system_error)
        if Descriptors.isLack(code) { return .exhausted(code: code) }
        let ours = [EADDRNOTAVAIL, EAGAIN, EACCES, EPERM]
        return ours.contains(code)
            ? .local(String(cString: strerror(code))) : .unreachable(code: code)
    }

    /// For curl that is a connection from which nothing could be read.
    private var isTunnelRefused: Bool { text.hasPrefix("CONNECT tunnel failed") }

    /// curl has three timers and one code for them.
    private func phase(_ allowance: Duration) -> ClientError.Phase {
        if text.hasPrefix("Operation too slow") { return .stalled }
        // Once there is a connection curl says so; its clock may have started a little after ours.
        if text.hasPrefix("Operation timed out") { return .total }
        let elapsed = Duration.microseconds(report().elapsed_microseconds)
        return elapsed + .milliseconds(1) < allowance ? .connect : .total
    }
}
