#define _GNU_SOURCE
#include "ccrypto.h"

#include <limits.h>
#include <pthread.h>
#include <string.h>

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/params.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>
#include <openssl/sha.h>
#include <openssl/x509.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

static int checked(int answer) {
    if (answer == 1) return 1;
    ERR_clear_error();
    return 0;
}

// Memory ------------------------------------------------------------------------------------------

// Not OpenSSL's own arena for secrets: OpenSSL keeps MAC keys, private numbers and the seeds of its
// generator there, has no other place for them, and fails when others have filled it.
//
// Slots are powers of two, and each size has a list of those that were given back. A slot that was
// given back keeps its size for ever.
enum { smallest_slot = 32, slot_sizes = 10 };

static struct {
    pthread_mutex_t lock;
    unsigned char *start;
    size_t size, fresh, used;
    void *free[slot_sizes];
} arena = {.lock = PTHREAD_MUTEX_INITIALIZER};

static size_t lockable(size_t count) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_MEMLOCK, &limit) != 0) return count;
    while (count > limit.rlim_cur && count > 16384) count /= 2;
    return count;
}

int cc_arena_open(size_t count) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t size = lockable(count);
    unsigned char *whole = mmap(NULL, size + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (whole == MAP_FAILED) return CC_ARENA_ABSENT;
    unsigned char *start = whole + page;
    if (mprotect(start, size, PROT_READ | PROT_WRITE) != 0) {
        munmap(whole, size + 2 * page);
        return CC_ARENA_ABSENT;
    }
    madvise(start, size, MADV_DONTDUMP);
    // Locked where it is touched, so that an arena that is hardly used costs hardly anything.
    const int is_locked = mlock2(start, size, MLOCK_ONFAULT) == 0;
    arena.start = start;
    arena.size = size;
    return is_locked ? CC_ARENA_LOCKED : CC_ARENA_SWAPPABLE;
}

size_t cc_arena_size(void) { return arena.size; }

size_t cc_arena_used(void) {
    pthread_mutex_lock(&arena.lock);
    size_t used = arena.used;
    pthread_mutex_unlock(&arena.lock);
    return used;
}

// The list that a slot for so many bytes is in; there may be none.
static int list_for(size_t count) {
    int list = 0;
    while (list < slot_sizes && ((size_t)smallest_slot << list) < count) list++;
    return list;
}

void *cc_arena_allocate(size_t count) {
    const int list = list_for(count);
    if (list == slot_sizes) return NULL;
    const size_t size = (size_t)smallest_slot << list;
    pthread_mutex_lock(&arena.lock);
    void *slot = arena.free[list];
    if (slot != NULL) {
        memcpy(&arena.free[list], slot, sizeof slot);
    } else if (arena.size - arena.fresh >= size) {
        slot = arena.start + arena.fresh;
        arena.fresh += size;
    }
    if (slot != NULL) arena.used += size;
    pthread_mutex_unlock(&arena.lock);
    return slot;
}

void cc_arena_release(void *memory, size_t count) {
    const int list = list_for(count);
    OPENSSL_cleanse(memory, count);
    pthread_mutex_lock(&arena.lock);
    memcpy(memory, &arena.free[list], sizeof memory);
    arena.free[list] = memory;
    arena.used -= (size_t)smallest_slot << list;
    pthread_mutex_unlock(&arena.lock);
}

void cc_wipe(void *memory, size_t count) { OPENSSL_cleanse(memory, count); }

int cc_equal(const void *left, const void *right, size_t count) {
    return CRYPTO_memcmp(left, right, count) == 0;
}

// Chance and encodings ----------------------------------------------------------------------------

int cc_random(void *out, size_t count) {
    for (size_t done = 0; done < count; done += INT_MAX) {
        size_t rest = count - done;
        if (!checked(RAND_bytes((unsigned char *)out + done, rest > INT_MAX ? INT_MAX : (int)rest)))
            return 0;
    }
    return 1;
}

// EVP_EncodeBlock ends what it writes with a zero byte, for which the caller has no room; so the
// last group goes through a buffer of its own.
void cc_base64_encode(const void *bytes, size_t count, void *out) {
    if (count == 0) return;
    size_t head = (count - 1) / 3 * 3;
    unsigned char last[5];
    EVP_EncodeBlock(last, (const unsigned char *)bytes + head, (int)(count - head));
    if (head > 0) EVP_EncodeBlock(out, bytes, (int)head);
    memcpy((unsigned char *)out + head / 3 * 4, last, 4);
}

