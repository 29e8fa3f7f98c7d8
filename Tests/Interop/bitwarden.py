"""A client of the Bitwarden API with its own crypto, written from the protocol's description.

It shares nothing with the program under test: requests go out through the standard library, and
keys are made and used with the package `cryptography`.
"""

import base64
import hashlib
import hmac
import json
import os
import urllib.error
import urllib.parse
import urllib.request
import uuid

from cryptography.hazmat.primitives import hashes, padding, serialization
from cryptography.hazmat.primitives.asymmetric import padding as rsa_padding
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.kdf.hkdf import HKDFExpand

ITERATIONS = 600_000


def b64(data):
    return base64.b64encode(data).decode()


class Key:
    """Sixty-four bytes: half to encrypt with, half to seal with."""

    def __init__(self, data=None):
        self.data = data or os.urandom(64)
        assert len(self.data) == 64

    def seal(self, plain):
        if isinstance(plain, str):
            plain = plain.encode()
        iv = os.urandom(16)
        padder = padding.PKCS7(128).padder()
        encryptor = Cipher(algorithms.AES(self.data[:32]), modes.CBC(iv)).encryptor()
        text = encryptor.update(padder.update(plain) + padder.finalize()) + encryptor.finalize()
        mac = hmac.digest(self.data[32:], iv + text, hashlib.sha256)
        return f"2.{b64(iv)}|{b64(text)}|{b64(mac)}"

    def open(self, sealed):
        kind, _, rest = sealed.partition(".")
        assert kind == "2", f"type {kind} is none of ours"
        iv, text, mac = (base64.b64decode(piece) for piece in rest.split("|"))
        wanted = hmac.digest(self.data[32:], iv + text, hashlib.sha256)
        assert hmac.compare_digest(mac, wanted), "the seal is broken"
        decryptor = Cipher(algorithms.AES(self.data[:32]), modes.CBC(iv)).decryptor()
        unpadder = padding.PKCS7(128).unpadder()
        return unpadder.update(decryptor.update(text) + decryptor.finalize()) + unpadder.finalize()

    def seal_file(self, content):
        kind, _, rest = self.seal(content).partition(".")
        iv, text, mac = (base64.b64decode(piece) for piece in rest.split("|"))
        return bytes([int(kind)]) + iv + mac + text

    def open_file(self, sealed):
        iv, mac, text = sealed[1:17], sealed[17:49], sealed[49:]
        return self.open(f"{sealed[0]}.{b64(iv)}|{b64(text)}|{b64(mac)}")

    def read(self, sealed):
        return None if sealed is None else self.open(sealed).decode()


def master_key(password, salt, iterations):
    return hashlib.pbkdf2_hmac("sha256", password.encode(), salt.encode(), iterations)


def stretch(key):
    def expand(info):
        return HKDFExpand(algorithm=hashes.SHA256(), length=32, info=info).derive(key)

    return Key(expand(b"enc") + expand(b"mac"))


def password_hash(key, password):
    return b64(hashlib.pbkdf2_hmac("sha256", key, password.encode(), 1))


class Refused(Exception):
    def __init__(self, status, body):
        super().__init__(f"{status}: {body[:300]!r}")
        self.status = status
        self.body = body


