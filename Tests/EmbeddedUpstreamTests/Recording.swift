import Foundation
import HTTP
import JSON
import Vault

/// A request to a real server together with its answer.
struct Recording {
    let name: String
    let method: HTTP.Method
    let target: String
    let headers: JSON.Value
    let body: JSON.Value
    let status: Int
    let contentType: String?
    let answer: JSON.Value
    private let sent: String

    init(_ name: String) throws {
        let document = try Self.document("vaultwarden-1.36/\(name).json")
        guard let request = document.root["request"], let response = document.root["response"],
            let url = request["url"]?.string, let body = request["body"],
            let headers = request["headers"], let answer = response["body"]
        else { throw CocoaError(.fileReadCorruptFile) }
        self.name = name
        method = HTTP.Method(rawValue: request["method"]?.string ?? "")
        target = String(url.dropFirst("http://127.0.0.1:8222".count))
        self.headers = headers
        self.body = body
        status = response["status"]?.int ?? 0
        contentType = response["headers"]?["content-type"]?.string
        sent = response["headers"]?["date"]?.string ?? ""
        self.answer = answer
    }

    static func document(_ name: String) throws -> JSON.Document {
        let fixtures = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("BitwardenTests/Fixtures")
        return try JSON.Document(Array(Data(contentsOf: fixtures.appendingPathComponent(name))))
    }

    /// When the real server answered, as exactly as the answer shows it.
    var moment: Moment {
        let text = String(decoding: answer.raw.bytes, as: UTF8.self)
        let stamps = text.matches(of: /2026-11-20T[0-9:.]+Z/)
            .compactMap { Revision(String($0.0))?.moment }
        let clock = sent.split(separator: " ").dropFirst(4).first ?? "00:00:00"
        let header = Revision("2026-11-20T\(clock)Z")?.moment
        return (stamps + [header].compactMap { $0 }).max() ?? Moment(ticks: 0)
    }

    /// In the form of the body that was sent: JSON, or a form.
    var bodyBytes: [UInt8] {
        if body.isNull { return [] }
        let isForm = headers["Content-Type"]?.string?.contains("urlencoded") ?? false
        let isToken = target.hasSuffix("/connect/token")
        guard isForm || isToken, let members = body.object else { return Array(body.raw.bytes) }
        return Array(
            members.map { member in
                let value =
                    member.value.string ?? String(decoding: member.value.raw.bytes, as: UTF8.self)
                let allowed = CharacterSet.alphanumerics.union(CharacterSet(charactersIn: "-._"))
                return member.name.string + "="
                    + (value.addingPercentEncoding(withAllowedCharacters: allowed) ?? "")
            }.joined(separator: "&").utf8
        )
    }
}
