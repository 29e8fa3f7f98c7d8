import HTTP
import JSON

extension VaultAPI {
    /// A request with all that is needed to answer it.
    struct Call: Sendable {
        let api: VaultAPI
        let request: Request
        let caller: Caller
        /// What the path holds where its template has names, the account apart.
        let values: [String]
        private let accountID: String?

        init(
            _ api: VaultAPI,
            _ request: Request,
            _ caller: Caller,
            _ route: Route,
            _ values: [String]
        ) {
            self.api = api
            self.request = request
            self.caller = caller
            accountID = route.isBelowAccount ? values.first : nil
            self.values = route.isBelowAccount ? Array(values.dropFirst()) : values
        }

        /// Whether only one account is asked about, or may be.
        var isOfOneAccount: Bool { accountID != nil || caller.accountID != nil }

        var query: Query { request.target.query }
        /// The last name of the path.
        var id: String { values.last ?? "" }

        /// The account that the request is about: the one in the path, the caller's own, or the one
        /// that is meant where none is named.
        func account() throws -> (any AccountDesk)? {
            if let accountID { return try desk(accountID) }
            if let own = caller.accountID { return api.household.desk(own.lowercased()) }
            return api.household.defaultDesk
        }

        /// Whether the request may mean any account and there is one to mean. Asked where it names none and no
        /// account is the default one.
        var isOpen: Bool { !isOfOneAccount && !api.household.desks.isEmpty }

        /// The account of that id. Whoever may ask for one account only does not learn whether
        /// there are others.
        func desk(_ id: String) throws -> any AccountDesk {
            let id = id.lowercased()
            if let own = caller.accountID, own.lowercased() != id { throw Declined.otherAccount }
            guard let desk = api.household.desk(id) else { throw DeskRefusal.notFound }
            return desk
        }

        /// What concerns the whole host is not for those who may ask for one account only.
        func requireAllAccounts() throws {
            if caller.accountID != nil { throw Declined.otherAccount }
        }
    }
}

// MARK: What the client says

extension VaultAPI.Call {
    static let formLimit = 57_344

    /// The body, which must be an object or an array. One that is not declared to be JSON is taken
    /// for an empty object, as users of `bw serve` know it.
    func json() async throws -> JSON.Document {
        guard request.headers["Content-Type"].map(MediaTypeName.init)?.isJSON == true else {
            return try JSON.Document(Array("{}".utf8))
        }
        return try await request.jsonDocument()
    }

    /// The member of the body, or the refusal that names what is wrong with it.
    func read<Value: JSON.Readable>(_ name: String, of body: JSON.Document) throws -> Value {
        try read(name, of: body.root)
    }

    func read<Value: JSON.Readable>(_ name: String, of body: JSON.Value) throws -> Value {
        do throws(JSON.Mismatch) {
            return try body.read(name)
        } catch {
            throw DeskRefusal.notAllowed(error.description)
        }
    }

    /// An option, in whatever of its spellings; what is empty is none.
    func option(_ names: String...) -> String? {
        names.lazy.compactMap { query[$0] }.first { !$0.isEmpty }
    }

    /// Whether an option is there, whatever it says.
    func has(_ name: String) -> Bool { query[name] != nil }

    var organizationID: String? { option("organizationid", "organizationId") }
    var itemID: String? { option("itemid", "itemId") }
}

extension Request {
    /// What `bw serve` allows for any body.
    static let bodyLimit = 1_048_576

    /// The body, which must be an object or an array. An empty one is an empty object. The mark with
    /// which some editors begin their files says nothing.
    func jsonDocument() async throws -> JSON.Document {
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        var bytes = try await body(limit: Self.bodyLimit)
        if bytes.starts(with: mark) { bytes.removeFirst(mark.count) }
        guard !bytes.isEmpty else { return try JSON.Document(Array("{}".utf8)) }
        guard let document = try? JSON.Document(bytes),
            document.root.kind == .object || document.root.kind == .array
        else { throw Declined.notJSON }
        return document
    }
}
