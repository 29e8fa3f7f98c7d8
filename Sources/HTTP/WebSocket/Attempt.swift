import CWebsockets

/// What the library knows as the owner of a socket. It lives as long as the library may call.
final class Attempt {
    let link: WebSocketLink
    private let loop: WebSocketLoop

    init(link: WebSocketLink, loop: WebSocketLoop) {
        self.link = link
        self.loop = loop
    }

    func open() { loop.hasOpened(link) }
    func hear() { loop.hasHeard(link) }

    func take(_ piece: UnsafeRawBufferPointer, isText: Bool, isLast: Bool) -> Bool {
        hear()
        return link.take(piece, isText: isText, isLast: isLast)
    }

    func end(_ ending: cw_ending, _ status: Int32, _ text: String) {
        loop.attemptEnded(link, ending, status, text)
    }
}
