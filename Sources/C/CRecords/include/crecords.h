#pragma once
// The records of `proto/records.proto` as protoc-c makes them, and the digest that guards them.
#include "records.pb-c.h"

#include <stddef.h>
#include <stdint.h>

void crecords_sha256(const void *bytes, size_t count, uint8_t digest[32]);
