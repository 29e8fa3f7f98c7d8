import HTTP
import JSON
import Sync

/// The envelope in which everything is answered.
extension Response {
    static let done = json(.object { $0.add("success", true) })

    static func success(_ data: some JSON.Writable, capacity: Int = 512) -> Response {
        json(
            .object(capacity: capacity) {
                $0.add("success", true)
                $0.add("data", data)
            }
        )
    }

    static func list<Element: JSON.Writable>(
        _ elements: [Element],
        elementSize: Int = 128
    ) -> Response {
        success(ListObject(elements: elements), capacity: 64 + elements.count * elementSize)
    }

    static func string(_ text: String?) -> Response {
        success(StringObject(text: text))
    }

    static func template(_ template: JSON.Raw) -> Response {
        success(TemplateObject(template: template))
    }

    static func failure(
        _ message: String,
        _ status: Status = .badRequest,
        data: [String]? = nil
    ) -> Response {
        json(
            .object {
                $0.add("success", false)
                $0.add("message", message)
                if let data { $0.add("data", data) }
            },
            status
        )
    }

    static func json(_ raw: JSON.Raw, _ status: Status = .ok) -> Response {
        Response(
            status,
            headers: [
                "Content-Type": "application/json; charset=utf-8", "Cache-Control": "no-store",
            ],
            body: .bytes(Array(raw.bytes))
        )
    }

    /// An answer that says where the edit is now.
    func with(_ place: EditPlace) -> Response {
        var response = self
        switch place {
        case .saved: response.headers["Holdfast-Disposition"] = "saved"
        case .queued(let receiptID):
            response.headers["Holdfast-Disposition"] = "queued"
            response.headers["Holdfast-Receipt"] = receiptID
        }
        return response
    }
}

/// Where an edit is, whatever it was about.
enum EditPlace {
    case saved
    case queued(receiptID: String)
}

extension Written {
    /// Where the edit is now.
    var place: EditPlace {
        switch disposition {
        case .saved: .saved
        case .queued(let receiptID): .queued(receiptID: receiptID)
        }
    }
}

struct StringObject: JSON.Writable {
    let text: String?

    func write(to json: inout JSON.Writer) {
        json.object {
            $0.add("object", "string")
            $0.add("data", text)
        }
    }
}

struct ListObject<Element: JSON.Writable>: JSON.Writable {
    let elements: [Element]

    func write(to json: inout JSON.Writer) {
        json.object {
            $0.add("object", "list")
            $0.add("data", elements)
        }
    }
}

struct TemplateObject: JSON.Writable {
    let template: JSON.Raw

    func write(to json: inout JSON.Writer) {
        json.object {
            $0.add("object", "template")
            $0.add("template", template)
        }
    }
}

/// Something that a person is told, and what else goes with it.
struct MessageObject: JSON.Writable {
    let title: String
    var message: String?
    var raw: String?
    var sync: SyncOutcome?

    func write(to json: inout JSON.Writer) {
        json.object {
            $0.add("noColor", false)
            $0.add("object", "message")
            $0.add("title", title)
            $0.add("message", message)
            if let raw { $0.add("raw", raw) }
            if let sync { sync.write(to: &$0) }
        }
    }
}
