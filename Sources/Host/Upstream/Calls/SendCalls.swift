public import Bitwarden
import HTTP
public import JSON
public import Vault

// Sends. What is in them is made and read elsewhere, and goes through as it is.

extension UpstreamAccount {
    /// A send as upstream has it now.
    public func presentSend(_ id: String) async throws(Setback) -> SendAnswer {
        let call = Call(.getSend, .get, "/sends/\(segment: id)", about: .send)
        return try await send(call).read(of: call)
    }

    public func createSend(_ request: JSON.Raw) async throws(Setback) -> SendAnswer {
        let call = Call(.createSend, .post, "/sends").sending(request)
        return try await send(call).read(of: call)
    }

    public func updateSend(
        _ id: String,
        _ request: JSON.Raw
    ) async throws(Setback) -> SendAnswer {
        let call = Call(.updateSend, .put, "/sends/\(segment: id)", about: .send)
            .sending(request)
        return try await send(call).read(of: call)
    }

    public func removePassword(ofSend id: String) async throws(Setback) -> SendAnswer {
        let path = "/sends/\(segment: id)/remove-password"
        let call = Call(.removeSendPassword, .put, path, about: .send)
        return try await send(call).read(of: call)
    }

    public func deleteSend(_ id: String) async throws(Setback) {
        let path = "/sends/\(segment: id)"
        _ = try await send(Call(.deleteSend, .delete, path, about: .send, expecting: .nothing))
    }
}
