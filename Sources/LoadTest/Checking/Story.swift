/// What happened to one thing in a round, as its owner was told.
struct Story: Sendable {
    enum End: Hashable, Sendable {
        /// The last that was acknowledged is this content.
        case content(Content)
        /// It was put into the trash, saying one of these; none if it was made in the same round, so that
        /// nothing is left of it.
        case trashed([Content])
        case deleted
        /// Nothing was acknowledged; what is unknown may have happened or not.
        case open
    }

    struct Password: Hashable, Sendable {
        let text: String
        /// Whether nobody knows if it ever got there.
        let isOpen: Bool
    }

    let thing: Int
    let base: Content?
    /// What the other device made of it, if upstream took that.
    let foreign: Content?
    private(set) var end: End = .open
    /// Contents after the last acknowledged edit that may have got there.
    private(set) var open: [Content] = []
    /// Whether a removal may have got there that nobody was told of.
    private(set) var mayBeRemoved = false
    /// Whether such a removal leaves nothing, not even in the trash.
    private(set) var mayBeGone = false
    /// All contents that may have been in it.
    private(set) var contents: [Content]
    private(set) var passwords: [Password]
    private(set) var acknowledgedCount = 0
    private(set) var isTouched = false
    /// Whether its owner was told what became of each edit.
    private var isKnown = true

    /// Whether there is nobody to whom an edit may have given way.
    var isAlone: Bool { foreign == nil && isKnown }

    /// Whether there is something of it upstream to look at.
    var isSent: Bool {
        switch end {
        case .content: !mayBeGone
        case .trashed(let contents): !contents.isEmpty && !mayBeGone
        case .deleted, .open: false
        }
    }

    static func all(in evidence: UserEvidence) -> [Story] {
        let taken = zip(evidence.plan.foreign, evidence.foreignTaken).filter(\.1).map(\.0)
        let foreign = Dictionary(
            taken.map { ($0.thing, $0.content) },
            uniquingKeysWith: { _, last in last }
        )
        var stories = evidence.plan.base.enumerated().map { thing, content in
            Story(thing: thing, base: content, foreign: foreign[thing])
        }
        for (edit, outcome) in zip(evidence.plan.edits, evidence.outcomes) {
            while stories.count <= edit.thing {
                stories.append(Story(thing: stories.count, base: nil, foreign: nil))
            }
            stories[edit.thing].add(edit, outcome)
        }
        return stories
    }

    private init(thing: Int, base: Content?, foreign: Content?) {
        (self.thing, self.base, self.foreign) = (thing, base, foreign)
        contents = base.map { [$0] } ?? []
        passwords = base.map { [Password(text: $0.password, isOpen: false)] } ?? []
    }

    private mutating func add(_ edit: UserPlan.Edit, _ outcome: Outcome) {
        switch outcome {
        case .acknowledged: acknowledge(edit)
        case .unknown: leaveOpen(edit)
        case .refused, .untried: break
        }
    }

    private mutating func acknowledge(_ edit: UserPlan.Edit) {
        isTouched = true
        acknowledgedCount += 1
        switch edit {
        case .create(_, let content), .update(_, let content):
            end = .content(content)
            note(content, isOpen: false)
        case .trash: end = .trashed(base == nil ? [] : latest + open)
        case .delete: end = .deleted
        }
        open = []
        (mayBeRemoved, mayBeGone) = (false, false)
    }

    private mutating func leaveOpen(_ edit: UserPlan.Edit) {
        isTouched = true
        isKnown = false
        if let content = edit.content {
            open.append(content)
            note(content, isOpen: true)
        } else {
            mayBeRemoved = true
            // What was made in the same round is not even in the trash.
            mayBeGone = mayBeGone || base == nil || edit.operation == .delete
        }
    }

    /// What it says before it goes into the trash, as far as anybody was told.
    private var latest: [Content] {
        switch end {
        case .content(let content): [content]
        case .trashed(let contents): contents
        case .deleted, .open: base.map { [$0] } ?? []
        }
    }

    private mutating func note(_ content: Content, isOpen: Bool) {
        contents.append(content)
        let isSame = passwords.last?.text == content.password
        if isSame, isOpen || passwords.last?.isOpen == false { return }
        if isSame { passwords.removeLast() }
        passwords.append(Password(text: content.password, isOpen: isOpen))
    }
}
