/// All that anybody wrote, by its mark: what may turn up upstream.
struct Writings: Sendable {
    private var contents: [String: Content] = [:]
    /// Which thing a mark is about.
    private(set) var things: [String: Int] = [:]
    private(set) var passwords: Set<String> = []

    init(_ evidence: UserEvidence) {
        for (thing, content) in evidence.plan.base.enumerated() { note(content, thing) }
        for (edit, outcome) in zip(evidence.plan.edits, evidence.outcomes) {
            guard let content = edit.content else { continue }
            switch outcome {
            case .acknowledged, .unknown: note(content, edit.thing)
            case .refused, .untried: break
            }
        }
        for (edit, isTaken) in zip(evidence.plan.foreign, evidence.foreignTaken) where isTaken {
            note(edit.content, edit.thing)
        }
        passwords.formUnion(evidence.olderPasswords)
    }

    func content(marked mark: String) -> Content? { contents[mark] }

    private mutating func note(_ content: Content, _ thing: Int) {
        contents[content.notes] = content
        things[content.notes] = thing
        passwords.insert(content.password)
    }
}
