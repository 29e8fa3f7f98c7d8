import Glibc
import HTTP

/// When an answer asks to be left alone until.
struct RetryAfter: Hashable, Sendable {
    /// From the moment of the answer on.
    let seconds: Int

    /// No server means more than this, and one that says so is not obeyed to the letter.
    static let longest = 3_600

    init(seconds: Int) {
        self.seconds = seconds
    }

    /// Reads seconds, or a date in any of the three ways that HTTP knows. A date counts from the
    /// answer's own `Date`, so that neither clock has to be right; only without one our own counts.
    ///
    /// What cannot be read is as good as not there. What has passed means now, what is absurd means
    /// ``longest``.
    init?(_ headers: Headers, now: Int64) {
        guard let field = headers["Retry-After"] else { return nil }
        if let seconds = Self.number(field) {
            self.seconds = seconds
        } else if let date = httpDate(field) {
            let sent = headers["Date"].flatMap(httpDate) ?? now
            let (wait, overflow) = date.subtractingReportingOverflow(sent)
            seconds = overflow ? Self.longest : Int(min(max(wait, 0), Int64(Self.longest)))
        } else {
            return nil
        }
    }

    private static func number(_ field: String) -> Int? {
        let digits = field.hasPrefix("-") ? field.dropFirst() : field[...]
        guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        guard !field.hasPrefix("-") else { return 0 }
        return min(Int(digits) ?? longest, longest)
    }
}

/// A date as HTTP writes it, in any of its three ways, in seconds since 1970.
func httpDate(_ text: String) -> Int64? {
    let words = text.split { [" ", ",", "-", ":"].contains($0) }
    let order: [Int]
    switch words.count {
    // `Sun, 06 Nov 1994 08:49:37 GMT` and `Sunday, 06-Nov-94 08:49:37 GMT`
    case 8 where words[7] == "GMT": order = [3, 2, 1, 4, 5, 6]
    // `Sun Nov  6 08:49:37 1994`
    case 7: order = [6, 1, 2, 3, 4, 5]
    default: return nil
    }
    guard let month = months.firstIndex(of: String(words[order[1]])) else { return nil }
    let digits = order.filter { $0 != order[1] }.compactMap { number(words[$0]) }
    guard digits.count == 5, let year = century(digits[0], isShort: words[order[0]].count == 2)
    else { return nil }
    var calendar = tm()
    calendar.tm_year = year - 1_900
    calendar.tm_mon = Int32(month)
    calendar.tm_mday = digits[1]
    (calendar.tm_hour, calendar.tm_min, calendar.tm_sec) = (digits[2], digits[3], digits[4])
    guard digits[2] < 24, digits[3] < 60, digits[4] <= 60, (1...31).contains(digits[1]) else {
        return nil
    }
    return Int64(timegm(&calendar))
}

private let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
]

private func number(_ word: Substring) -> Int32? {
    word.utf8.count <= 4 && word.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int32(word) : nil
}

/// Two digits are of this century, as far as anybody still writes them.
private func century(_ year: Int32, isShort: Bool) -> Int32? {
    if isShort { return 2_000 + year }
    return year >= 1_970 ? year : nil
}
