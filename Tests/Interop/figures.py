"""Something to measure with: `item URL FILE` makes one, `accounts URL COUNT` a great many."""

import http.client
import json
import sys
import threading
import time

from bitwarden import Client, Key

what, url, word = sys.argv[1:]


def one_item():
    client = Client(url, "figures@example.com", "password", iterations=5_000)
    client.register()
    client.log_in()
    request = client.login("name", "user", "password", "https://example.com/")
    made = client.call("POST", "/api/ciphers", request)
    with open(word, "w") as script:
        script.write(
            'wrk.method = "PUT"\n'
            f'wrk.headers["Authorization"] = "Bearer {client.token}"\n'
            'wrk.headers["Content-Type"] = "application/json"\n'
            f"wrk.body = {json.dumps(json.dumps(request))}\n"
        )
    print(client.token, made["id"])


def accounts(first, last):
    client = Client(url, "nobody@example.com", "password")
    client.user_key = Key()
    item = client.login("name of it", "someone@example.com", "a long password", "https://x.example/")
    item = json.dumps(item | {"notes": client.user_key.seal("note " * 20)})
    connection = http.client.HTTPConnection(url.removeprefix("http://"))

    def call(path, body, headers={}):
        connection.request("POST", path, body, headers)
        answer = connection.getresponse()
        text = answer.read()
        assert answer.status == 200, (answer.status, text)
        return json.loads(text)

    for number in range(first, last):
        email = f"user{number}@example.com"
        registration = {
            "email": email,
            "masterPasswordHash": "h" * 44,
            "key": client.user_key.seal(client.user_key.data),
            "keys": {"publicKey": "p" * 392, "encryptedPrivateKey": "2." + "w" * 1_700},
            "kdf": 0,
            "kdfIterations": 600_000,
        }
        call("/identity/accounts/register", json.dumps(registration))
        form = (
            f"grant_type=password&username={email}&password={'h' * 44}&scope=api+offline_access"
            "&client_id=cli&deviceType=8&deviceIdentifier=d&deviceName=n"
        )
        token = call("/identity/connect/token", form)["access_token"]
        for _ in range(10):
            call("/api/ciphers", item, {"Authorization": "Bearer " + token})


if what == "item":
    one_item()
else:
    count = int(word)
    begun = time.monotonic()
    shares = [
        threading.Thread(target=accounts, args=(count * share // 4, count * (share + 1) // 4))
        for share in range(4)
    ]
    for share in shares:
        share.start()
    for share in shares:
        share.join()
    print(f"{count * 12} calls from Python in {time.monotonic() - begun:.0f} s")
