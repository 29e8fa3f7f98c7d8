#include "cargon2.h"

#include <argon2.h>

int ca_argon2id(uint32_t iterations, uint32_t kibibytes, uint32_t lanes, const void *password,
                size_t password_count, const void *salt, size_t salt_count, void *out, size_t count) {
    return argon2id_hash_raw(iterations, kibibytes, lanes, password, password_count, salt,
                             salt_count, out, count) == ARGON2_OK;
}
