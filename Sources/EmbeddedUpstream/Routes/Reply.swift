import HTTP
import JSON

/// What a call is answered with.
struct Reply: Sendable {
    var status: Status
    var headers: Headers = [:]
    var body: [UInt8] = []

    init(_ status: Status = .ok) {
        self.status = status
    }

    init(_ status: Status = .ok, json: JSON.Raw) {
        self.status = status
        headers = ["Content-Type": "application/json"]
        body = Array(json.bytes)
    }

    init(_ value: some JSON.Writable, _ status: Status = .ok, capacity: Int = 512) {
        self.init(status, json: JSON.Raw(value, capacity: capacity))
    }

    static func list(capacity: Int = 1_024, _ elements: (inout JSON.ArrayWriter) -> Void) -> Reply {
        Reply(
            json: .object(capacity: capacity) {
                $0.array("data", elements)
                $0.add("object", "list")
                $0.add("continuationToken", String?.none)
            }
        )
    }

    static func bytes(_ bytes: [UInt8], type: String) -> Reply {
        var reply = Reply()
        reply.headers["Content-Type"] = type
        reply.body = bytes
        return reply
    }

    var response: Response { Response(status, headers: headers, body: .bytes(body)) }
}

// MARK: Refusals

extension Reply {
    static func bitwarden(_ message: String, _ status: Status) -> Reply {
        Reply(
            status,
            json: .object {
                $0.add("message", message)
                $0.add("validationErrors", String?.none)
                $0.closeBitwarden()
            }
        )
    }

    static func model(_ member: String, _ message: String) -> Reply {
        Reply(
            .badRequest,
            json: .object {
                $0.add("message", "The model state is invalid.")
                $0.object("validationErrors") { $0.add(member, [message]) }
                $0.closeBitwarden()
            }
        )
    }

    static func vaultwarden(_ message: String, _ status: Status = .badRequest) -> Reply {
        Reply(
            status,
            json: .object {
                $0.add("message", message)
                $0.object("validationErrors") { $0.add("", [message]) }
                $0.object("errorModel") {
                    $0.add("message", message)
                    $0.add("object", "error")
                }
                $0.add("error", "")
                $0.add("error_description", "")
                $0.closeBitwarden()
            }
        )
    }

    static func oauth(_ error: String, _ description: String?, model: String? = nil) -> Reply {
        Reply(
            .badRequest,
            json: .object {
                $0.add("error", error)
                if let description { $0.add("error_description", description) }
                if let model {
                    $0.object("ErrorModel") {
                        $0.add("Message", model)
                        $0.add("Object", "error")
                    }
                }
            }
        )
    }

    /// What the framework of the one server says where the server itself says nothing.
    static func framework(_ status: Status) -> Reply {
        Reply(
            status,
            json: .object {
                $0.object("error") {
                    $0.add("code", status.rawValue)
                    $0.add("reason", "Not Found")
                    $0.add("description", "The requested resource could not be found.")
                }
            }
        )
    }

    static func plain(_ status: Status, _ text: String) -> Reply {
        var reply = Reply.bytes(Array(text.utf8), type: "text/plain; charset=utf-8")
        reply.status = status
        return reply
    }

    static func page(_ status: Status, _ reason: String, _ text: String) -> Reply {
        var reply = Reply(status)
        reply.headers["Content-Type"] = "text/html; charset=utf-8"
        reply.body = Array(
            """
            <!DOCTYPE html>
            <html lang="en">
            <head>
                <meta charset="utf-8">
                <title>\(status) \(reason)</title>
            </head>
            <body align="center">
                <h1>\(status): \(reason)</h1>
                <p>\(text)</p>
            </body>
            </html>
            """.utf8
        )
        return reply
    }
}

extension JSON.ObjectWriter {
    fileprivate mutating func closeBitwarden() {
        add("exceptionMessage", String?.none)
        add("exceptionStackTrace", String?.none)
        add("innerExceptionMessage", String?.none)
        add("object", "error")
    }
}
