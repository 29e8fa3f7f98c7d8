#define SIMDJSON_EXCEPTIONS 0
#include "csimdjson.h"

#include <memory>
#include <new>
#include <simdjson.h>

struct csj_marks {
  std::unique_ptr<simdjson::internal::dom_parser_implementation> stage;
  size_t capacity = 0;
};

// Most documents are short, and to make room for the marks of one costs more than to set them. Each
// thread keeps one such room, which holds positions and nothing of any text.
static const size_t usual_capacity = 16384;
static thread_local std::unique_ptr<csj_marks> spare;

static std::unique_ptr<csj_marks> room(size_t length) noexcept {
  if (length <= usual_capacity && spare != nullptr) return std::move(spare);
  std::unique_ptr<csj_marks> made(new (std::nothrow) csj_marks);
  if (made == nullptr) return made;
  made->capacity = length <= usual_capacity ? usual_capacity : length;
  // The depth is of interest to the second stage only, which is not used.
  const size_t depth = 1;
  auto error = simdjson::get_active_implementation()->create_dom_parser_implementation(
      made->capacity, depth, made->stage);
  if (error) made.reset();
  return made;
}

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
  auto made = room(length);
  *marks = made.release();
  if (*marks == nullptr) return CSJ_NO_MEMORY;
  return verdict((*marks)->stage->stage1(text, length, simdjson::stage1_mode::regular));
}

const uint32_t *csj_offsets(const csj_marks *marks) {
  return marks->stage->structural_indexes.get();
}

size_t csj_count(const csj_marks *marks) { return marks->stage->n_structural_indexes; }

void csj_free(csj_marks *marks) {
  if (marks != nullptr && marks->capacity == usual_capacity) {
    spare.reset(marks);
  } else {
    delete marks;
  }
}
