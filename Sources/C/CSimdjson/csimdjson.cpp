#define SIMDJSON_EXCEPTIONS 0
#include "csimdjson.h"

#include <memory>
#include <new>
#include <simdjson.h>

struct csj_marks {
  std::unique_ptr<simdjson::internal::dom_parser_implementation> stage;
};

static csj_verdict verdict(simdjson::error_code error) noexcept {
  switch (error) {
  case simdjson::SUCCESS: return CSJ_GOOD;
  case simdjson::UTF8_ERROR: return CSJ_NOT_UTF8;
  case simdjson::UNESCAPED_CHARS: return CSJ_CONTROL_CHARACTER;
  case simdjson::UNCLOSED_STRING: return CSJ_UNCLOSED_STRING;
  case simdjson::MEMALLOC: return CSJ_NO_MEMORY;
  default: return CSJ_OTHER;
  }
}

csj_verdict csj_mark(const uint8_t *text, size_t length, csj_marks **marks) {
  auto made = new (std::nothrow) csj_marks;
  *marks = made;
  if (made == nullptr) return CSJ_NO_MEMORY;
  // The depth is of interest to the second stage only, which is not used.
  const size_t depth = 1;
  auto error = simdjson::get_active_implementation()->create_dom_parser_implementation(
      length, depth, made->stage);
  if (error) return verdict(error);
  return verdict(made->stage->stage1(text, length, simdjson::stage1_mode::regular));
}

const uint32_t *csj_offsets(const csj_marks *marks) {
  return marks->stage->structural_indexes.get();
}

size_t csj_count(const csj_marks *marks) { return marks->stage->n_structural_indexes; }

void csj_free(csj_marks *marks) { delete marks; }
