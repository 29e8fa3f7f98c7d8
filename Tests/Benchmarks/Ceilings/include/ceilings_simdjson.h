#pragma once
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// A text with the padding that simdjson wants, copied once and not counted.
typedef struct ceiling_text ceiling_text;
ceiling_text *ceiling_text_new(const uint8_t *bytes, size_t length);
void ceiling_text_free(ceiling_text *text);

/// Each reads the sync body as fast as simdjson can and returns the number of its ciphers.
/// On demand: raw text, id and revision date of each; what it steps over is not checked.
size_t ceiling_split(const ceiling_text *text);
/// The same with every byte checked: each cipher's raw text is parsed once more by itself.
size_t ceiling_split_checked(const ceiling_text *text);
/// On demand, into structs that own their strings; what is not in the structs is not checked.
size_t ceiling_structs(const ceiling_text *text);

/// Writes an object of `count` strings, named by their number, `times` times; returns the length.
size_t ceiling_write(const char *const *strings, const size_t *lengths, size_t count, size_t times);

#ifdef __cplusplus
}
#endif
