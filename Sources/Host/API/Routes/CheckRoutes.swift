import HTTP
public import JSON
public import Sync

/// The check of the running host's own state, for `holdfast verify`.
extension VaultAPI {
    typealias Check = @Sendable () async throws(StoreError) -> Verification

    static let checkRoutes: [Route] = [
        .host(
            .get,
            "/verify",
            scope: .admin,
            Description("Checks what lies on the disk.", answer: .data(.verification))
        ) { call in
            try call.requireAllAccounts()
            do throws(StoreError) {
                return .success(try await call.api.verify())
            } catch {
                return .failure(error.description)
            }
        }
    ]
}

extension Verification: JSON.Writable {
    public func write(to json: inout JSON.Writer) {
        json.object { report in
            report.add("object", "verification")
            report.add("whole", isWhole)
            report.add("accounts", accounts)
            report.add("items", items)
            report.add("changes", changes)
            report.array("problems") { list in
                for problem in problems {
                    list.object {
                        $0.add("check", problem.check.rawValue)
                        $0.add("problem", problem.text)
                    }
                }
            }
        }
    }
}
