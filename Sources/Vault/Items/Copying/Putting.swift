import JSON

extension JSON.Edit {
    /// Sets a member of the object as a whole, however its first letter is spelled there.
    mutating func put(_ value: JSON.Raw, at name: String) {
        let spelling = name.prefix(1).uppercased() + name.dropFirst()
        remove([.member(spelling)])
        do {
            try set([.member(name)], to: value)
        } catch {
            preconditionFailure("A cipher is an object, and any member of it can be set.")
        }
    }

    var raw: JSON.Raw {
        do {
            return try JSON.Raw(bytes)
        } catch {
            preconditionFailure("What an edit leaves of valid JSON is valid.")
        }
    }
}

extension Merge.Parts {
    /// Replaces the member, its first letter in either case, or adds it.
    mutating func put(_ value: JSON.Raw, at name: String) {
        let spelling = name.prefix(1).uppercased() + name.dropFirst()
        guard let index = firstIndex(where: { $0.name == name || $0.name == spelling }) else {
            return append((name, value))
        }
        self[index].value = value
    }
}
