#pragma once
// Argon2id, version 1.3, from libargon2. No library header is included here.
#include <stddef.h>
#include <stdint.h>

/// Derives `count` bytes into `out`; 1, or 0 when the parameters or the memory do not suffice.
int ca_argon2id(uint32_t iterations, uint32_t kibibytes, uint32_t lanes, const void *password,
                size_t password_count, const void *salt, size_t salt_count, void *out, size_t count);
