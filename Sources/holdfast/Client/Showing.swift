import JSON

/// How a command shows what it got: in words, or in JSON where that is asked for.
///
/// Where the words go makes no difference, so that what was tried at a terminal can be put into a
/// script as it is.
struct Showing: Sendable {
    private let console: Console
    private let wantsJSON: Bool

    init(_ invocation: Invocation, _ console: Console) {
        self.console = console
        wantsJSON = invocation.isOn("json")
    }

    /// A value or a sentence, as it is.
    func words(_ text: String, _ json: @autoclosure () -> JSON.Raw) {
        console.answer(wantsJSON ? json().text : text)
    }

    func table(_ json: @autoclosure () -> JSON.Raw, none: String, _ table: () -> Table) {
        if wantsJSON { return console.answer(json().text) }
        let table = table()
        console.answer(table.rows.isEmpty ? none : table.text(isColoured: console.isColoured))
    }

    func fields(_ json: @autoclosure () -> JSON.Raw, _ fields: () -> FieldList) {
        console.answer(wantsJSON ? json().text : fields().text)
    }

    /// A sentence of our own about what came of it.
    func outcome(_ json: @autoclosure () -> JSON.Raw, _ sentence: () -> String) {
        lines(json()) { [sentence()] }
    }

    func lines(_ json: @autoclosure () -> JSON.Raw, _ lines: () -> [String]) {
        console.answer(
            wantsJSON ? json().text : lines().map(\.harmless).joined(separator: "\n")
        )
    }
}

extension JSON.Raw {
    var text: String { String(decoding: bytes, as: UTF8.self) }
}

extension JSON.Value {
    /// The elements of a list answer.
    var listed: [JSON.Value] { self["data"]?.array.map { Array($0) } ?? [] }

    /// What a person is shown of a member; nothing of one that is not there.
    func shown(_ name: String) -> String {
        guard let value = self[name], !value.isNull else { return "" }
        return value.string ?? value.raw.text
    }
}

extension Answer {
    /// The data, or the whole answer if there is none.
    var json: JSON.Raw { data?.raw ?? document.root.raw }
    /// The bare array of a list.
    var list: JSON.Raw { data?["data"]?.raw ?? json }
}