// EVP_DecodeBlock takes white space at both ends, equals signs anywhere and loose bits at the end,
// and counts the padding as data. What it decodes is told apart here.
long cc_base64_decode(const void *text, size_t count, void *out) {
    if (count == 0) return 0;
    if (count % 4 != 0 || count > INT_MAX) return -1;
    const char *padding = memchr(text, '=', count);
    size_t padded = padding == NULL ? 0 : count - (size_t)(padding - (const char *)text);
    if (padded > 2 || (padded == 2 && padding[1] != '=')) return -1;
    long decoded = EVP_DecodeBlock(out, text, (int)count);
    if (decoded != (long)(count / 4 * 3)) return -1;
    for (size_t loose = 1; loose <= padded; loose++)
        if (((const unsigned char *)out)[decoded - (long)loose] != 0) return -1;
    return decoded - (long)padded;
}

// Digests and key derivation ----------------------------------------------------------------------

static const char *name_of(enum cc_digest digest) {
    switch (digest) {
    case CC_SHA1: return "SHA1";
    case CC_SHA256: return "SHA256";
    case CC_SHA512: return "SHA512";
    }
    return NULL;
}

static const EVP_MD *digest_of(enum cc_digest digest) {
    return digest == CC_SHA1 ? EVP_sha1() : digest == CC_SHA256 ? EVP_sha256() : EVP_sha512();
}

int cc_sha1(const void *bytes, size_t count, void *out) {
    return SHA1(bytes, count, out) != NULL;
}

// SHA256() fetches the method anew at every call, which costs more than a short text does.
static struct {
    CRYPTO_ONCE once;
    EVP_MD *method;
} sha256 = {.once = CRYPTO_ONCE_STATIC_INIT};

static void fetch_sha256(void) { sha256.method = EVP_MD_fetch(NULL, "SHA256", NULL); }

int cc_sha256(const void *bytes, size_t count, void *out) {
    if (!CRYPTO_THREAD_run_once(&sha256.once, fetch_sha256) || sha256.method == NULL) return 0;
    return checked(EVP_Digest(bytes, count, out, NULL, sha256.method, NULL));
}

size_t cc_hmac(enum cc_digest digest, const void *key, size_t key_count, const void *bytes,
               size_t count, void *out) {
    size_t written = 0;
    if (EVP_Q_mac(NULL, "HMAC", NULL, name_of(digest), NULL, key, key_count, bytes, count, out, 64,
                  &written) == NULL)
        ERR_clear_error();
    return written;
}

int cc_pbkdf2_sha256(const void *password, size_t password_count, const void *salt,
                     size_t salt_count, int iterations, void *out, size_t count) {
    if (password_count > INT_MAX || salt_count > INT_MAX || count > INT_MAX) return 0;
    return checked(PKCS5_PBKDF2_HMAC(password, (int)password_count, salt, (int)salt_count,
                                     iterations, EVP_sha256(), (int)count, out));
}

static int hkdf(int mode, const void *key, size_t key_count, const void *salt, size_t salt_count,
                const void *info, size_t info_count, void *out, size_t count) {
    OSSL_PARAM parameters[6], *next = parameters;
    *next++ = OSSL_PARAM_construct_int(OSSL_KDF_PARAM_MODE, &mode);
    *next++ = OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, "SHA256", 0);
    *next++ = OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_KEY, (void *)key, key_count);
    if (salt_count > 0)
        *next++ = OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_SALT, (void *)salt, salt_count);
    if (info_count > 0)
        *next++ = OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_INFO, (void *)info, info_count);
    *next = OSSL_PARAM_construct_end();

    EVP_KDF *kdf = EVP_KDF_fetch(NULL, "HKDF", NULL);
    EVP_KDF_CTX *context = EVP_KDF_CTX_new(kdf);
    EVP_KDF_free(kdf);
    int answer = context == NULL ? 0 : checked(EVP_KDF_derive(context, out, count, parameters));
    EVP_KDF_CTX_free(context);
    return answer;
}

int cc_hkdf_expand_sha256(const void *key, size_t key_count, const void *info, size_t info_count,
                          void *out, size_t count) {
    return hkdf(EVP_KDF_HKDF_MODE_EXPAND_ONLY, key, key_count, NULL, 0, info, info_count, out, count);
}

int cc_hkdf_sha256(const void *key, size_t key_count, const void *salt, size_t salt_count,
                   const void *info, size_t info_count, void *out, size_t count) {
    return hkdf(EVP_KDF_HKDF_MODE_EXTRACT_AND_EXPAND, key, key_count, salt, salt_count, info,
                info_count, out, count);
}

// AES-256-CBC with HMAC-SHA-256 -------------------------------------------------------------------

