#pragma once
// OpenSSL as far as this house needs it. No OpenSSL header is included here, so that no two C
// modules can disagree about its contents. Functions answer 1 for success and 0 for failure unless
// they say otherwise, and leave nothing behind in OpenSSL's error queue.
#include <stddef.h>
#include <stdint.h>

// Memory ------------------------------------------------------------------------------------------

/// What became of the arena for secrets.
enum { CC_ARENA_ABSENT = 0, CC_ARENA_LOCKED = 1, CC_ARENA_SWAPPABLE = 2 };
/// Maps the arena, a power of two in size and as large as `count` and the limit on locked memory
/// allow. Once for a process.
int cc_arena_open(size_t count);
size_t cc_arena_size(void);
size_t cc_arena_used(void);
/// Memory of the arena, or NULL when there is none left.
void *cc_arena_allocate(size_t count);
/// Overwrites the memory and gives it back to the arena.
void cc_arena_release(void *memory, size_t count);
/// Overwrites memory in a way that no optimiser removes.
void cc_wipe(void *memory, size_t count);
/// Whether both are the same, in a time that does not depend on where they differ.
int cc_equal(const void *left, const void *right, size_t count);

// Chance and encodings ----------------------------------------------------------------------------

int cc_random(void *out, size_t count);
/// Standard base64 with padding: four characters for each started three bytes. No terminator.
void cc_base64_encode(const void *bytes, size_t count, void *out);
/// Decodes canonical, padded base64 only. `out` must hold three bytes for each four characters.
/// The number of bytes, or -1.
long cc_base64_decode(const void *text, size_t count, void *out);

// Digests and key derivation ----------------------------------------------------------------------

enum cc_digest { CC_SHA1 = 0, CC_SHA256 = 1, CC_SHA512 = 2 };
/// For asking what others have counted by it, and for nothing else.
int cc_sha1(const void *bytes, size_t count, void *out);
int cc_sha256(const void *bytes, size_t count, void *out);
/// `out` holds 64 bytes; the number of bytes written, or 0.
size_t cc_hmac(enum cc_digest digest, const void *key, size_t key_count, const void *bytes,
               size_t count, void *out);
int cc_pbkdf2_sha256(const void *password, size_t password_count, const void *salt,
                     size_t salt_count, int iterations, void *out, size_t count);
/// HKDF-Expand alone.
int cc_hkdf_expand_sha256(const void *key, size_t key_count, const void *info, size_t info_count,
                          void *out, size_t count);
/// HKDF, Extract and Expand.
int cc_hkdf_sha256(const void *key, size_t key_count, const void *salt, size_t salt_count,
                   const void *info, size_t info_count, void *out, size_t count);

// AES-256-CBC with HMAC-SHA-256 -------------------------------------------------------------------

/// The contexts of one key, keyed once and used again and again. One caller at a time.
struct cc_box;
struct cc_box *cc_box_new(void);
void cc_box_free(struct cc_box *box);
/// `mac` may be NULL; then nothing may be asked for that needs it.
int cc_box_key(struct cc_box *box, const void *aes, const void *mac);

// EncStrings as a whole ---------------------------------------------------------------------------

// They are worked on in the caller's memory, the desk: IV, ciphertext and MAC lie on it one behind
// the other, and it must hold CC_BOX_DESK_MARGIN bytes more than the ciphertext has.

enum { CC_BOX_DESK_MARGIN = 16 + 32 + 32 + 16 };

/// Base64, and where it lies.
struct cc_box_piece {
    const void *start;
    size_t count;
};

enum cc_box_ending {
    CC_BOX_DONE = 0,
    CC_BOX_UNUSUAL,
    CC_BOX_NO_BASE64,
    CC_BOX_IV_LENGTH,
    CC_BOX_CIPHERTEXT_LENGTH,
    CC_BOX_MAC_LENGTH,
    CC_BOX_NOT_AUTHENTIC,
    CC_BOX_UNDECRYPTABLE,
    CC_BOX_GAVE_UP,
};

/// Opens a text of type 2 whose bars are where they have to be, as below. Says CC_BOX_UNUSUAL of any
/// other, and of all of them when there is no MAC key, and does nothing.
enum cc_box_ending cc_box_open_text(struct cc_box *box, const void *text, size_t text_count, void *desk,
                                    size_t *count);
/// Decodes the pieces onto the desk, holds the MAC against them in constant time, and only then
/// decrypts in place. The plaintext, of `count` bytes, then lies at desk + 16. Without a MAC key the
/// last piece is not looked at.
enum cc_box_ending cc_box_open(struct cc_box *box, struct cc_box_piece iv, struct cc_box_piece ciphertext,
                       struct cc_box_piece mac, void *desk, size_t *count);
/// The same for pieces that lie on the desk already, with so much ciphertext.
enum cc_box_ending cc_box_open_desk(struct cc_box *box, void *desk, size_t ciphertext_count, size_t *count);
/// Encrypts under the IV that lies on the desk and puts ciphertext and MAC behind it. `count` is that
/// of the ciphertext.
enum cc_box_ending cc_box_seal_desk(struct cc_box *box, const void *plaintext, size_t plaintext_count,
                            void *desk, size_t *count);
/// Writes the text of what lies on the desk: 72 characters and the base64 of the ciphertext, and a
/// zero byte behind it that is no part of it.
void cc_box_write_text(const void *desk, size_t ciphertext_count, void *out);

// RSA ---------------------------------------------------------------------------------------------

/// A key pair, or a public key. May be used by several threads at once.
struct cc_rsa;
struct cc_rsa *cc_rsa_generate(int bits);
/// A whole PKCS#8 document and nothing after it.
struct cc_rsa *cc_rsa_private(const void *der, size_t count);
/// A whole SubjectPublicKeyInfo document and nothing after it.
struct cc_rsa *cc_rsa_public(const void *der, size_t count);
void cc_rsa_free(struct cc_rsa *key);
/// The size of the modulus, in bytes.
size_t cc_rsa_size(const struct cc_rsa *key);
/// The number of bytes of the document, or 0; writes it when `out` is not NULL.
size_t cc_rsa_write_public(const struct cc_rsa *key, void *out);
size_t cc_rsa_write_private(const struct cc_rsa *key, void *out, size_t capacity);
/// OAEP with an empty label, hash and mask alike. `out` holds as many bytes as the modulus. The
/// number of bytes written, or -1.
long cc_rsa_encrypt(const struct cc_rsa *key, enum cc_digest digest, const void *bytes, size_t count, void *out);
long cc_rsa_decrypt(const struct cc_rsa *key, enum cc_digest digest, const void *bytes, size_t count, void *out);

// Words -------------------------------------------------------------------------------------------

/// The EFF's long word list; see words.c for its origin.
enum { CC_WORD_COUNT = 7776, CC_WORD_SIZE = 10 };
const char *cc_word(int number);
/// Takes the number that the 32 bytes are (most significant first) apart to the base of the word
/// list, least significant digit first.
int cc_word_numbers(const void *bytes, int *out, int count);
