import Foundation
import HTTP
import JSON
import System

@testable import EmbeddedUpstream

/// Sends recorded requests to a server of ours.
struct Replay {
    enum Step {
        case send(String)
        /// An item that the recordings speak of, and whose making was not recorded.
        case make(String, like: String)
        case learnCollection(String)
        /// A log-in that was not recorded, in the words of another.
        case logIn(String)
    }

    private let clock = RecordedClock()
    private let transport: MemoryTransport
    private var comparison = Comparison()
    private var token = ""
    private var refreshToken = ""
    private var verification = ""
    private(set) var met: [(name: String, finding: String)] = []

    init() async throws {
        let upstream = try await EmbeddedUpstream.start(
            EmbeddedUpstream.Settings(.vaultwarden, address: nil),
            time: clock,
            chance: SeededChance(seed: 136)
        )
        transport = MemoryTransport(handler: upstream.handler)
    }

    /// - Returns: What differs.
    mutating func send(_ recording: Recording) async throws -> Set<String> {
        clock.advance(to: recording.moment)
        let answer = try await transport.send(
            recording.method,
            comparison.translated(recording.target),
            headers: headers(of: recording),
            body: body(of: recording)
        )
        var findings = Set<String>()
        if answer.status.rawValue != recording.status {
            findings.insert(": status \(answer.status) instead of \(recording.status)")
        } else {
            compareKind(answer, recording, &findings)
        }
        if recording.contentType == "application/json", !answer.body.isEmpty {
            let ours = try JSON.Document(answer.body).root
            learn(ours, recording)
            comparison.compare(recording.answer, ours, "")
        }
        findings.formUnion(comparison.take())
        met += findings.map { (name: recording.name, finding: $0) }
        return findings
    }

    private func compareKind(
        _ answer: Answer,
        _ recording: Recording,
        _ findings: inout Set<String>
    ) {
        let ours = answer.headers["Content-Type"]
        if ours != recording.contentType { findings.insert(": type \(ours ?? "none")") }
        if recording.answer.string == "", !answer.body.isEmpty {
            findings.insert(": a body instead of none")
        }
    }

    private func headers(of recording: Recording) -> Headers {
        var headers: Headers = ["Bitwarden-Client-Version": "2026.4.0"]
        for name in ["X-Request-Email", "X-Device-Identifier", "Content-Type"] {
            headers[name] = recording.headers[name]?.string
        }
        if recording.headers["Authorization"] != nil {
            headers["Authorization"] = "Bearer " + token
        }
        return headers
    }

    private func body(of recording: Recording) -> [UInt8] {
        var text = String(decoding: recording.bodyBytes, as: UTF8.self)
        let isRefresh = recording.body["refresh_token"] != nil
        text = text.replacing("%3Cblanked%3E", with: isRefresh ? refreshToken : "")
        text = text.replacing("<blanked>", with: verification)
        return Array(comparison.translated(text).utf8)
    }

    /// Tokens were blanked in the recordings; ours are used instead.
    private mutating func learn(_ ours: JSON.Value, _ recording: Recording) {
        if let text = ours["access_token"]?.string, recording.name != "token_client_credentials" {
            token = text
        }
        if let text = ours["refresh_token"]?.string { refreshToken = text }
        if recording.name == "register_send_verification_email" {
            verification = ours.string ?? ""
        }
    }

    mutating func make(_ theirs: String, like source: String) async throws {
        let recording = try Recording(source)
        let answer = recording.answer
        let list = Array(answer["data"]?.array ?? answer["ciphers"]?.array ?? nil)
        let found = list.first { $0["id"]?.string == theirs } ?? recording.body["cipher"] ?? answer
        var edit = JSON.Edit(try JSON.Document(found.raw))
        for name in ["id", "organizationId", "folderId", "data", "lastKnownRevisionDate"] {
            edit.remove([.member(name)])
        }
        let made = try await transport.send(
            .post,
            "/api/ciphers",
            headers: ["Authorization": "Bearer " + token],
            body: edit.bytes
        )
        let document = try JSON.Document(made.body)
        comparison.learn(theirs, document.root["id"]?.string ?? "")
        if source != "cipher_create_login", let created = found["creationDate"]?.string {
            comparison.learn(created, document.root["creationDate"]?.string ?? "")
        }
        // One that nothing happened to has kept this date as well.
        if source == "sync", let revised = found["revisionDate"]?.string {
            comparison.learn(revised, document.root["revisionDate"]?.string ?? "")
        }
        if let known = recording.body["cipher"]?["lastKnownRevisionDate"]?.string {
            comparison.learn(known, document.root["revisionDate"]?.string ?? "")
        }
    }

    mutating func logIn(_ name: String) async throws {
        let recording = try Recording(name)
        let answer = try await transport.send(
            recording.method,
            recording.target,
            headers: [:],
            body: recording.bodyBytes
        )
        learn(try JSON.Document(answer.body).root, recording)
    }

