#pragma once
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// What simdjson's first stage finds in a text: that it is UTF-8, that its strings are closed and
/// free of bare control characters, and where each token begins.
typedef struct csj_marks csj_marks;

typedef enum csj_verdict {
  CSJ_GOOD,
  CSJ_NOT_UTF8,
  CSJ_CONTROL_CHARACTER,
  CSJ_UNCLOSED_STRING,
  CSJ_NO_MEMORY,
  CSJ_OTHER,
} csj_verdict;

/// Marks the tokens of 1 to 2^31 - 1 bytes. Reads no byte beyond them, so they need no padding.
/// Whatever the verdict, `*marks` is to be freed; only with CSJ_GOOD may it be asked.
csj_verdict csj_mark(const uint8_t *text, size_t length, csj_marks **marks);

/// The offset of each token in ascending order; the one after the last holds the text's length.
const uint32_t *csj_offsets(const csj_marks *marks);
size_t csj_count(const csj_marks *marks);

void csj_free(csj_marks *marks);

#ifdef __cplusplus
}
#endif