class Client:
    def __init__(self, url, email, password, iterations=ITERATIONS):
        self.url = url
        self.email = email
        self.password = password
        self.iterations = iterations
        self.device = str(uuid.uuid4())
        self.token = None

    def call(self, method, path, body=None, form=None, version="2026.7.0"):
        headers = {"Device-Type": "25", "User-Agent": "interop/1"}
        if version:
            headers |= {"Bitwarden-Client-Version": version, "Bitwarden-Client-Name": "cli"}
        data = None
        if form is not None:
            data = urllib.parse.urlencode(form).encode()
        elif body is not None:
            data = json.dumps(body).encode()
            headers["Content-Type"] = "application/json"
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        request = urllib.request.Request(self.url + path, data, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=10) as answer:
                raw = answer.read()
        except urllib.error.HTTPError as error:
            raise Refused(error.code, error.read().decode(errors="replace")) from None
        return json.loads(raw) if raw else None

    def register(self):
        key = master_key(self.password, self.email, self.iterations)
        user_key = Key()
        private = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        pkcs8 = private.private_bytes(
            serialization.Encoding.DER,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        spki = private.public_key().public_bytes(
            serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
        )
        token = self.call(
            "POST",
            "/identity/accounts/register/send-verification-email",
            {"email": self.email, "name": "Interop"},
        )
        return self.call(
            "POST",
            "/identity/accounts/register/finish",
            {
                "email": self.email,
                "emailVerificationToken": token,
                "masterPasswordHash": password_hash(key, self.password),
                "masterPasswordHint": None,
                "userSymmetricKey": stretch(key).seal(user_key.data),
                "userAsymmetricKeys": {
                    "publicKey": b64(spki),
                    "encryptedPrivateKey": user_key.seal(pkcs8),
                },
                "kdf": 0,
                "kdfIterations": self.iterations,
            },
        )

    def log_in(self, **more):
        told = self.call("POST", "/identity/accounts/prelogin/password", {"email": self.email})
        assert told["kdf"] == 0
        salt = told.get("salt") or self.email.strip().lower()
        key = master_key(self.password, salt, told["kdfIterations"])
        answer = self.call(
            "POST",
            "/identity/connect/token",
            form={
                "grant_type": "password",
                "username": self.email,
                "password": password_hash(key, self.password),
                "scope": "api offline_access",
                "client_id": "cli",
                "deviceType": "25",
                "deviceIdentifier": self.device,
                "deviceName": "interop",
            }
            | more,
        )
        self.token = answer["access_token"]
        self.refresh_token = answer["refresh_token"]
        self.master_password_hash = password_hash(key, self.password)
        unlock = answer["UserDecryptionOptions"]["MasterPasswordUnlock"]
        assert unlock["Salt"] == salt
        self.user_key = Key(stretch(key).open(unlock["MasterKeyEncryptedUserKey"]))
        self.private_key = serialization.load_der_private_key(
            self.user_key.open(answer["PrivateKey"]), None
        )
        return answer

    def unwrap_organization_key(self, wrapped):
        kind, _, text = wrapped.partition(".")
        assert kind == "4"
        oaep = rsa_padding.OAEP(rsa_padding.MGF1(hashes.SHA1()), hashes.SHA1(), None)
        return Key(self.private_key.decrypt(base64.b64decode(text), oaep))

    def wrap_organization_key(self, key):
        oaep = rsa_padding.OAEP(rsa_padding.MGF1(hashes.SHA1()), hashes.SHA1(), None)
        return "4." + b64(self.private_key.public_key().encrypt(key.data, oaep))

    def login(self, name, username, password, uri=None, notes=None):
        """An item under a key of its own, as today's clients make it."""
        key = Key()
        uris = []
        if uri:
            checksum = b64(hashlib.sha256(uri.encode()).digest())
            uris = [{"uri": key.seal(uri), "uriChecksum": key.seal(checksum), "match": None}]
        return {
            "type": 1,
            "key": self.user_key.seal(key.data),
            "name": key.seal(name),
            "notes": key.seal(notes) if notes else None,
            "login": {
                "username": key.seal(username),
                "password": key.seal(password),
                "uris": uris,
            },
        }

    def key_of(self, cipher, owner_key=None):
        """What its own texts and the keys of its files are under."""
        key = owner_key or self.user_key
        return Key(key.open(cipher["key"])) if cipher.get("key") else key

    def attach(self, cipher, name, content):
        """Announces a file, then brings its bytes."""
        owner, key = self.key_of(cipher), Key()
        sealed = key.seal_file(content)
        upload = self.call(
            "POST",
            f"/api/ciphers/{cipher['id']}/attachment/v2",
            {
                "key": owner.seal(key.data),
                "fileName": owner.seal(name),
                "fileSize": len(sealed),
                "adminRequest": False,
            },
        )
        # One of the servers says only half of the address.
        url = f"{self.url}/api/ciphers/{cipher['id']}/attachment/{upload['attachmentId']}"
        boundary = uuid.uuid4().hex
        head = f'--{boundary}\r\nContent-Disposition: form-data; name="data"; filename="f"\r\n\r\n'
        body = head.encode() + sealed + f"\r\n--{boundary}--\r\n".encode()
        request = urllib.request.Request(url, body, method="POST")
        request.add_header("Authorization", f"Bearer {self.token}")
        request.add_header("Content-Type", f"multipart/form-data; boundary={boundary}")
        urllib.request.urlopen(request, timeout=10)
        return upload["attachmentId"]

    def files(self, cipher):
        """The names and contents of an item's files."""
        owner, files = self.key_of(cipher), {}
        for file in cipher["attachments"] or []:
            path = f"/api/ciphers/{cipher['id']}/attachment/{file['id']}"
            with urllib.request.urlopen(self.call("GET", path)["url"], timeout=10) as answer:
                key = Key(owner.open(file["key"]))
                files[owner.read(file["fileName"])] = key.open_file(answer.read())
        return files

    def read(self, cipher, owner_key=None):
        """What is in a login, with the key that it is under."""
        key = self.key_of(cipher, owner_key)
        login = cipher["login"]
        return {
            "name": key.read(cipher["name"]),
            "notes": key.read(cipher["notes"]),
            "username": key.read(login.get("username")),
            "password": key.read(login.get("password")),
            "uris": [key.read(uri["uri"]) for uri in login.get("uris") or []],
        }
