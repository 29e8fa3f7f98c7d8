public import Bitwarden
import HTTP
public import Vault

// Folders. They are the user's own, also those of organisations' items, and nothing guards them
// against a second device: the last one wins.

extension UpstreamAccount {
    public func hasFolder(_ id: String) async throws(Setback) -> Bool {
        let call = Call(.getFolder, .get, "/folders/\(segment: id)", about: .folder)
        do throws(Setback) {
            let _: FolderAnswer = try await send(call).read(of: call)
            return true
        } catch {
            guard case .missing = error.reason else { throw error }
            return false
        }
    }

    public func createFolder(_ request: FolderRequest) async throws(Setback) -> FolderAnswer {
        let call = Call(.createFolder, .post, "/folders").sending(request)
        return try await send(call).read(of: call)
    }

    public func updateFolder(
        _ id: String,
        _ request: FolderRequest
    ) async throws(Setback) -> FolderAnswer {
        let call = Call(.updateFolder, .put, "/folders/\(segment: id)", about: .folder)
            .sending(request)
        return try await send(call).read(of: call)
    }

    /// The items in it are in no folder afterwards, and nothing tells about each of them.
    public func deleteFolder(_ id: String) async throws(Setback) {
        let path = "/folders/\(segment: id)"
        let call = Call(.deleteFolder, .delete, path, about: .folder, expecting: .nothing)
        _ = try await send(call)
    }
}
