import Bitwarden
public import JSON
public import Sync
import Vault

extension ViewedItem: JSON.Writable {
    public func write(to json: inout JSON.Writer) {
        json.object { object in
            item.writeMembers(to: &object)
            object.object("sync") {
                $0.add("state", mark.state.rawValue)
                $0.add("changes", mark.changes.map(\.rawValue))
                $0.add("since", mark.since?.text)
            }
        }
    }
}

/// A folder, or the place of the items that have none.
struct FolderObject: JSON.Writable {
    let id: String?
    let name: String

    init(_ folder: ViewedFolder) {
        (id, name) = (folder.id, folder.name)
    }

    private init(id: String?, name: String) {
        (self.id, self.name) = (id, name)
    }

    static let none = FolderObject(id: nil, name: "No Folder")

    func write(to json: inout JSON.Writer) {
        json.object {
            $0.add("object", "folder")
            $0.add("id", id)
            $0.add("name", name)
        }
    }
}

extension ViewedFolder: JSON.Writable {
    public func write(to json: inout JSON.Writer) { FolderObject(self).write(to: &json) }
}

extension ViewedCollection: JSON.Writable {
    public func write(to json: inout JSON.Writer) {
        json.object {
            $0.add("object", "collection")
            $0.add("id", id)
            $0.add("organizationId", organizationID)
            $0.add("name", name)
            $0.add("externalId", externalID)
        }
    }
}

struct OrganizationObject: JSON.Writable {
    let membership: Membership

    func write(to json: inout JSON.Writer) {
        json.object {
            $0.add("object", "organization")
            $0.add("id", membership.organizationID)
            $0.add("name", membership.name)
            $0.add("status", membership.status)
            $0.add("type", membership.type)
            $0.add("enabled", membership.isEnabled)
        }
    }
}

extension ViewedSend: JSON.Writable {
    public func write(to json: inout JSON.Writer) {
        let document = try? JSON.Document(answer.raw)
        let root = document?.root
        json.object { object in
            object.add("object", "send")
            object.add("id", answer.id)
            object.add("accessId", answer.accessID)
            object.add("accessUrl", url)
            object.add("name", name)
            object.add("notes", notes)
            object.add("key", key)
            object.add("type", answer.type)
            object.add("maxAccessCount", root?[anyCase: "maxAccessCount"]?.int)
            object.add("accessCount", root?[anyCase: "accessCount"]?.int ?? 0)
            object.add("revisionDate", Self.date(answer.revisionDate))
            object.add("deletionDate", Self.date(answer.deletionDate))
            object.add("expirationDate", Self.date(root?[anyCase: "expirationDate"]?.string))
            object.add("passwordSet", root?[anyCase: "password"]?.string?.isEmpty == false)
            if answer.isForEmails { object.add("emails", answer.emails) }
            if let kind = answer.guardedBy { object.add("authType", kind.rawValue) }
            object.add("disabled", root?[anyCase: "disabled"]?.bool ?? false)
            object.add("hideEmail", root?[anyCase: "hideEmail"]?.bool ?? false)
            write(content: root, to: &object)
        }
    }

    private func write(content root: JSON.Value?, to object: inout JSON.ObjectWriter) {
        guard answer.type == SendAnswer.file else {
            let hidden = root?[anyCase: "text"]?[anyCase: "hidden"]?.bool ?? false
            return object.object("text") {
                $0.add("text", text)
                $0.add("hidden", hidden)
            }
        }
        let file = root?[anyCase: "file"]
        object.object("file") {
            $0.add("id", file?[anyCase: "id"]?.string)
            $0.add("size", file?[anyCase: "size"].flatMap { $0.string ?? $0.int.map(String.init) })
            $0.add("sizeName", file?[anyCase: "sizeName"]?.string)
            $0.add("fileName", fileName)
        }
    }

    /// Upstream's stamp in the API's spelling.
    private static func date(_ stamp: String?) -> String? {
        stamp.map { Revision($0)?.moment.text ?? $0 }
    }
}

extension Moment {
    /// As the API writes dates: UTC, with exactly three digits behind the point.
    var text: String { Stamp.text(self, digits: 3, padded: true) }
}
