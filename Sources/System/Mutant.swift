/// A place in which the program can be broken on purpose, to show that somebody would notice.
///
/// Only builds with `HOLDFAST_MUTANTS=1` can be; in all others the question is answered by the compiler.
@frozen
public enum Mutant: CaseIterable, Hashable, Sendable {
    // What goes upstream.
    case staleRevision, noRevision, blindCreate, earlyCreate, blindBackup, skipsCompare
    case overwritesWithoutBackup, yieldsWithoutBackup, dropsWhatIsMissing, trustsOneRefusal
    case takesSilenceForSuccess, deletesMoved, forgetsTrash, datesOnly, pushesIntoTrash
    case dropsOldestCopy, sendsOldKeys, decidesOnce, unlearns
    // What is kept here.
    case forgetsByName, forgetsInFlight, withdrawsAll, neverWithdraws, refusesUnanswered
    case noFlush, foldsOntoNewGround, foldDropsContent, dropsAlias, refreshForgetsPending
    case refreshOverwritesYounger, refreshRemovesYounger, ignoresLimit, rebaseForgets
    case acceptsStaleCopy, ignoresMovedGround, forgetsAtOnce, offersYounger, claimsAdopted
    case adoptsKin, forgetsMeanwhile, leavesUndone, leavesOverwritten, forgetsBeneath
    // When it is done.
    case believesOlder, believesEmpty, ignoresRetryAfter, spins, forgetsRetry, neverReleases
    case hearsNoWitness
    case ignoresUnlock, advancesEarly, poisonStops, noLanes, ignoresDrill, losesNetworkReturn
    // What is told.
    case countsTwice, logsNames, silentSignOut
    // Whose it is.
    case takesOthers
}

#if MUTANTS
    extension Mutant {
        private static let chosen = Lock<Mutant?>(nil)

        /// From now on the whole process is broken in that place; nil mends it.
        public static func choose(_ mutant: Mutant?) { chosen.withLock { $0 = mutant } }

        static func isChosen(_ mutant: Mutant) -> Bool { chosen.withLock { $0 == mutant } }
    }

    /// Whether the program is broken here.
    public func mutated(_ mutant: Mutant) -> Bool { Mutant.isChosen(mutant) }
#else
    /// Never, in a program that is meant for use.
    @inlinable @inline(__always)
    public func mutated(_ mutant: Mutant) -> Bool { false }
#endif