struct cc_box {
    EVP_CIPHER_CTX *encryptor;
    EVP_CIPHER_CTX *decryptor;
    EVP_MAC_CTX *mac;
    int has_mac;
};

// EVP_aes_256_cbc() is fetched anew at every keying; a fetched cipher is not. Both live as long as
// the process.
static struct {
    CRYPTO_ONCE once;
    EVP_CIPHER *cipher;
    EVP_MAC *mac;
} fetched = {.once = CRYPTO_ONCE_STATIC_INIT};

static void fetch(void) {
    fetched.cipher = EVP_CIPHER_fetch(NULL, "AES-256-CBC", NULL);
    fetched.mac = EVP_MAC_fetch(NULL, "HMAC", NULL);
}

static EVP_MAC_CTX *new_mac(void) {
    EVP_MAC_CTX *context = EVP_MAC_CTX_new(fetched.mac);
    const OSSL_PARAM parameters[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, "SHA256", 0),
        OSSL_PARAM_construct_end(),
    };
    if (context != NULL && EVP_MAC_CTX_set_params(context, parameters) == 1) return context;
    EVP_MAC_CTX_free(context);
    return NULL;
}

struct cc_box *cc_box_new(void) {
    if (!CRYPTO_THREAD_run_once(&fetched.once, fetch) || !fetched.cipher || !fetched.mac) return NULL;
    struct cc_box *box = OPENSSL_zalloc(sizeof *box);
    if (box == NULL) return NULL;
    box->encryptor = EVP_CIPHER_CTX_new();
    box->decryptor = EVP_CIPHER_CTX_new();
    box->mac = new_mac();
    if (box->encryptor && box->decryptor && box->mac) return box;
    cc_box_free(box);
    ERR_clear_error();
    return NULL;
}

void cc_box_free(struct cc_box *box) {
    if (box == NULL) return;
    EVP_CIPHER_CTX_free(box->encryptor);
    EVP_CIPHER_CTX_free(box->decryptor);
    EVP_MAC_CTX_free(box->mac);
    OPENSSL_free(box);
}

int cc_box_key(struct cc_box *box, const void *aes, const void *mac) {
    box->has_mac = mac != NULL;
    return checked(EVP_EncryptInit_ex2(box->encryptor, fetched.cipher, aes, NULL, NULL)) &&
           checked(EVP_DecryptInit_ex2(box->decryptor, fetched.cipher, aes, NULL, NULL)) &&
           (mac == NULL || checked(EVP_MAC_init(box->mac, mac, 32, NULL)));
}

static int mac_begin(struct cc_box *box) { return checked(EVP_MAC_init(box->mac, NULL, 0, NULL)); }

static int mac_update(struct cc_box *box, const void *bytes, size_t count) {
    return checked(EVP_MAC_update(box->mac, bytes, count));
}

static int mac_end(struct cc_box *box, void *out) {
    size_t written;
    return checked(EVP_MAC_final(box->mac, out, &written, 32));
}

// Of these, `out` must hold `count` bytes and 16 more, and each adds to `written`.

static int encrypt_begin(struct cc_box *box, const void *iv) {
    return checked(EVP_EncryptInit_ex2(box->encryptor, NULL, NULL, iv, NULL));
}

static int encrypt_update(struct cc_box *box, const void *bytes, size_t count, void *out, size_t *written) {
    int now = 0;
    if (count > INT_MAX - 16 || !checked(EVP_EncryptUpdate(box->encryptor, out, &now, bytes, (int)count)))
        return 0;
    *written += (size_t)now;
    return 1;
}

static int encrypt_end(struct cc_box *box, void *out, size_t *written) {
    int now = 0;
    if (!checked(EVP_EncryptFinal_ex(box->encryptor, out, &now))) return 0;
    *written += (size_t)now;
    return 1;
}

static int decrypt_begin(struct cc_box *box, const void *iv) {
    return checked(EVP_DecryptInit_ex2(box->decryptor, NULL, NULL, iv, NULL));
}

static int decrypt_update(struct cc_box *box, const void *bytes, size_t count, void *out, size_t *written) {
    int now = 0;
    if (count > INT_MAX - 16 || !checked(EVP_DecryptUpdate(box->decryptor, out, &now, bytes, (int)count)))
        return 0;
    *written += (size_t)now;
    return 1;
}

// Fails when the padding is not PKCS#7.
static int decrypt_end(struct cc_box *box, void *out, size_t *written) {
    int now = 0;
    if (!checked(EVP_DecryptFinal_ex(box->decryptor, out, &now))) return 0;
    *written += (size_t)now;
    return 1;
}

