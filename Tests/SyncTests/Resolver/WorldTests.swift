import EmbeddedUpstream
import MeshSupport
import Sync
import Testing
import Vault

@Suite(.timeLimit(.minutes(2))) struct WorldTests {
    @Test(arguments: Personality.Name.allCases)
    func `G-TESTS somebody has the same items here and elsewhere`(
        _ personality: Personality.Name
    ) async throws {
        try await World.open(personality) { world in
            let ada = try await world.person()
            let id = try await ada.elsewhere.add(#"{"type":1,"name":"mail"}"#)
            try await ada.refresh()
            #expect(try ada.item(id).name == "mail")
            try await ada.elsewhere.edit(id, #"{"name":"post"}"#)
            #expect(try await ada.elsewhere.names == ["post"])
            let revision = try #require(try ada.base(id)).revision
            try await ada.refresh()
            #expect(try #require(try ada.base(id)).revision != revision)
            try await ada.edit(id, #"{"name":"letters"}"#)
            #expect(try ada.change(id)?.baseline == (try ada.base(id)?.revision))
            #expect(try ada.item(id).name == "letters")
        }
    }
}
