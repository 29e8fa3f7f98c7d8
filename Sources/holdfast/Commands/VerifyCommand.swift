import Glibc
import HTTP
import Host
import JSON
import Sync
import System

extension Command {
    /// Looks whether what lies on the disk is what it should be.
    static let verify = Command(
        name: "verify",
        summary: "checks the host's state: database, records, journal, no plaintext",
        flags: HostLine.flags,
        run: { invocation, console throws(Failure) in
            let report = try await console.waiting(for: "Looking through everything…") {
                () async throws(Failure) -> JSON.Raw in try await Self.report(invocation)
            }
            let showing = Showing(invocation, console)
            showing.lines(report) { lines(of: report) }
            guard (try? JSON.Document(report))?.root["whole"]?.bool == true else {
                throw Failure(status: .failure, message: "What was found is not as it should be.")
            }
        }
    )

    /// From the host if one runs there; else from the disk.
    private static func report(_ invocation: Invocation) async throws(Failure) -> JSON.Raw {
        do throws(Failure) {
            return try await HostLine(invocation).askHost(.get, "/verify", takesLong: true).json
        } catch  where error.status == .hostNotRunning && invocation.value("socket") == nil {
            return try await report(ofStopped: invocation)
        }
    }

    private static func report(
        ofStopped invocation: Invocation
    ) async throws(Failure) -> JSON.Raw {
        let path =
            HostSettings.state(
                named: invocation.value("state"),
                environment: Environment.current
            ) ?? ""
        guard Files.isDirectory(path) else {
            throw Failure(status: .failure, message: "There is no host's state at \(path).")
        }
        guard !Store.isMissing(in: path) else {
            throw Failure(status: .failure, message: "There is no host's database in \(path).")
        }
        do throws(StoreError) {
            return JSON.Raw(try await StateCheck.verify(StateDirectory(path)))
        } catch {
            let status: ExitStatus = error.isForbidden ? .notAllowed : .failure
            throw Failure(status: status, message: error.description)
        }
    }

    private static func lines(of report: JSON.Raw) -> [String] {
        guard let json = (try? JSON.Document(report))?.root else { return [] }
        let counts = ["accounts", "items", "changes"].map { "\($0) \(json.shown($0))" }
        let problems = (json["problems"]?.array.map { Array($0) } ?? []).map {
            "  \($0.shown("check")): \($0.shown("problem"))"
        }
        let head = problems.isEmpty ? "All is as it should be" : "Not all is as it should be"
        return ["\(head): \(counts.joined(separator: ", "))."] + problems
    }
}

extension StoreError {
    /// Whether the files are somebody else's.
    fileprivate var isForbidden: Bool {
        guard case .system(let error) = self else { return false }
        return [EACCES, EPERM].contains(error.code)
    }
}