// EncStrings as a whole ---------------------------------------------------------------------------

static int desk_mac(struct cc_box *box, const unsigned char *desk, size_t ciphertext_count, unsigned char *out) {
    return mac_begin(box) && mac_update(box, desk, 16 + ciphertext_count) && mac_end(box, out);
}

enum cc_box_ending cc_box_open_desk(struct cc_box *box, void *memory, size_t ciphertext_count, size_t *count) {
    unsigned char *desk = memory, *text = desk + 16, *claimed = text + ciphertext_count;
    *count = 0;
    if (box->has_mac) {
        unsigned char actual[32];
        if (!desk_mac(box, desk, ciphertext_count, actual)) return CC_BOX_GAVE_UP;
        if (CRYPTO_memcmp(claimed, actual, 32) != 0) return CC_BOX_NOT_AUTHENTIC;
    }
    if (decrypt_begin(box, desk) && decrypt_update(box, text, ciphertext_count, text, count) &&
        decrypt_end(box, text + *count, count))
        return CC_BOX_DONE;
    OPENSSL_cleanse(text, ciphertext_count);
    return CC_BOX_UNDECRYPTABLE;
}

// Base64 may write up to two bytes too many behind each piece; the next piece writes over them.
enum cc_box_ending cc_box_open(struct cc_box *box, struct cc_box_piece iv, struct cc_box_piece ciphertext,
                       struct cc_box_piece mac, void *memory, size_t *count) {
    unsigned char *desk = memory;
    long decoded = iv.count == 24 ? cc_base64_decode(iv.start, iv.count, desk) : 0;
    if (decoded != 16) return decoded < 0 ? CC_BOX_NO_BASE64 : CC_BOX_IV_LENGTH;
    decoded = cc_base64_decode(ciphertext.start, ciphertext.count, desk + 16);
    if (decoded < 0) return CC_BOX_NO_BASE64;
    if (decoded == 0 || decoded % 16 != 0) return CC_BOX_CIPHERTEXT_LENGTH;
    size_t ciphertext_count = (size_t)decoded;
    if (box->has_mac) {
        decoded = mac.count == 44 ? cc_base64_decode(mac.start, mac.count, desk + 16 + ciphertext_count) : 0;
        if (decoded != 32) return decoded < 0 ? CC_BOX_NO_BASE64 : CC_BOX_MAC_LENGTH;
    }
    return cc_box_open_desk(box, desk, ciphertext_count, count);
}

// One bar inside the IV or the MAC is no base64, so only the ciphertext is searched for others.
enum cc_box_ending cc_box_open_text(struct cc_box *box, const void *memory, size_t text_count, void *desk,
                                    size_t *count) {
    const char *text = memory;
    if (!box->has_mac || text_count < 72 || text[0] != '2' || text[1] != '.' || text[26] != '|')
        return CC_BOX_UNUSUAL;
    const char *ciphertext = text + 27, *bar = text + text_count - 45;
    if (memchr(ciphertext, '|', (size_t)(bar + 1 - ciphertext)) != bar) return CC_BOX_UNUSUAL;
    return cc_box_open(box, (struct cc_box_piece){text + 2, 24},
                       (struct cc_box_piece){ciphertext, (size_t)(bar - ciphertext)},
                       (struct cc_box_piece){bar + 1, 44}, desk, count);
}

enum cc_box_ending cc_box_seal_desk(struct cc_box *box, const void *plaintext, size_t plaintext_count, void *memory,
                            size_t *count) {
    unsigned char *desk = memory, *text = desk + 16;
    *count = 0;
    if (!box->has_mac) return CC_BOX_GAVE_UP;
    if (encrypt_begin(box, desk) && encrypt_update(box, plaintext, plaintext_count, text, count) &&
        encrypt_end(box, text + *count, count) && desk_mac(box, desk, *count, text + *count))
        return CC_BOX_DONE;
    return CC_BOX_GAVE_UP;
}

// EVP_EncodeBlock ends what it writes with a zero byte; the bars are written over the first two.
void cc_box_write_text(const void *memory, size_t ciphertext_count, void *text) {
    const unsigned char *desk = memory;
    unsigned char *out = text;
    memcpy(out, "2.", 2);
    EVP_EncodeBlock(out + 2, desk, 16);
    out[26] = '|';
    int written = EVP_EncodeBlock(out + 27, desk + 16, (int)ciphertext_count);
    out[27 + written] = '|';
    EVP_EncodeBlock(out + 28 + written, desk + 16 + ciphertext_count, 32);
}

// RSA ---------------------------------------------------------------------------------------------

