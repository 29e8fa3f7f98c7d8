internal import System

/// The two switches of offline editing.
public struct Switches: Hashable, Sendable {
    /// Whether edits that cannot be sent are kept.
    public var offlineChanges: Bool
    /// Whether what was kept is brought upstream before a sync.
    public var resolution: Bool

    public init(offlineChanges: Bool, resolution: Bool) {
        self.offlineChanges = offlineChanges
        self.resolution = resolution
    }

    public static let on = Switches(offlineChanges: true, resolution: true)
    public static let off = Switches(offlineChanges: false, resolution: false)

    /// Edits are kept only if they can also be sent one day.
    public var keepsEdits: Bool { offlineChanges && resolution }
}

/// How the switches stand for an account: pinned by the host's configuration, or as upstream said last.
public final class SwitchBoard: Sendable {
    public enum Setting: String, CaseIterable, Hashable, Sendable {
        case on, off, server
    }

    private let offlineChanges: Setting
    private let resolution: Setting
    private let told: Lock<Switches>

    /// - Parameter told: What upstream said when it was last asked; nothing is on before that.
    public init(offlineChanges: Setting, resolution: Setting, told: Switches = .off) {
        self.offlineChanges = offlineChanges
        self.resolution = resolution
        self.told = Lock(told)
    }

    public var now: Switches {
        let told = told.withLock { $0 }
        return Switches(
            offlineChanges: offlineChanges.value(told.offlineChanges),
            resolution: resolution.value(told.resolution)
        )
    }

    /// Whether upstream has to be asked at all.
    public var asksUpstream: Bool { offlineChanges == .server || resolution == .server }

    func learn(_ switches: Switches) { told.withLock { $0 = switches } }
}

extension SwitchBoard.Setting {
    fileprivate func value(_ told: Bool) -> Bool {
        switch self {
        case .on: true
        case .off: false
        case .server: told
        }
    }
}
