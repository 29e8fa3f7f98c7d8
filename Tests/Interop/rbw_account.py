"""The account that rbw uses, from the other side: register, add NAME and read NAME, each with URL EMAIL."""

import sys

from bitwarden import Client

*words, url, email = sys.argv[1:]
client = Client(url, email, "correct horse", iterations=5_000)
if words[0] == "register":
    client.register()
client.log_in()
if words[0] in ("register", "add"):
    name = words[1] if words[1:] else "python item"
    item = client.login(name, "python user", "python password", "https://example.com/")
    client.call("POST", "/api/ciphers", item)
else:
    items = [client.read(cipher) for cipher in client.call("GET", "/api/sync")["ciphers"]]
    for item in items:
        if item["name"] == words[1]:
            print(item["username"], item["password"], item["notes"], sep="/")
