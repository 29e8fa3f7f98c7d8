import Crypto
import HTTP

/// The status page: one text that needs nothing else, and lets nothing else in.
enum StatusPage {
    /// Only the script and the style that are in the page run, and it talks to nobody but us.
    static let response: Response = {
        let policy = [
            "default-src 'none'", "script-src '\(fingerprint(script))'",
            "style-src '\(fingerprint(style))'", "connect-src 'self'", "base-uri 'none'",
            "form-action 'none'", "frame-ancestors 'none'",
        ]
        return Response(
            headers: [
                "Content-Type": "text/html; charset=utf-8",
                "Content-Security-Policy": policy.joined(separator: "; "),
                "Cache-Control": "no-store",
                "Referrer-Policy": "no-referrer",
                "X-Content-Type-Options": "nosniff",
            ],
            body: .bytes(Array(text.utf8))
        )
    }()

    private static func fingerprint(_ text: String) -> String {
        "sha256-" + Base64.text(of: Digest.sha256(Array(text.utf8)))
    }

    private static let text = """
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
        <p id="line" role="status">Connecting…</p>
        </header>
        <main>
        <section aria-labelledby="network-title">
        <h2 id="network-title">Network</h2>
        <p id="network">…</p>
        </section>
        <section id="accounts" tabindex="-1" aria-labelledby="accounts-title">
        <h2 id="accounts-title">Accounts</h2>
        <div id="list"></div>
        </section>
        <noscript><p>This page shows what changes while it changes, and needs scripts for that.
        <a href="/readyz?verbose">Readiness</a> and <a href="/metrics">figures</a> need none.</p></noscript>
        </main>
        <script>\(script)</script>
        </body>
        </html>

        """
}
