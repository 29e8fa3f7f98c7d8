import HTTP
import JSON

extension Response {
    /// As the API answers: what was asked for, or in words why not.
    static func envelope(_ data: JSON.Raw? = nil) -> Response {
        json(
            JSON.Raw.object { json in
                json.add("success", true)
                if let data { json.add("data", data) }
            }
        )
    }

    static func envelope(refusing message: String, _ status: Status = .badRequest) -> Response {
        json(
            JSON.Raw.object { json in
                json.add("success", false)
                json.add("message", message)
            },
            status
        )
    }
}