    mutating func learnCollection(_ theirs: String) async throws {
        let answer = try await transport.send(
            .get,
            "/api/collections",
            headers: ["Authorization": "Bearer " + token]
        )
        let ours = try JSON.Document(answer.body).root["data"]?[0]?["id"]?.string
        comparison.learn(theirs, ours ?? "")
    }

    /// The names of all recordings of one request.
    static func recorded() throws -> Set<String> {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent()
            .appendingPathComponent("BitwardenTests/Fixtures/vaultwarden-1.36")
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        let names = files.filter { $0.hasSuffix(".json") }.map { String($0.dropLast(5)) }
        return Set(names.filter { (try? Recording($0)) != nil })
    }

    /// In the order in which they were recorded.
    static let steps: [Step] =
        [
            "alive", "api_alive", "now", "version", "config", "prelogin_api_path",
            "prelogin_password_path", "prelogin_unknown_user", "sync_no_auth",
            "register_send_verification_email", "register_finish", "register_duplicate",
            "token_prelogin", "token_wrong_password", "token_unknown_user", "token_bad_grant",
            "token_bad_scope", "token_missing_device", "token", "profile", "revision_date",
            "sync_empty", "sync_empty_excludeDomains", "token_refresh", "token_refresh_reuse_old",
            "token_refresh_garbage", "api_404_unknown_route", "root_404", "wrong_method",
            "folder_create", "folder_create_missing_name", "folder_update", "folder_get",
            "folder_get_404", "folder_update_404", "folder_list", "folder_delete_404",
            "cipher_create_login", "cipher_create_note", "cipher_create_card",
            "cipher_create_identity", "cipher_create_sshkey", "cipher_create_itemkey",
            "cipher_create_passkey", "cipher_list", "cipher_get", "cipher_get_details",
            "cipher_get_404", "cipher_get_baduuid", "cipher_delete_404", "cipher_softdelete_404",
            "cipher_restore_404", "cipher_update_404", "cipher_create_bad_folder",
            "cipher_create_bad_type", "cipher_create_no_login", "cipher_create_missing_name",
            "cipher_create_PascalCase", "cipher_create_note_too_long",
        ].map(Step.send)
        + [.make("b904575c-6f5b-48c7-84bb-fba58364778c", like: "sync")]
        + [
            "cipher_create_plaintext_name", "cipher_update_ok", "cipher_update_stale_within_1s",
            "cipher_update_ok2", "cipher_update_out_of_date", "cipher_update_lastKnown_ancient",
            "cipher_update_no_lastKnown", "cipher_update_lastKnown_null",
            "cipher_update_lastKnown_garbage", "cipher_update_lastKnown_future",
            "cipher_update_lastKnown_nanos", "cipher_update_dropping_key",
            "cipher_update_omits_history_fields", "cipher_partial", "cipher_update_type_change",
            "cipher_update_restore_login", "attachment_create_v2", "cipher_get_with_attachment",
            "attachment_get", "attachment_delete", "cipher_archive", "cipher_unarchive",
            "cipher_soft_delete", "cipher_soft_delete_again", "cipher_get_soft_deleted",
            "cipher_update_while_deleted", "cipher_restore", "cipher_restore_not_deleted",
            "cipher_delete", "cipher_get_after_delete", "cipher_delete_again",
            "cipher_update_after_delete",
        ].map(Step.send)
        + [
            .make("bbb9e8fa-fb01-4f00-8d30-b86fb868bffd", like: "cipher_bulk_restore"),
            .make("e067dac0-0aa0-4fe6-8077-f34eca98ef8d", like: "cipher_bulk_restore"),
            .make("d7a08c9b-97c5-467c-a13e-6c1281ff1fd6", like: "cipher_create_login"),
            .make("78c78c3f-903f-4c10-8a36-612f33c559e3", like: "cipher_create_login"),
        ]
        + [
            "cipher_bulk_move", "cipher_bulk_soft_delete", "cipher_bulk_restore",
            "cipher_bulk_delete", "cipher_bulk_delete_one_missing", "folder_delete",
            "cipher_after_folder_deleted", "cipher_import", "org_create",
        ].map(Step.send)
        + [
            .learnCollection("c2c47c12-0645-4f6e-96c4-02d624a1f76d"), .send("org_cipher_create"),
            .make("6e3af002-b668-40a0-8ec3-c16b879ae6b3", like: "cipher_share"),
        ]
        + [
            "cipher_share", "org_cipher_update", "org_cipher_update_without_orgid", "sync",
            "sync_with_domains", "api_key", "token_client_credentials", "devices", "knowndevice",
            "domains", "purge_wrong_password", "verify_password_wrong", "security_stamp",
            "sync_after_security_stamp", "token_refresh_after_stamp", "register_legacy",
        ].map(Step.send)
        + [.logIn("token_2fa_required")]
        + [
            "twofactor_get_authenticator", "twofactor_enable", "token_2fa_required",
            "token_2fa_wrong", "token_2fa_ok", "token_2fa_reused_code",
        ].map(Step.send)
}

extension [JSON.Value] {
    fileprivate init(_ elements: JSON.Elements?) {
        self = elements.map { $0.map { $0 } } ?? []
    }
}
