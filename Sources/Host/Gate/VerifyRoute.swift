import HTTP
public import JSON
public import Sync

/// `GET /verify`: the check of a running host's own state, for `holdfast verify`.
struct VerifyRoute: Sendable {
    static let template: (method: HTTP.Method, template: String) = (.get, "/verify")
    let verify: @Sendable () async throws(StoreError) -> Verification

    /// Nil if the request asks for something else.
    func answer(_ request: Request) async -> Response? {
        guard concerns(request) else { return nil }
        do throws(StoreError) {
            return .success(JSON.Raw(try await verify()))
        } catch {
            return .failure(error.description)
        }
    }

    func concerns(_ request: Request) -> Bool {
        request.method == .get && request.target.segments.map { $0.lowercased() } == ["verify"]
    }
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
