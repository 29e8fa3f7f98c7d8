#include "crecords.h"

#include <openssl/sha.h>

void crecords_sha256(const void *bytes, size_t count, uint8_t digest[32]) {
    SHA256(bytes, count, digest);
}
