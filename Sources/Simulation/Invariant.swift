/// What must always hold. The oracle of the worlds names these, and so do tests.
public enum Invariant: String, CaseIterable, Hashable, Sendable {
    case nothingLost = "I1"
    case nothingInvented = "I2"
    case settlesDown = "I3"
    case madeOnce = "I4"
    case inOrder = "I5"
    case ownEditsShown = "I6"
    case nothingUnseenOverwritten = "I7"
    case keptOnceAccepted = "I8"
    case accountsApart = "I10"
    case poisonContained = "I11"
    case patience = "I12"
    case neverBack = "I13"
    case neverNearlyEmpty = "I14"
    case deletionSparesUnseen = "I15"
    case nothingOpen = "I16"
    case presentKeyOnly = "I17"
    case toldTruly = "I19"
    case bounded = "I20"
    case endsInTime = "I22"
    case sameAgain = "determinism"
    case playable = "simulator"

    public var sentence: String {
        switch self {
        case .nothingLost:
            "No edit that was accepted is lost: it is the item's, in a copy, in the"
                + " history of passwords, or a later one of the same person has taken its"
                + " place."
        case .nothingInvented: "Nothing appears that nobody has written."
        case .settlesDown:
            "Once nothing goes wrong any more, everything that waits is brought up,"
                + " and here is what is upstream."
        case .madeOnce: "What was made is upstream once, and so is each backup copy."
        case .inOrder: "One person's edits of an item take effect in their order."
        case .ownEditsShown: "Whoever has edited something is shown it so."
        case .nothingUnseenOverwritten:
            "What others have written is not overwritten unseen, nor before there is"
                + " a copy."
        case .keptOnceAccepted:
            "What was accepted outlives every crash, and what was refused is not"
                + " carried out."
        case .accountsApart: "No account sees, sends or waits for what is another's."
        case .poisonContained:
            "What upstream will never take keeps nothing else from being brought up."
        case .patience:
            "Upstream is left alone for as long as it has asked for, and is never"
                + " flooded."
        case .neverBack: "What is known here never goes back, unless upstream certainly did."
        case .neverNearlyEmpty: "A vault is not emptied because of one answer."
        case .deletionSparesUnseen: "What others have written unseen is not deleted."
        case .nothingOpen: "No plaintext and no key is on the disk or in the log."
        case .presentKeyOnly: "Nothing is sent under a key that the account had before."
        case .toldTruly: "What is told of the state of things is so."
        case .bounded:
            "What waits has a bound, and beyond it edits are refused before they are"
                + " accepted."
        case .endsInTime: "A host that is told to end does so in time."
        case .playable: "The world itself can be played."
        case .sameAgain: "The same seed gives the same world."
        }
    }
}
