/// A moment, in seconds since 1970, as HTTP writes it.
package func httpDate(_ seconds: Int64) -> String {
    let (days, rest) = (seconds / 86_400, seconds % 86_400)
    // The civil calendar from days since 1970 (Hinnant).
    let shifted = days + 719_468
    let era = shifted / 146_097
    let day = shifted - era * 146_097
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365
    let inYear = day - (365 * year + year / 4 - year / 100)
    let month = (5 * inYear + 2) / 153
    let monthDay = inYear - (153 * month + 2) / 5 + 1
    let isLate = month >= 10
    let names = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    let months = [
        "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec", "Jan", "Feb",
    ]
    func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
    let clock = "\(two(rest / 3_600)):\(two(rest / 60 % 60)):\(two(rest % 60))"
    let civilYear = year + era * 400 + (isLate ? 1 : 0)
    return
        "\(names[Int(days % 7)]), \(two(monthDay)) \(months[Int(month)]) \(civilYear) \(clock) GMT"
}
