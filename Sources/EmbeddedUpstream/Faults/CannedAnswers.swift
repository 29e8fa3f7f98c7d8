extension Canned {
    /// What a portal says that wants somebody to log in first.
    public static let captivePortal = html(
        200,
        "<!DOCTYPE html><html><body>Please log in to the network.</body></html>"
    )

    /// What stands in front of the cloud says to those it does not like.
    public static let ban = html(
        403,
        "<!DOCTYPE html><html><body>Error 1006: you have been banned.</body></html>"
    )

    public static let badGateway = html(502, "<html><body>502 Bad Gateway</body></html>")

    public static func html(_ status: Int, _ body: String) -> Canned {
        Canned(status: status, contentType: "text/html; charset=utf-8", body: Array(body.utf8))
    }

    public static func json(_ status: Int, _ body: String) -> Canned {
        Canned(status: status, contentType: "application/json", body: Array(body.utf8))
    }

    /// A refusal with a sentence for a person.
    public static func refusal(_ status: Int, _ message: String) -> Canned {
        json(
            status,
            """
            {"message":"\(message)","validationErrors":null,"exceptionMessage":null,\
            "exceptionStackTrace":null,"innerExceptionMessage":null,"object":"error"}
            """
        )
    }

    public static let forbidden = refusal(403, "You do not have permission to do that.")
    public static let conflict = refusal(409, "The item has changed meanwhile.")
    public static let tooLarge = refusal(413, "The request is too large.")

    /// - Parameter retryAfter: As the header is to say it: seconds, a date, something absurd, or
    ///   nothing at all.
    public static func tooManyRequests(retryAfter: String?) -> Canned {
        var canned = refusal(429, "Slow down! Too many requests. Try again in 1m.")
        if let retryAfter { canned.headers = [(name: "Retry-After", value: retryAfter)] }
        return canned
    }

    public static func redirect(_ status: Int, to location: String) -> Canned {
        Canned(
            status: status,
            contentType: nil,
            headers: [(name: "Location", value: location)],
            body: []
        )
    }
}
