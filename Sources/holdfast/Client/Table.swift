/// Rows under headings, for people.
struct Table {
    let headings: [String]
    var rows: [[String]] = []

    func text(isColoured: Bool) -> String {
        let shown = rows.map { $0.map(\.harmless) }
        let widths = headings.indices.map { column in
            ([headings] + shown).map { $0[column].count }.max() ?? 0
        }
        let heading = line(headings, widths)
        return
            ([isColoured ? "\u{1B}[1m\(heading)\u{1B}[0m" : heading]
            + shown.map { line($0, widths) })
            .joined(separator: "\n")
    }

    private func line(_ cells: [String], _ widths: [Int]) -> String {
        var text = ""
        for (cell, width) in zip(cells, widths) {
            text += cell + String(repeating: " ", count: width - cell.count + 2)
        }
        return String(text.reversed().drop { $0 == " " }.reversed())
    }
}

/// Names and values, one below the other, for people.
struct FieldList {
    var fields: [(name: String, value: String)] = []

    var text: String {
        let width = fields.map(\.name.count).max() ?? 0
        return fields.map { field in
            let gap = String(repeating: " ", count: width - field.name.count + 2)
            return field.name + gap + field.value.harmless
        }.joined(separator: "\n")
    }
}

extension String {
    /// On one line, and without what a terminal would obey instead of showing it.
    var harmless: String {
        var text = ""
        for scalar in unicodeScalars {
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate:
                text += scalar == "\n" ? " ⏎ " : "\u{FFFD}"
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text
    }
}
