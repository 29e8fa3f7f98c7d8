/// Figures as people read them.
extension Double {
    /// With as many digits as say something.
    var brief: String {
        switch abs(self) {
        case 100...: String(Int(rounded()))
        case 10..<100: fixed(1)
        default: fixed(2)
        }
    }

    func fixed(_ digits: Int) -> String {
        let factor = (0..<digits).reduce(1) { product, _ in product * 10 }
        let scaled = Int((abs(self) * Double(factor)).rounded())
        let sign = self < 0 && scaled > 0 ? "-" : ""
        guard digits > 0 else { return "\(sign)\(scaled)" }
        let rest = String(scaled % factor)
        let zeros = String(repeating: "0", count: digits - rest.count)
        return "\(sign)\(scaled / factor).\(zeros)\(rest)"
    }
}

extension LatencyHistogram {
    /// Half, nine in ten and so on, and the longest, in milliseconds.
    var words: [String] {
        let times = [0.5, 0.9, 0.99, 0.999].map { percentile($0) } + [largest]
        return times.map { count > 0 ? $0.milliseconds.brief : "-" }
    }
}

extension Int {
    /// With marks between the thousands.
    var grouped: String {
        let digits = String(Swift.abs(self))
        var text = ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index) % 3 == 0 { text += "," }
            text.append(digit)
        }
        return self < 0 ? "-" + text : text
    }

    /// Bytes, in the unit that fits.
    var inBytes: String {
        switch self {
        case (1 << 30)...: (Double(self) / Double(1 << 30)).brief + " GiB"
        case (1 << 20)...: (Double(self) / Double(1 << 20)).brief + " MiB"
        case 1_024...: (Double(self) / 1_024).brief + " KiB"
        default: "\(self) B"
        }
    }
}
