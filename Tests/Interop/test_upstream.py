"""The embedded upstream, looked at through a client that nobody here wrote the server for."""

import hashlib
import hmac
import json
import os
import struct
import sys
import time
import unittest
import uuid
import base64

from bitwarden import Client, Key, Refused

URL = os.environ["UPSTREAM"]
PROFILE = os.environ["PROFILE"]


def new_client():
    client = Client(URL, f"{uuid.uuid4()}@example.com", "correct horse – ǻ", iterations=5_000)
    client.register()
    client.log_in()
    return client


def totp(secret):
    key = base64.b32decode(secret)
    digest = hmac.digest(key, struct.pack(">Q", int(time.time()) // 30), hashlib.sha1)
    offset = digest[-1] & 15
    number = struct.unpack(">I", digest[offset : offset + 4])[0] & 0x7FFFFFFF
    return f"{number % 1_000_000:06}"


class Accounts(unittest.TestCase):
    def test_wrong_password(self):
        client = new_client()
        client.password = "wrong"
        with self.assertRaises(Refused) as refused:
            client.log_in()
        self.assertEqual(refused.exception.status, 400)

    def test_refresh_and_api_key(self):
        client = new_client()
        answer = client.call(
            "POST",
            "/identity/connect/token",
            form={
                "grant_type": "refresh_token",
                "refresh_token": client.refresh_token,
                "client_id": "cli",
            },
        )
        client.token = answer["access_token"]
        profile = client.call("GET", "/api/accounts/profile")
        proof = {"masterPasswordHash": client.master_password_hash}
        secret = client.call("POST", "/api/accounts/api-key", proof)["apiKey"]
        answer = client.call(
            "POST",
            "/identity/connect/token",
            form={
                "grant_type": "client_credentials",
                "client_id": f"user.{profile['id']}",
                "client_secret": secret,
                "scope": "api",
                "deviceType": "25",
                "deviceIdentifier": client.device,
                "deviceName": "interop",
            },
        )
        self.assertNotIn("refresh_token", answer)

    def test_authenticator(self):
        client = new_client()
        proof = {"masterPasswordHash": client.master_password_hash}
        key = client.call("POST", "/api/two-factor/get-authenticator", proof)["key"]
        client.call("PUT", "/api/two-factor/authenticator", proof | {"key": key, "token": totp(key)})
        with self.assertRaises(Refused) as refused:
            client.log_in()
        self.assertIn("TwoFactorProviders2", json.loads(refused.exception.body))


class Items(unittest.TestCase):
    def test_what_is_stored_is_read_again(self):
        client = new_client()
        wanted = {
            "name": "Bank – ü",
            "username": "me",
            "password": "p|w.\"\\\n",
            "uris": ["https://bank.example/"],
            "notes": "x" * 2_000,
        }
        request = client.login(
            wanted["name"],
            wanted["username"],
            wanted["password"],
            wanted["uris"][0],
            wanted["notes"],
        )
        made = client.call("POST", "/api/ciphers", request)
        self.assertEqual(client.read(made), wanted)
        [synced] = client.call("GET", "/api/sync?excludeDomains=true")["ciphers"]
        self.assertEqual(client.read(synced), wanted)
        self.assertEqual(synced["name"], request["name"], "sealed texts stay as they were")

    def test_another_device_opens_it(self):
        client = new_client()
        client.call("POST", "/api/ciphers", client.login("a", "b", "c"))
        other = Client(URL, client.email, client.password)
        other.log_in()
        [cipher] = other.call("GET", "/api/sync")["ciphers"]
        self.assertEqual(other.read(cipher)["password"], "c")

    def test_edit_trash_restore_delete(self):
        client = new_client()
        cipher = client.call("POST", "/api/ciphers", client.login("a", "b", "c"))
        path = f"/api/ciphers/{cipher['id']}"
        request = client.login("a", "b", "new")
        request["lastKnownRevisionDate"] = cipher["revisionDate"]
        changed = client.call("PUT", path, request)
        self.assertEqual(client.read(changed)["password"], "new")
        request["lastKnownRevisionDate"] = "2001-01-01T00:00:00.000Z"
        with self.assertRaises(Refused) as refused:
            client.call("PUT", path, request)
        self.assertIn("out of date", refused.exception.body)
        client.call("PUT", path + "/delete")
        self.assertIsNotNone(client.call("GET", path)["deletedDate"])
        client.call("PUT", path + "/restore")
        self.assertIsNone(client.call("GET", path)["deletedDate"])
        client.call("DELETE", path)
        with self.assertRaises(Refused) as refused:
            client.call("GET", path)
        self.assertEqual(refused.exception.status, 404 if PROFILE == "bitwarden" else 400)

    def test_folders(self):
        client = new_client()
        folder = client.call("POST", "/api/folders", {"name": client.user_key.seal("Work")})
        request = client.login("a", "b", "c") | {"folderId": folder["id"]}
        cipher = client.call("POST", "/api/ciphers", request)
        self.assertEqual(cipher["folderId"], folder["id"])
        [found] = client.call("GET", "/api/folders")["data"]
        self.assertEqual(client.user_key.read(found["name"]), "Work")
        client.call("DELETE", f"/api/folders/{folder['id']}")
        self.assertIsNone(client.call("GET", f"/api/ciphers/{cipher['id']}")["folderId"])

    def test_a_file(self):
        client = new_client()
        cipher = client.call("POST", "/api/ciphers", client.login("a", "b", "c"))
        content = os.urandom(100_000)
        client.attach(cipher, "photo.jpg", content)
        [synced] = client.call("GET", "/api/sync")["ciphers"]
        self.assertEqual(client.files(synced), {"photo.jpg": content})

    def test_an_organization(self):
        client = new_client()
        key = Key()
        organization = client.call(
            "POST",
            "/api/organizations",
            {
                "name": "Firm",
                "billingEmail": client.email,
                "key": client.wrap_organization_key(key),
                "collectionName": key.seal("Shared"),
                "planType": 0,
            },
        )
        sync = client.call("GET", "/api/sync")
        [membership] = sync["profile"]["organizations"]
        opened = client.unwrap_organization_key(membership["key"])
        self.assertEqual(opened.data, key.data)
        [collection] = sync["collections"]
        self.assertEqual(opened.read(collection["name"]), "Shared")
        request = {
            "type": 1,
            "organizationId": organization["id"],
            "name": opened.seal("team"),
            "login": {"username": opened.seal("us"), "password": opened.seal("ours")},
        }
        cipher = client.call(
            "POST",
            "/api/ciphers/create",
            {"cipher": request, "collectionIds": [collection["id"]]},
        )
        [found] = client.call("GET", "/api/sync")["ciphers"]
        self.assertEqual(found["id"], cipher["id"])
        self.assertEqual(found["collectionIds"], [collection["id"]])
        self.assertEqual(client.read(found, opened)["password"], "ours")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v"] if "-v" in sys.argv else [sys.argv[0]])
