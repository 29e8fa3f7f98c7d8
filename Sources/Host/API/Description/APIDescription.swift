extension VaultAPI {
    /// What the description of the API says about a route.
    struct Description: Sendable {
        let summary: String
        var query: [Option] = []
        var body: Body?
        let answer: Answer
        /// Whether the answer says where the edit is.
        var isEdit = false

        init(
            _ summary: String,
            query: [Option] = [],
            body: Body? = nil,
            answer: Answer,
            isEdit: Bool = false
        ) {
            self.summary = summary
            self.query = query
            self.body = body
            self.answer = answer
            self.isEdit = isEdit
        }
    }

    /// An option of a query.
    struct Option: Sendable {
        let name: String
        let schema: Schema
        let summary: String
        var isRequired = false

        init(_ name: String, _ summary: String, _ schema: Schema = .text, isRequired: Bool = false)
        {
            self.name = name
            self.summary = summary
            self.schema = schema
            self.isRequired = isRequired
        }
    }

    enum Body: Sendable {
        case json(Schema)
        /// A form with a file.
        case file
    }

    /// What comes when all goes well.
    enum Answer: Sendable {
        /// That it went well, and nothing else.
        case nothing
        case data(Schema)
        /// Or nothing, if nothing is left to be shown.
        case rest(Schema)
        case list(Schema)
        case string
        case bytes
        case events
        /// A document without an envelope.
        case document
    }
}

extension VaultAPI.Option {
    static let search = Self("search", "A part of what is looked for, without regard to accents.")
    static let organization = Self("organizationId", "The organization's id.")
    static let owner = Self(
        "organizationId",
        "The organization's id.",
        .identifier,
        isRequired: true
    )
    static let item = Self(
        "itemid",
        "The item's id, or a search for it.",
        .filled,
        isRequired: true
    )

    /// Means yes when it is there.
    static func flag(_ name: String, _ summary: String) -> Self { Self(name, summary) }
}
