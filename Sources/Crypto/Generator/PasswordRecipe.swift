public import System

/// What a generated password is made of.
///
/// Numbers outside the bounds are drawn to the nearest bound without a word, as in the official
/// command line.
public struct PasswordRecipe: Equatable, Sendable {
    public var length = 14
    public var hasUppercase = true
    public var hasLowercase = true
    public var hasNumbers = true
    public var hasSpecial = false
    public var minNumbers = 1
    public var minSpecial = 1
    /// Leaves out what is easily mistaken for something else: I, O, l, 0 and 1.
    public var avoidsAmbiguous = false

    public init() {}

    /// A password of this recipe. Every character of a class is as likely as any other, and so is
    /// every order.
    public func password(by chance: some Chance) -> String {
        let recipe = bounded
        var characters = recipe.demands.flatMap { demand in
            (0..<demand.least).map { _ in chance.pick(from: demand.characters) }
        }
        let all = recipe.demands.flatMap(\.characters)
        while characters.count < recipe.length { characters.append(chance.pick(from: all)) }
        chance.shuffle(&characters)
        return String(characters)
    }
}

extension PasswordRecipe {
    private struct Demand {
        let characters: [Character]
        let least: Int
    }

    private var demands: [Demand] {
        var demands: [Demand] = []
        if hasLowercase { demands.append(demand("abcdefghijkmnopqrstuvwxyz", "l", least: 1)) }
        if hasUppercase { demands.append(demand("ABCDEFGHJKLMNPQRSTUVWXYZ", "IO", least: 1)) }
        if hasNumbers { demands.append(demand("23456789", "01", least: minNumbers)) }
        if hasSpecial { demands.append(demand("!@#$%^&*", "", least: minSpecial)) }
        return demands
    }

    private func demand(_ clear: String, _ ambiguous: String, least: Int) -> Demand {
        Demand(characters: Array(avoidsAmbiguous ? clear : clear + ambiguous), least: least)
    }

    /// With no class at all there are the three usual ones; a password is at least as long as what
    /// it must contain.
    private var bounded: PasswordRecipe {
        var recipe = self
        if !hasUppercase && !hasLowercase && !hasNumbers && !hasSpecial {
            (recipe.hasUppercase, recipe.hasLowercase, recipe.hasNumbers) = (true, true, true)
        }
        recipe.minNumbers = min(max(minNumbers, 0), 9)
        recipe.minSpecial = min(max(minSpecial, 0), 9)
        let least = recipe.demands.reduce(0) { $0 + $1.least }
        recipe.length = max(min(max(length, 5), 128), least)
        return recipe
    }
}