// struct cc_rsa is OpenSSL's EVP_PKEY under a name that needs no header.
static EVP_PKEY *pkey(const struct cc_rsa *key) { return (EVP_PKEY *)key; }

static struct cc_rsa *accepted(EVP_PKEY *key, int is_whole) {
    ERR_clear_error();
    if (key != NULL && is_whole && EVP_PKEY_is_a(key, "RSA")) return (struct cc_rsa *)key;
    EVP_PKEY_free(key);
    return NULL;
}

struct cc_rsa *cc_rsa_generate(int bits) {
    return accepted(EVP_PKEY_Q_keygen(NULL, NULL, "RSA", (size_t)bits), 1);
}

struct cc_rsa *cc_rsa_private(const void *der, size_t count) {
    const unsigned char *next = der;
    if (count > LONG_MAX) return NULL;
    PKCS8_PRIV_KEY_INFO *document = d2i_PKCS8_PRIV_KEY_INFO(NULL, &next, (long)count);
    EVP_PKEY *key = document == NULL ? NULL : EVP_PKCS82PKEY(document);
    PKCS8_PRIV_KEY_INFO_free(document);
    return accepted(key, next == (const unsigned char *)der + count);
}

struct cc_rsa *cc_rsa_public(const void *der, size_t count) {
    const unsigned char *next = der;
    if (count > LONG_MAX) return NULL;
    EVP_PKEY *key = d2i_PUBKEY(NULL, &next, (long)count);
    return accepted(key, next == (const unsigned char *)der + count);
}

void cc_rsa_free(struct cc_rsa *key) { EVP_PKEY_free(pkey(key)); }

size_t cc_rsa_size(const struct cc_rsa *key) { return (size_t)EVP_PKEY_get_size(pkey(key)); }

size_t cc_rsa_write_public(const struct cc_rsa *key, void *out) {
    unsigned char *next = out;
    int count = i2d_PUBKEY(pkey(key), out == NULL ? NULL : &next);
    ERR_clear_error();
    return count > 0 ? (size_t)count : 0;
}

size_t cc_rsa_write_private(const struct cc_rsa *key, void *out, size_t capacity) {
    PKCS8_PRIV_KEY_INFO *document = EVP_PKEY2PKCS8(pkey(key));
    unsigned char *next = out;
    int count = document == NULL ? 0 : i2d_PKCS8_PRIV_KEY_INFO(document, NULL);
    if (count > 0 && out != NULL)
        count = (size_t)count <= capacity ? i2d_PKCS8_PRIV_KEY_INFO(document, &next) : 0;
    PKCS8_PRIV_KEY_INFO_free(document);
    ERR_clear_error();
    return count > 0 ? (size_t)count : 0;
}

typedef int (*rsa_begin)(EVP_PKEY_CTX *);
typedef int (*rsa_act)(EVP_PKEY_CTX *, unsigned char *, size_t *, const unsigned char *, size_t);

static long oaep(const struct cc_rsa *key, rsa_begin begin, rsa_act act, enum cc_digest digest,
                 const void *bytes, size_t count, void *out) {
    size_t written = cc_rsa_size(key);
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_pkey(NULL, pkey(key), NULL);
    int is_done = context != NULL && begin(context) == 1 &&
                  EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_OAEP_PADDING) == 1 &&
                  EVP_PKEY_CTX_set_rsa_oaep_md(context, digest_of(digest)) == 1 &&
                  EVP_PKEY_CTX_set_rsa_mgf1_md(context, digest_of(digest)) == 1 &&
                  act(context, out, &written, bytes, count) == 1;
    EVP_PKEY_CTX_free(context);
    ERR_clear_error();
    return is_done ? (long)written : -1;
}

long cc_rsa_encrypt(const struct cc_rsa *key, enum cc_digest digest, const void *bytes, size_t count, void *out) {
    return oaep(key, EVP_PKEY_encrypt_init, EVP_PKEY_encrypt, digest, bytes, count, out);
}

long cc_rsa_decrypt(const struct cc_rsa *key, enum cc_digest digest, const void *bytes, size_t count, void *out) {
    return oaep(key, EVP_PKEY_decrypt_init, EVP_PKEY_decrypt, digest, bytes, count, out);
}

// Words -------------------------------------------------------------------------------------------

int cc_word_numbers(const void *bytes, int *out, int count) {
    BIGNUM *number = BN_bin2bn(bytes, 32, NULL);
    if (number == NULL) return checked(0);
    for (int i = 0; i < count; i++) out[i] = (int)BN_div_word(number, CC_WORD_COUNT);
    BN_free(number);
    return 1;
}
