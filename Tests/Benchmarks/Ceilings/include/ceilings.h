#pragma once
// The same work in plain C, as far as it will go: what a figure of ours is held against.
#include <stdint.h>

/// That many additions to one atomic number.
void ceiling_increments(uint64_t rounds);
#include "ceilings_simdjson.h"
