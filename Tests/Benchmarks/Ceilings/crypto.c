#include "ceilings.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/asn1.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/rand.h>

// The EncString of type 2 in plain C: the same OpenSSL calls as ours, keyed once, and nothing
// around them but what nobody can leave out who opens texts of strangers.
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

// The length of what the base64 says, or -1 where it is none: OpenSSL counts the padding as data and
// takes it anywhere.
static int decode(unsigned char *out, const char *text, const char *end) {
    size_t count = (size_t)(end - text);
    const char *padding = memchr(text, '=', count);
    int padded = padding == NULL ? 0 : (int)(end - padding);
    int whole = EVP_DecodeBlock(out, (const unsigned char *)text, (int)count);
    return padded > 2 || whole != (int)(count / 4 * 3) ? -1 : whole - padded;
}

// Text has to be UTF-8: ASCII at a glance, all else by OpenSSL's reading.
static int is_text(const unsigned char *text, int count) {
    int at = 0;
    for (uint64_t eight; at + 8 <= count; at += 8) {
        memcpy(&eight, text + at, 8);
        if (eight & 0x8080808080808080) break;
    }
    unsigned long character;
    while (at < count) {
        int length = UTF8_getc(text + at, count - at, &character);
        if (length < 0) return 0;
        at += length;
    }
    return 1;
}

// The length of the plaintext, which then lies at buffer + 16; or -1.
static int open_one(struct ceiling_crypto *box, const char *text, size_t count) {
    const char *iv = text + 2, *end = text + count;
    if (memcmp(text, "2.", 2) != 0) return -1;
    const char *first_bar = memchr(iv, '|', count - 2);
    if (first_bar == NULL) return -1;
    const char *second_bar = memchr(first_bar + 1, '|', (size_t)(end - first_bar - 1));
    if (second_bar == NULL) return -1;
    unsigned char claimed[48], actual[32];
    if (decode(box->buffer, iv, first_bar) != 16) return -1;
    int whole = decode(box->buffer + 16, first_bar + 1, second_bar);
    if (whole <= 0 || whole % 16 != 0 || decode(claimed, second_bar + 1, end) != 32) return -1;

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
        if (plain < 0 || !is_text(box->buffer + 16, plain)) return -1;
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
