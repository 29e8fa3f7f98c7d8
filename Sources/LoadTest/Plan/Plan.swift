import System

/// What one user is going to do in a round, and what that user's other device does meanwhile.
///
/// Things are the items it is about: first those that are there, in order, then those that are made.
struct UserPlan: Hashable, Sendable {
    /// One edit, made through the host.
    enum Edit: Hashable, Sendable {
        case create(thing: Int, Content)
        case update(thing: Int, Content)
        case trash(thing: Int)
        case delete(thing: Int)

        var thing: Int {
            switch self {
            case .create(let thing, _), .update(let thing, _), .trash(let thing),
                .delete(let thing):
                thing
            }
        }

        var content: Content? {
            switch self {
            case .create(_, let content), .update(_, let content): content
            case .trash, .delete: nil
            }
        }

        var operation: Operation {
            switch self {
            case .create: .create
            case .update: .update
            case .trash: .trash
            case .delete: .delete
            }
        }
    }

    /// An edit that another device makes upstream while the host cannot see it.
    struct ForeignEdit: Hashable, Sendable {
        let thing: Int
        let content: Content
        /// When in the round, from 0 to 1.
        let moment: Double
    }

    var base: [Content]
    var edits: [Edit]
    var foreign: [ForeignEdit] = []
}

enum Operation: String, CaseIterable, Hashable, Sendable {
    case create, update, trash, delete
}

/// Makes plans: the same for the same profile, whatever happens in between.
struct Plan: Sendable {
    let profile: LoadProfile

    init(_ profile: LoadProfile) {
        self.profile = profile
    }

    /// What a user has before anything happens.
    func furniture(of user: Int) -> [Content] {
        (0..<profile.items).map { content("u\(user).i\($0)", "s\(profile.seed).u\(user).i\($0)") }
    }

    /// What a user does in a round, beginning with these items.
    func user(_ user: Int, round: Int, base: [Content]) -> UserPlan {
        let seed =
            UInt64(bitPattern: Int64(profile.seed)) &* 0x1_0000_01B3 &+ UInt64(round) << 40
            &+ UInt64(user)
        var sketch = Sketch(
            base: base,
            mark: "s\(profile.seed).r\(round).u\(user)",
            profile,
            chance: SeededChance(seed: seed)
        )
        for number in 0..<profile.edits { sketch.addEdit(number) }
        sketch.addForeignEdits(share: profile.conflicts)
        return sketch.plan
    }

    private func content(_ name: String, _ mark: String) -> Content {
        Content(
            name: "Account \(name)",
            username: "\(mark)@load.example",
            password: "pw-\(mark)",
            notes: mark
        )
    }
}

/// A plan while it is made.
private struct Sketch {
    private(set) var plan: UserPlan
    private let mark: String
    private let repeats: Double
    private let removals: Double
    private let chance: SeededChance
    /// What each thing says by now.
    private var contents: [Content]
    /// Nobody has edited these yet, in the order in which they will be.
    private var fresh: [Int]
    /// Have been edited and are still there.
    private var used: [Int] = []
    private var touched: Set<Int> = []

    init(base: [Content], mark: String, _ profile: LoadProfile, chance: SeededChance) {
        plan = UserPlan(base: base, edits: [])
        (self.mark, self.chance) = (mark, chance)
        (repeats, removals) = (profile.repeats, profile.removals)
        contents = base
        fresh = Array(base.indices)
        for index in fresh.indices.reversed().dropLast() {
            fresh.swapAt(index, chance.number(in: 0..<index + 1))
        }
    }

    mutating func addEdit(_ number: Int) {
        let mark = "\(mark).e\(number)"
        switch chance.fraction() {
        case ..<(removals * 0.4): remove { .delete(thing: $0) }
        case ..<removals: remove { .trash(thing: $0) }
        case ..<(removals + 0.2): create(mark)
        default: update(mark)
        }
    }

    private mutating func create(_ mark: String) {
        let thing = contents.count
        let content = Content(
            name: "New \(mark)",
            username: "\(mark)@load.example",
            password: "pw-\(mark)",
            notes: mark
        )
        contents.append(content)
        used.append(thing)
        plan.edits.append(.create(thing: thing, content))
    }

    private mutating func update(_ mark: String) {
        guard let thing = pick(keeps: true) else { return create(mark) }
        var content = contents[thing]
        content.username = "\(mark)@load.example"
        content.notes = mark
        if chance.fraction() < 0.5 { content.password = "pw-\(mark)" }
        contents[thing] = content
        plan.edits.append(.update(thing: thing, content))
    }

    private mutating func remove(_ edit: (Int) -> UserPlan.Edit) {
        guard let thing = pick(keeps: false) else {
            return create("\(mark).x\(plan.edits.count)")
        }
        plan.edits.append(edit(thing))
    }

    /// The next thing to edit; nil if there is none left.
    private mutating func pick(keeps: Bool) -> Int? {
        let wantsUsed = fresh.isEmpty || (!used.isEmpty && chance.fraction() < repeats)
        guard wantsUsed else {
            let thing = fresh.removeLast()
            touched.insert(thing)
            if keeps { used.append(thing) }
            return thing
        }
        guard !used.isEmpty else { return nil }
        let place = chance.number(in: 0..<used.count)
        let thing = used[place]
        if !keeps { used.remove(at: place) }
        return thing
    }

    /// The other device edits some of the same items, once each.
    mutating func addForeignEdits(share: Double) {
        for thing in touched.sorted() where chance.fraction() < share {
            var content = plan.base[thing]
            let mark = "\(mark).f\(thing)"
            (content.username, content.notes) = ("\(mark)@load.example", mark)
            if chance.fraction() < 0.5 { content.password = "pw-\(mark)" }
            plan.foreign.append(
                UserPlan.ForeignEdit(thing: thing, content: content, moment: chance.fraction())
            )
        }
    }
}
