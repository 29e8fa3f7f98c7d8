#define SIMDJSON_EXCEPTIONS 0
#include "ceilings_simdjson.h"

#include <optional>
#include <simdjson.h>
#include <string>
#include <vector>

using namespace simdjson;
using std::string_view;

struct ceiling_text {
  padded_string text;
};

ceiling_text *ceiling_text_new(const uint8_t *bytes, size_t length) {
  return new ceiling_text{padded_string(reinterpret_cast<const char *>(bytes), length)};
}

void ceiling_text_free(ceiling_text *text) { delete text; }

struct Piece {
  string_view raw, id, revision;
};

static std::vector<Piece> split(const ceiling_text *text) {
  std::vector<Piece> pieces;
  ondemand::parser parser;
  ondemand::document document;
  ondemand::array ciphers;
  if (parser.iterate(text->text).get(document)) return pieces;
  if (document["ciphers"].get(ciphers)) return pieces;
  for (auto element : ciphers) {
    ondemand::object object;
    Piece piece;
    if (element.get_object().get(object)) return {};
    if (object["id"].get_string().get(piece.id)) return {};
    if (object["revisionDate"].get_string().get(piece.revision)) return {};
    if (object.reset().error() || object.raw_json().get(piece.raw)) return {};
    pieces.push_back(piece);
  }
  return pieces;
}

size_t ceiling_split(const ceiling_text *text) { return split(text).size(); }

size_t ceiling_split_checked(const ceiling_text *text) {
  dom::parser parser;
  auto pieces = split(text);
  for (auto &piece : pieces) {
    // The next cipher, or the text's own padding, stands behind it.
    if (parser.parse(piece.raw.data(), piece.raw.size(), false).error()) return 0;
  }
  return pieces.size();
}

namespace {
using Text = std::optional<std::string>;

struct URI {
  Text uri;
  std::optional<int64_t> match;
};
struct Field {
  int64_t type = 0;
  Text name, value;
};
struct Former {
  Text password, lastUsedDate;
};
struct Login {
  Text username, password, totp;
  std::vector<URI> uris;
};
struct Cipher {
  Text id, organizationId, folderId, revisionDate, creationDate, deletedDate, key, name, notes;
  int64_t type = 0, reprompt = 0;
  bool favorite = false;
  std::optional<Login> login;
  std::vector<Field> fields;
  std::vector<Former> passwordHistory;
};
} // namespace

static void read(ondemand::value value, URI &uri);
static void read(ondemand::value value, Field &field);
static void read(ondemand::value value, Former &former);
static void read(ondemand::value value, Cipher &cipher);

static void read(ondemand::value value, bool &flag) {
  if (value.get_bool().get(flag)) flag = false;
}

static void read(ondemand::value value, Text &text) {
  string_view view;
  if (!value.get_string().get(view)) text.emplace(view);
}

static void read(ondemand::value value, int64_t &number) {
  if (value.get_int64().get(number)) number = 0;
}

template <typename Body> static void each_member(ondemand::value value, Body body) {
  ondemand::object object;
  if (value.get_object().get(object)) return;
  for (auto field : object) {
    string_view name;
    ondemand::value inner;
    if (field.unescaped_key().get(name) || field.value().get(inner)) return;
    body(name, inner);
  }
}

template <typename Element>
static void read_all(ondemand::value value, std::vector<Element> &elements) {
  ondemand::array array;
  if (value.get_array().get(array)) return;
  for (auto element : array) {
    ondemand::value inner;
    if (element.get(inner)) return;
    elements.emplace_back();
    read(inner, elements.back());
  }
}

static void read(ondemand::value value, URI &uri) {
  each_member(value, [&](string_view name, ondemand::value inner) {
    if (name == "uri") read(inner, uri.uri);
    else if (name == "match") {
      int64_t match;
      if (!inner.get_int64().get(match)) uri.match = match;
    }
  });
}

static void read(ondemand::value value, Field &field) {
  each_member(value, [&](string_view name, ondemand::value inner) {
    if (name == "type") read(inner, field.type);
    else if (name == "name") read(inner, field.name);
    else if (name == "value") read(inner, field.value);
  });
}

static void read(ondemand::value value, Former &former) {
  each_member(value, [&](string_view name, ondemand::value inner) {
    if (name == "password") read(inner, former.password);
    else if (name == "lastUsedDate") read(inner, former.lastUsedDate);
  });
}

static void read(ondemand::value value, std::optional<Login> &login) {
  ondemand::json_type type;
  if (value.type().get(type) || type != ondemand::json_type::object) return;
  login.emplace();
  each_member(value, [&](string_view name, ondemand::value inner) {
    if (name == "username") read(inner, login->username);
    else if (name == "password") read(inner, login->password);
    else if (name == "totp") read(inner, login->totp);
    else if (name == "uris") read_all(inner, login->uris);
  });
}

static void read(ondemand::value value, Cipher &cipher) {
  each_member(value, [&](string_view name, ondemand::value inner) {
    if (name == "id") read(inner, cipher.id);
    else if (name == "organizationId") read(inner, cipher.organizationId);
    else if (name == "folderId") read(inner, cipher.folderId);
    else if (name == "revisionDate") read(inner, cipher.revisionDate);
    else if (name == "creationDate") read(inner, cipher.creationDate);
    else if (name == "deletedDate") read(inner, cipher.deletedDate);
    else if (name == "key") read(inner, cipher.key);
    else if (name == "name") read(inner, cipher.name);
    else if (name == "notes") read(inner, cipher.notes);
    else if (name == "type") read(inner, cipher.type);
    else if (name == "reprompt") read(inner, cipher.reprompt);
    else if (name == "favorite") read(inner, cipher.favorite);
    else if (name == "login") read(inner, cipher.login);
    else if (name == "fields") read_all(inner, cipher.fields);
    else if (name == "passwordHistory") read_all(inner, cipher.passwordHistory);
  });
}

size_t ceiling_structs(const ceiling_text *text) {
  std::vector<Cipher> ciphers;
  ondemand::parser parser;
  ondemand::document document;
  ondemand::value array;
  if (parser.iterate(text->text).get(document)) return 0;
  if (document["ciphers"].get(array)) return 0;
  read_all(array, ciphers);
  return ciphers.size();
}

static void quote(std::string &out, const char *text, size_t length) {
  static const char digits[] = "0123456789abcdef";
  out.push_back('"');
  size_t done = 0;
  for (size_t at = 0; at < length; at++) {
    unsigned char byte = text[at];
    if (byte >= 0x20 && byte != '"' && byte != '\\') continue;
    out.append(text + done, at - done);
    out.push_back('\\');
    if (byte >= 0x20) out.push_back(byte);
    else out.append("u00").append(1, digits[byte >> 4]).append(1, digits[byte & 15]);
    done = at + 1;
  }
  out.append(text + done, length - done);
  out.push_back('"');
}

size_t ceiling_write(const char *const *strings, const size_t *lengths, size_t count,
                     size_t times) {
  std::string out;
  out.push_back('[');
  for (size_t time = 0; time < times; time++) {
    out.push_back('{');
    for (size_t index = 0; index < count; index++) {
      auto name = std::to_string(index);
      if (index > 0) out.push_back(',');
      quote(out, name.data(), name.size());
      out.push_back(':');
      quote(out, strings[index], lengths[index]);
    }
    out.append("},");
  }
  return out.size();
}
