import HTTP

/// All that can be asked, as a table: method, path, operation, and what is done.
struct Routes: Sendable {
    /// What a call does to the world and how it is answered. It cannot wait for anything.
    typealias Deed = @Sendable (Call, inout World) throws(Refusal) -> Reply

    struct Route: Sendable {
        let method: Method
        let template: String
        let operation: Operation
        let wantsSession: Bool
        let deed: Deed
    }

    let personality: Personality
    private(set) var all: [Route] = []

    init(_ personality: Personality) {
        self.personality = personality
        addOpenPages()
        addRegistration()
        addTokens()
        addSync()
        addCiphers()
        addBulk()
        addFiles()
        addFolders()
        addSends()
        addOrganizations()
        addAccount()
        addKeyRotation()
        addSecondFactor()
        addEmptyLists()
        addHub()
    }

    /// A route for those who are logged in.
    mutating func on(
        _ method: Method,
        _ template: String,
        _ operation: Operation,
        _ deed: @escaping Deed
    ) {
        add(method, template, operation, wantsSession: true, deed)
    }

    /// A route for everybody.
    mutating func open(
        _ method: Method,
        _ template: String,
        _ operation: Operation,
        _ deed: @escaping Deed
    ) {
        add(method, template, operation, wantsSession: false, deed)
    }

    private mutating func add(
        _ method: Method,
        _ template: String,
        _ operation: Operation,
        wantsSession: Bool,
        _ deed: @escaping Deed
    ) {
        all.append(
            Route(
                method: method,
                template: template,
                operation: operation,
                wantsSession: wantsSession,
                deed: deed
            )
        )
    }
}
