"""Our own client, held against one that nobody here wrote it for: what the one stores, the other opens."""

import base64
import json
import os
import subprocess
import unittest
import uuid

from bitwarden import Client

URL = os.environ["UPSTREAM"]
PROGRAM = os.environ["CLIENT"]
PASSWORD = "correct horse – ǻ"


def new_client():
    client = Client(URL, f"{uuid.uuid4()}@example.com", PASSWORD, iterations=5_000)
    client.register()
    client.log_in()
    return client


def start(word, client, *more):
    return subprocess.Popen(
        [PROGRAM, word, URL, client.email, *more],
        env=os.environ | {"PASSWORD": PASSWORD},
        stdout=subprocess.PIPE,
        text=True,
    )


def run(word, client, *more):
    with start(word, client, *more) as process:
        answer, _ = process.communicate(timeout=30)
        assert process.returncode == 0, f"{word}: {process.returncode}"
        return answer.strip()


class BothWays(unittest.TestCase):
    def test_what_ours_stores_python_opens(self):
        client = new_client()
        made = run("store", client)
        [cipher] = client.call("GET", "/api/sync")["ciphers"]
        self.assertEqual(cipher["id"], made)
        self.assertIsNotNone(cipher["key"], "items have a key of their own")
        wanted = {
            "name": "holdfast item – ü",
            "username": "holdfast user",
            "password": 'p|w."\\',
            "uris": ["https://holdfast.example/"],
            "notes": "kept by holdfast",
        }
        self.assertEqual(client.read(cipher), wanted)
        key = client.key_of(cipher)
        [field] = cipher["fields"]
        self.assertEqual(key.read(field["name"]), "hidden")
        self.assertEqual(key.read(field["value"]), "field value")
        content = bytes(number * 7 & 255 for number in range(100_001))
        self.assertEqual(client.files(cipher), {"holdfast file.bin": content})

    def test_what_python_stores_ours_opens(self):
        client = new_client()
        request = client.login("python item", "me – é", "p\n\"w", "https://x.example/", "n" * 3_000)
        cipher = client.call("POST", "/api/ciphers", request)
        content = os.urandom(200_003)
        client.attach(cipher, "photo – ü.jpg", content)
        found = json.loads(run("read", client, "python item"))
        files = {name: base64.b64decode(text) for name, text in found.pop("files").items()}
        self.assertEqual(files, {"photo – ü.jpg": content})
        self.assertEqual(found, client.read(cipher))

    def test_ours_hears_what_python_does(self):
        client = new_client()
        with start("hear", client) as ear:
            self.assertEqual(ear.stdout.readline(), "listening\n")
            cipher = client.call("POST", "/api/ciphers", client.login("a", "b", "c"))
            self.assertEqual(ear.stdout.readline(), f"1 {cipher['id']}\n")
            self.assertEqual(ear.wait(timeout=10), 0)


if __name__ == "__main__":
    unittest.main()
