import HTTP

/// Folders are read offline, and changed only with upstream at hand.
extension VaultAPI {
    static let folderRoutes: [Route] = [
        .vault(
            .get,
            "/object/folder/{id}",
            Description("A folder, by its id or a search.", answer: .data(.folder))
        ) { call, desk in
            .success(try await desk.folders().one(by: call.id))
        },
        .vault(
            .post,
            "/object/folder",
            Description(
                "Makes a folder.",
                body: .json(folderBody),
                answer: .data(.folder),
                isEdit: true
            )
        ) { call, desk in
            let name = try await call.folderName()
            return .success(try await desk.addFolder(named: name)).with(.saved)
        },
        .vault(
            .put,
            "/object/folder/{id}",
            Description(
                "Renames a folder.",
                body: .json(folderBody),
                answer: .data(.folder),
                isEdit: true
            )
        ) { call, desk in
            let name = try await call.folderName()
            let id = try await desk.folderID(call.id)
            return .success(try await desk.renameFolder(id, to: name)).with(.saved)
        },
        .vault(
            .delete,
            "/object/folder/{id}",
            Description(
                "Deletes a folder; its items stay, in none.",
                answer: .nothing,
                isEdit: true
            )
        ) { call, desk in
            try await desk.deleteFolder(try await desk.folderID(call.id))
            return .done.with(.saved)
        },
    ]

    private static let folderBody = Schema.object([.init("name", .filled)])
}

extension VaultAPI.Call {
    fileprivate func folderName() async throws -> String {
        let name: String = try read("name", of: try await json())
        guard !name.allSatisfy(\.isWhitespace) else {
            throw DeskRefusal.notAllowed("name must not be blank.")
        }
        return name
    }
}

extension AccountDesk {
    /// The id of a folder that is there.
    fileprivate func folderID(_ id: String) async throws -> String {
        let known = try await folders().first { $0.id.lowercased() == id.lowercased() }
        guard let known else { throw DeskRefusal.notFound }
        return known.id
    }
}
