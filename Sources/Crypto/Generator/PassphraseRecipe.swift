public import System

/// What a generated passphrase is made of: words of the EFF's long list.
public struct PassphraseRecipe: Equatable, Sendable {
    /// 3 to 20; what lies outside is drawn to the nearest bound.
    public var wordCount = 6
    public var separator = "-"
    public var capitalizes = false
    /// Puts a digit behind one of the words.
    public var includesNumber = false

    public init() {}

    public func passphrase(by chance: some Chance) -> String {
        var words = (0..<min(max(wordCount, 3), 20)).map { _ in
            WordList.word(chance.number(in: 0..<WordList.count))
        }
        if capitalizes { words = words.map { $0.prefix(1).uppercased() + $0.dropFirst() } }
        if includesNumber {
            words[chance.number(in: 0..<words.count)] += String(chance.number(in: 0..<10))
        }
        return words.joined(separator: separator)
    }
}

extension Chance {
    func pick(from characters: [Character]) -> Character {
        characters[number(in: 0..<characters.count)]
    }

    /// Every order is as likely as any other (Fisher and Yates).
    func shuffle(_ characters: inout [Character]) {
        for end in characters.indices.reversed() {
            characters.swapAt(end, number(in: 0..<end + 1))
        }
    }
}
