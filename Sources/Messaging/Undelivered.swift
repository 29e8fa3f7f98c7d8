/// Why a message did not arrive, or its answer did not.
public enum Undelivered: Error, Hashable, Sendable, CaseIterable {
    /// The service no longer reads its mailbox. Nothing was sent.
    case closed
    /// The task was cancelled while it waited: for room, then nothing was sent; or for the answer,
    /// then the service may still do what it was asked.
    case cancelled
    /// The mailbox has no room, and the sender did not want to wait. Nothing was sent.
    case full
    /// The message was accepted, but the service let go of the reply without answering, perhaps
    /// because it ended first. What became of the request is not known.
    case unanswered
}

extension Undelivered: CustomStringConvertible {
    public var description: String {
        switch self {
        case .closed: "The service has ended and reads no more messages."
        case .cancelled: "The task was cancelled while it waited for the service."
        case .full: "The service has more messages waiting than it may; try again later."
        case .unanswered: "The service let go of the request without answering it."
        }
    }
}
