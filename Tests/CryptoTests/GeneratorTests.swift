import System
import Testing

@testable import Crypto

struct GeneratorTests {
    private let chance = SeededChance(seed: 7)

    @Test func `a password has fourteen letters and digits unless told otherwise`() {
        for _ in 0..<200 {
            let password = PasswordRecipe().password(by: chance)
            #expect(password.count == 14)
            #expect(password.has(\.isLowercase))
            #expect(password.has(\.isUppercase))
            #expect(password.has(\.isNumber))
            #expect(password.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) })
        }
    }

    @Test func `each class alone yields only that class`() {
        let classes: [(WritableKeyPath<PasswordRecipe, Bool>, String)] = [
            (\.hasLowercase, "abcdefghijklmnopqrstuvwxyz"),
            (\.hasUppercase, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"),
            (\.hasNumbers, "0123456789"),
            (\.hasSpecial, "!@#$%^&*"),
        ]
        for (flag, alphabet) in classes {
            var recipe = nothing
            recipe[keyPath: flag] = true
            recipe.length = 128
            var seen = Set<Character>()
            for _ in 0..<20 { seen.formUnion(recipe.password(by: chance)) }
            #expect(seen == Set(alphabet))
        }
    }

    @Test func `no class at all is the three usual ones`() {
        var recipe = nothing
        recipe.length = 128
        let password = recipe.password(by: chance)
        #expect(password.has(\.isLowercase) && password.has(\.isUppercase))
        #expect(password.has(\.isNumber))
    }

    @Test(arguments: [
        (-1, 5), (0, 5), (4, 5), (5, 5), (64, 64), (128, 128), (129, 128), (.max, 128),
    ])
    func `a length out of bounds is drawn to the nearest`(_ length: Int, _ expected: Int) {
        var recipe = PasswordRecipe()
        recipe.length = length
        #expect(recipe.password(by: chance).count == expected)
    }

    @Test func `as many digits and special characters as asked for are there`() {
        var recipe = PasswordRecipe()
        (recipe.hasSpecial, recipe.length) = (true, 5)
        (recipe.minNumbers, recipe.minSpecial) = (4, 40)
        for _ in 0..<100 {
            let password = recipe.password(by: chance)
            #expect(password.count == 1 + 1 + 4 + 9)
            #expect(password.count(where: \.isNumber) == 4)
        }
    }

    @Test func `ambiguous characters can be left out`() {
        var recipe = PasswordRecipe()
        (recipe.avoidsAmbiguous, recipe.length) = (true, 128)
        var seen = Set<Character>()
        for _ in 0..<50 { seen.formUnion(recipe.password(by: chance)) }
        #expect(seen.isDisjoint(with: "lIO01"))
        #expect(seen.count == 25 + 24 + 8)
    }

    /// The chi-square of 26 letters at 25 degrees of freedom stays below 52.6 in 999 of 1,000 runs.
    /// A seed makes it the same run every time.
    @Test func `no character and no place is favoured`() {
        var recipe = nothing
        (recipe.hasLowercase, recipe.length) = (true, 10)
        var counts: [Character: Int] = [:]
        for _ in 0..<5_200 {
            for character in recipe.password(by: chance) { counts[character, default: 0] += 1 }
        }
        let expected = 52_000.0 / 26
        let square = counts.values.reduce(0.0) {
            $0 + (Double($1) - expected) * (Double($1) - expected) / expected
        }
        #expect(counts.count == 26 && square < 52.6)

        var places = [Int](repeating: 0, count: 5)
        var one = PasswordRecipe()
        (one.hasUppercase, one.length, one.minNumbers) = (false, 5, 0)
        (one.hasNumbers, one.hasSpecial, one.minSpecial) = (false, true, 4)
        for _ in 0..<5_000 {
            let password = Array(one.password(by: chance))
            places[password.firstIndex(where: \.isLetter)!] += 1
        }
        #expect(places.allSatisfy { (880..<1_120).contains($0) }, "\(places)")
    }

    @Test func `the same seed yields the same password`() {
        let passwords = (0..<2).map { _ in PasswordRecipe().password(by: SeededChance(seed: 8)) }
        #expect(passwords[0] == passwords[1])
        #expect(PasswordRecipe().password(by: SystemEntropy()) != passwords[0])
    }

    @Test(arguments: [(0, 3), (3, 3), (4, 4), (20, 20), (21, 20)])
    func `a passphrase has three to twenty words of the list`(_ count: Int, _ expected: Int) {
        var recipe = PassphraseRecipe()
        (recipe.wordCount, recipe.separator) = (count, " ")
        let words = recipe.passphrase(by: chance).split(separator: " ")
        let list = Set((0..<WordList.count).map(WordList.word))
        #expect(words.count == expected)
        #expect(words.allSatisfy { list.contains(String($0)) })
    }

    @Test func `a passphrase can be capitalised and have one digit`() {
        var recipe = PassphraseRecipe()
        (recipe.capitalizes, recipe.includesNumber, recipe.separator) = (true, true, "")
        for _ in 0..<100 {
            let passphrase = recipe.passphrase(by: chance)
            #expect(passphrase.count(where: \.isUppercase) == 6)
            #expect(passphrase.count(where: \.isNumber) == 1)
        }
        #expect(PassphraseRecipe().passphrase(by: chance).split(separator: "-").count >= 6)
    }

    @Test func `the word list is whole and in its order`() {
        let words = (0..<WordList.count).map(WordList.word)
        #expect(words.count == 7_776 && Set(words).count == 7_776)
        #expect(words.first == "abacus" && words.last == "zoom")
        // Four words of the list are joined by a hyphen; order is that of the words without it.
        #expect(words.count { $0.contains("-") } == 4)
        #expect(words.allSatisfy { $0.allSatisfy { $0.isLowercase || $0 == "-" } })
    }

    private var nothing: PasswordRecipe {
        var recipe = PasswordRecipe()
        (recipe.hasUppercase, recipe.hasLowercase, recipe.hasNumbers) = (false, false, false)
        return recipe
    }
}

extension String {
    fileprivate func has(_ property: (Character) -> Bool) -> Bool { contains(where: property) }
}
