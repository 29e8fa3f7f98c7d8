#include "ceilings.h"

#include <stdlib.h>
#include <string.h>

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/rand.h>

// The EncString of type 2 in plain C: the same OpenSSL calls as ours, keyed once, and nothing
// around them but what the text needs.
struct ceiling_crypto {
    EVP_CIPHER *cipher;
    EVP_CIPHER_CTX *encryptor, *decryptor;
    EVP_MAC_CTX *mac;
    unsigned char buffer[1 << 14];
    // IVs are drawn 64 at a time, as ours are.
    unsigned char vectors[64 * 16];
    size_t used;
};

static void key(struct ceiling_crypto *box, const unsigned char *bytes) {
    EVP_EncryptInit_ex2(box->encryptor, box->cipher, bytes, NULL, NULL);
    EVP_DecryptInit_ex2(box->decryptor, box->cipher, bytes, NULL, NULL);
    EVP_MAC_init(box->mac, bytes + 32, 32, NULL);
}

struct ceiling_crypto *ceiling_crypto_new(const void *bytes) {
    struct ceiling_crypto *box = calloc(1, sizeof *box);
    box->cipher = EVP_CIPHER_fetch(NULL, "AES-256-CBC", NULL);
    box->encryptor = EVP_CIPHER_CTX_new();
    box->decryptor = EVP_CIPHER_CTX_new();
    EVP_MAC *hmac = EVP_MAC_fetch(NULL, "HMAC", NULL);
    box->mac = EVP_MAC_CTX_new(hmac);
    EVP_MAC_free(hmac);
    const OSSL_PARAM parameters[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, "SHA256", 0),
        OSSL_PARAM_construct_end(),
    };
    EVP_MAC_CTX_set_params(box->mac, parameters);
    key(box, bytes);
    box->used = sizeof box->vectors;
    return box;
}

void ceiling_crypto_free(struct ceiling_crypto *box) {
    EVP_CIPHER_CTX_free(box->encryptor);
    EVP_CIPHER_CTX_free(box->decryptor);
    EVP_MAC_CTX_free(box->mac);
    EVP_CIPHER_free(box->cipher);
    free(box);
}

static void mac(struct ceiling_crypto *box, size_t count, unsigned char *out) {
    size_t written;
    EVP_MAC_init(box->mac, NULL, 0, NULL);
    EVP_MAC_update(box->mac, box->buffer, count);
    EVP_MAC_final(box->mac, out, &written, 32);
}

// The length of the plaintext, which then lies at buffer + 16; or -1.
static int open_one(struct ceiling_crypto *box, const char *text, size_t count) {
    const char *iv = text + 2;
    const char *sealed = (const char *)memchr(iv, '|', count - 2) + 1;
    const char *tag = (const char *)memchr(sealed, '|', (size_t)(text + count - sealed)) + 1;
    unsigned char claimed[48], actual[32];
    EVP_DecodeBlock(box->buffer, (const unsigned char *)iv, (int)(sealed - 1 - iv));
    int whole = EVP_DecodeBlock(box->buffer + 16, (const unsigned char *)sealed, (int)(tag - 1 - sealed));
    EVP_DecodeBlock(claimed, (const unsigned char *)tag, (int)(text + count - tag));
    if (tag[-2] == '=') whole -= tag[-3] == '=' ? 2 : 1;

    mac(box, 16 + (size_t)whole, actual);
    if (CRYPTO_memcmp(claimed, actual, 32) != 0) return -1;
    int first, last;
    EVP_DecryptInit_ex2(box->decryptor, NULL, NULL, box->buffer, NULL);
    EVP_DecryptUpdate(box->decryptor, box->buffer + 16, &first, box->buffer + 16, whole);
    if (EVP_DecryptFinal_ex(box->decryptor, box->buffer + 16 + first, &last) != 1) return -1;
    return first + last;
}

static size_t seal_one(struct ceiling_crypto *box, const void *plain, size_t count, char *out) {
    int first, last;
    unsigned char tag[32];
    if (box->used == sizeof box->vectors) {
        RAND_bytes(box->vectors, sizeof box->vectors);
        box->used = 0;
    }
    memcpy(box->buffer, box->vectors + box->used, 16);
    box->used += 16;
    EVP_EncryptInit_ex2(box->encryptor, NULL, NULL, box->buffer, NULL);
    EVP_EncryptUpdate(box->encryptor, box->buffer + 16, &first, plain, (int)count);
    EVP_EncryptFinal_ex(box->encryptor, box->buffer + 16 + first, &last);
    size_t sealed = (size_t)(first + last);
    mac(box, 16 + sealed, tag);
    memcpy(out, "2.", 2);
    EVP_EncodeBlock((unsigned char *)out + 2, box->buffer, 16);
    out[26] = '|';
    int written = EVP_EncodeBlock((unsigned char *)out + 27, box->buffer + 16, (int)sealed);
    out[27 + written] = '|';
    return 28 + (size_t)written + (size_t)EVP_EncodeBlock((unsigned char *)out + 28 + written, tag, 32);
}

// Keeps the optimiser from seeing that nobody reads the text.
__attribute__((noinline)) static int handed_out(char *text, int count) {
    __asm__ volatile("" : : "r"(text) : "memory");
    return count;
}

long ceiling_crypto_open(struct ceiling_crypto *box, const char *text, size_t count, int rounds) {
    long total = 0;
    for (int round = 0; round < rounds; round++) {
        int plain = open_one(box, text, count);
        if (plain < 0) return -1;
        // What was opened is handed out in memory of its own, as any caller needs it.
        char *text = malloc((size_t)plain + 1);
        memcpy(text, box->buffer + 16, (size_t)plain);
        OPENSSL_cleanse(box->buffer + 16, (size_t)plain);
        total += handed_out(text, plain);
        free(text);
    }
    return total;
}

long ceiling_crypto_seal(struct ceiling_crypto *box, const void *plain, size_t count, int rounds) {
    long total = 0;
    for (int round = 0; round < rounds; round++) {
        char *text = malloc(count * 2 + 256);
        total += handed_out(text, (int)seal_one(box, plain, count, text));
        free(text);
    }
    return total;
}

// An item with a key of its own: unwrap it, key the contexts of `item` with it, open its fields.
long ceiling_crypto_item(struct ceiling_crypto *box, struct ceiling_crypto *item, const char *wrapped,
                         size_t wrapped_count, const char *field, size_t count, int fields, int rounds) {
    long total = 0;
    for (int round = 0; round < rounds; round++) {
        if (open_one(box, wrapped, wrapped_count) != 64) return -1;
        key(item, box->buffer + 16);
        OPENSSL_cleanse(box->buffer + 16, 64);
        total += ceiling_crypto_open(item, field, count, fields);
    }
    return total;
}
