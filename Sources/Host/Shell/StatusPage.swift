import Crypto
import HTTP
import Sync

/// The status page: one text that needs nothing else, and lets nothing else in.
enum StatusPage {
    /// Only the script and the style that are in the page run, and it talks to nobody but us.
    ///
    /// Before the script has heard anything, and for whoever runs none, it says how the host stands then.
    static func response(_ snapshot: StatusSnapshot) -> Response {
        Response(
            headers: headers,
            body: .bytes(Array((head + snapshot.markup + foot).utf8))
        )
    }

    private static let headers: Headers = {
        let policy = [
            "default-src 'none'", "script-src '\(fingerprint(script))'",
            "style-src '\(fingerprint(style))'", "connect-src 'self'", "base-uri 'none'",
            "form-action 'none'", "frame-ancestors 'none'",
        ]
        return [
            "Content-Type": "text/html; charset=utf-8",
            "Content-Security-Policy": policy.joined(separator: "; "),
            "Cache-Control": "no-store",
            "Referrer-Policy": "no-referrer",
            "X-Content-Type-Options": "nosniff",
        ]
    }()

    private static func fingerprint(_ text: String) -> String {
        "sha256-" + Base64.text(of: Digest.sha256(Array(text.utf8)))
    }

    private static let head = """
        <!doctype html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="color-scheme" content="light dark">
        <title>Holdfast</title>
        <style>\(style)</style>
        </head>
        <body>
        <a class="skip" href="#accounts">To the accounts</a>
        <header>
        <h1>Holdfast</h1>
        <p id="line" role="status">As it was when this page was asked for.</p>
        </header>
        <main>

        """

    private static let foot = """
        <noscript><p>With scripts, this page shows more, and what changes while it changes.
        <a href="/readyz?verbose">Readiness</a> and <a href="/metrics">figures</a> need none.</p></noscript>
        </main>
        <script>\(script)</script>
        </body>
        </html>

        """
}

extension StatusSnapshot {
    /// The part of the page that the script writes anew. There is nothing in it but words of our own and
    /// numbers.
    fileprivate var markup: String {
        let cards = accounts.map { account in
            """
            <article><h3>Account \(account.number)</h3><p>\(account.standing.status.rawValue), \
            \(account.standing.network.rawValue), \(account.standing.pending.total) pending, \
            \(account.standing.pending.quarantined) quarantined</p></article>

            """
        }
        let strangers =
            strangersChanges > 0
            ? "<p>Of accounts that are not here, \(strangersChanges) wait until their owners sign in again.</p>"
            : ""
        return """
            <section aria-labelledby="network-title">
            <h2 id="network-title">Network</h2>
            <p id="network">\(network.state.rawValue)</p>
            </section>
            <section id="accounts" tabindex="-1" aria-labelledby="accounts-title">
            <h2 id="accounts-title">Accounts</h2>
            <div id="list">
            \(cards.joined())\(strangers)</div>
            </section>

            """
    }
}
