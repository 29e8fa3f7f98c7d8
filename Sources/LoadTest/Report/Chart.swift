/// Lines over the time of the test, drawn as SVG that needs nothing from elsewhere.
struct Chart: Sendable {
    struct Line: Sendable {
        let name: String
        let points: [(seconds: Double, value: Double)]
    }

    let title: String
    let explanation: String
    let lines: [Line]
    let phases: [LoadReport.Phase]
    let seconds: Double
    /// How values are written.
    let word: @Sendable (Double) -> String

    private static let width = 720.0
    private static let height = 220.0
    private static let left = 64.0
    private static let right = 28.0
    private static let top = 12.0
    private static let bottom = 26.0

    var html: String {
        """
        <figure>
        <figcaption><h3>\(title.escaped)</h3><p>\(explanation.escaped)</p></figcaption>
        <svg viewBox="0 0 720 220" role="img" aria-label="\(title.escaped)">
        \(bands)
        \(grid)
        \(lines.enumerated().map(path).joined(separator: "\n"))
        </svg>
        <p class="legend">\(legend)</p>
        </figure>
        """
    }

    // MARK: Places

    private var top: Double { lines.flatMap(\.points).map(\.value).max() ?? 0 }

    /// The end of the scale: a round number that is no less than the largest value.
    private var limit: Double {
        guard top > 0 else { return 1 }
        var unit = 1.0
        while unit * 10 <= top { unit *= 10 }
        while unit > top { unit /= 10 }
        return [1, 2, 2.5, 5, 10].map { $0 * unit }.first { $0 >= top } ?? unit * 10
    }

    private func x(_ seconds: Double) -> Double {
        Self.left + (Self.width - Self.left - Self.right) * seconds / max(self.seconds, 0.001)
    }

    private func y(_ value: Double) -> Double {
        Self.height - Self.bottom - (Self.height - Self.top - Self.bottom) * value / limit
    }

    // MARK: Parts

    /// The phases, so that one sees when the server was away.
    private var bands: String {
        phases.map { phase in
            let (start, end) = (x(phase.begin), x(phase.end))
            let kind = phase.name.split(separator: " ").first.map(String.init) ?? ""
            let band = """
                <rect class="band \(kind.escaped)" x="\(start.fixed(1))" y="\(Self.top.fixed(1))" \
                width="\(max(0, end - start).fixed(1))" \
                height="\((Self.height - Self.top - Self.bottom).fixed(1))"/>
                """
            guard end - start > 52 else { return band }
            let label = """
                <text class="phase" x="\((start + 4).fixed(1))" y="24">\(phase.name.escaped)</text>
                """
            return band + label
        }.joined(separator: "\n")
    }

    private var grid: String {
        let rows = (0...4).map { step in
            let value = limit * Double(step) / 4
            let place = y(value).fixed(1)
            return """
                <line class="grid" x1="64" y1="\(place)" x2="692" y2="\(place)"/>\
                <text class="scale" x="58" y="\((y(value) + 4).fixed(1))">\(word(value).escaped)</text>
                """
        }
        let columns = (0...6).map { step in
            let moment = seconds * Double(step) / 6
            return """
                <text class="time" x="\(x(moment).fixed(1))" y="214">\(moment.brief) s</text>
                """
        }
        return (rows + columns).joined(separator: "\n")
    }

    private func path(_ index: Int, _ line: Line) -> String {
        var points = line.points.map { "\(x($0.seconds).fixed(1)),\(y($0.value).fixed(1))" }
        // Of a line with a single point nothing is drawn; with round ends, one that returns to it is a dot.
        if points.count == 1 { points += points }
        return """
            <polyline class="line l\(index)" points="\(points.joined(separator: " "))">\
            <title>\(line.name.escaped)</title></polyline>
            """
    }

    private var legend: String {
        lines.enumerated().map { index, line in
            let largest = line.points.map(\.value).max() ?? 0
            return """
                <span class="key l\(index)"></span>\(line.name.escaped) \
                (at most \(word(largest).escaped))
                """
        }.joined(separator: "&emsp;")
    }
}

extension String {
    /// As text in HTML, and between quotation marks there.
    var escaped: String {
        var text = ""
        for character in self {
            switch character {
            case "&": text += "&amp;"
            case "<": text += "&lt;"
            case ">": text += "&gt;"
            case "\"": text += "&quot;"
            default: text.append(character)
            }
        }
        return text
    }
}
