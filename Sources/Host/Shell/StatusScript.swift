extension StatusPage {
    /// Everything is set as text, so that nothing which is shown can become a part of the page.
    static let script = """
        "use strict";
        const byID = (id) => document.getElementById(id);
        const make = (name, text, kind) => {
          const element = document.createElement(name);
          if (text !== undefined) element.textContent = text;
          if (kind) element.className = kind;
          return element;
        };
        const time = (text) => {
          if (!text) return make("span", "never");
          const element = make("time", new Date(text).toLocaleString());
          element.dateTime = text;
          return element;
        };
        const words = {
          online: ["online", "well"], degraded: ["degraded", "care"], offline: ["offline", "bad"],
          unlocked: ["unlocked", "well"], locked: ["locked", "care"], signedOut: ["signed out", "bad"],
          completed: "completed", notNeeded: "nothing new", deferred: "put off", failed: "failed",
          create: "new item", update: "edit", softDelete: "move to the trash",
          hardDelete: "deletion", other: "other change", pushed: "sent",
          alreadyApplied: "was there already", recreated: "made anew",
          backedUpServer: "sent, the server's version kept as a copy",
          backedUpLocal: "the server's version stands, ours kept as a copy",
          restoredServer: "withdrawn, the server's version stands", deleted: "deleted",
          cleanedUp: "nothing was left to do", adopted: "taken over", discarded: "discarded"
        };
        const word = (key) => [].concat(words[key] || key || "none")[0];
        const mark = (key) => make("span", word(key), "mark " + ([].concat(words[key])[1] || ""));
        const row = (list, name, ...values) => {
          const value = make("dd");
          value.append(...values);
          list.append(make("dt", name), value);
        };
        const lines = (card, title, entries, fill) => {
          if (!entries.length) return;
          const list = make("ul");
          for (const entry of entries) {
            const line = make("li");
            line.append(...fill(entry));
            list.append(line);
          }
          card.append(make("h4", title), list);
        };
        const pending = (counts) => {
          if (!counts.total) return "nothing";
          const parts = [["ready", "ready"], ["inFlight", "under way"], ["backingOff", "backing off"],
            ["quarantined", "quarantined"]].filter(([key]) => counts[key])
            .map(([key, name]) => counts[key] + " " + name);
          return counts.total + " (" + parts.join(", ") + ")";
        };
        const card = (account) => {
          const card = make("article");
          const list = make("dl");
          card.append(make("h3", account.name), list);
          row(list, "Status", mark(account.status));
          row(list, "Network", mark(account.network));
          row(list, "Last sync", time(account.lastSync));
          row(list, "Last outcome", word(account.lastOutcome));
          row(list, "Pending", pending(account.pending));
          if (account.pending.oldest) row(list, "Pending since", time(account.pending.oldest));
          if (account.nextAttempt) row(list, "Tried next", time(account.nextAttempt));
          lines(card, "Quarantined", account.quarantined,
            (change) => [word(change.type) + ", since ", time(change.since), ": " + change.why]);
          lines(card, "Resolved lately", account.recent,
            (entry) => [time(entry.at), ": " + word(entry.type) + ", " + word(entry.outcome)
              + (entry.hasBackup ? " (backup copy made)" : "")]);
          return card;
        };
        const show = (status) => {
          const network = status.network;
          byID("network").replaceChildren(mark(network.state), " since ", time(network.since),
            network.isDrill ? " (a drill)" : "");
          byID("list").replaceChildren(...status.accounts.map(card));
          if (!status.accounts.length) byID("list").append(make("p", "No account has signed in yet."));
          if (status.others) byID("list").append(make("p", "And " + status.others
            + (status.others === 1 ? " more account" : " more accounts") + " of which there is less to tell."));
          if (status.ofStrangers) byID("list").append(make("p", "Of accounts that are not here, "
            + status.ofStrangers + " wait until their owners sign in again."));
          const total = status.pending;
          byID("line").textContent = total
            ? total + (total === 1 ? " change waits" : " changes wait") + " for the server."
            : "Nothing waits.";
        };
        const source = new EventSource("/status/events");
        source.addEventListener("status", (event) => show(JSON.parse(event.data)));
        source.addEventListener("error", () => {
          byID("line").textContent = "The host does not answer. Trying again…";
        });
        """
}
