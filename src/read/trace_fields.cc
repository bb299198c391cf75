// See trace_fields.h. Tests: tests/unit/trace_reader_test.cc.
#include "read/trace_fields.h"

#include "read/json_text.h"

namespace suture {
namespace {

using State = ValueEnd::State;

constexpr std::int64_t kLongest = std::int64_t{1} << 50U;  // 13 days; thousands of them can be added

ValueEnd incomplete() {
  return {State::incomplete, 0, ""};
}
ValueEnd bad(std::size_t token, const char* why) {
  return {State::bad, token, why};
}

bool is_scalar(char c) {
  return c != '{' && c != '}' && c != '[' && c != ']' && c != ',' && c != ':';
}

}  // namespace

ValueEnd skip_value(const TokenText& text, std::size_t token) {
  constexpr unsigned deepest = 64;
  const std::size_t count = text.places.size();
  if (token >= count) return incomplete();
  const char first = text.first(token);
  if (is_scalar(first)) return {State::complete, token + 1, ""};
  if (first != '{' && first != '[') return bad(token, "a value is missing");
  // The kinds of the open brackets, the innermost in the lowest bit: 1 is `{`.
  std::uint64_t open = 0;
  unsigned depth = 0;
  for (std::size_t at = token; at < count; ++at) {
    const char c = text.first(at);
    if (c == '{' || c == '[') {
      if (++depth > deepest) return bad(at, "brackets nest too deep");
      open = open << 1U | (c == '{' ? 1U : 0U);
    } else if (c == '}' || c == ']') {
      if ((open & 1U) != (c == '}' ? 1U : 0U)) return bad(at, "a bracket closes one of the other kind");
      open >>= 1U;
      if (--depth == 0) return {State::complete, at + 1, ""};
    }
  }
  return incomplete();
}

namespace {

// Where the fields stand; which there are, by bit, so that a second one of a kind is noticed.
struct RawEvent {
  enum Field : std::uint8_t {
    none,
    ph,
    cat,
    name,
    pid,
    tid,
    ts,
    dur,
    args,
    id,  // of the event
    external,
    correlation,
    device,
    stream,
    dims,
    types,
    strides,
    grid,
    block,
    bytes,  // of args
    field_count
  };
  // Of a field that was seen: the token of its value, and the one behind it. Texts are made of those that are asked for.
  std::uint32_t token[field_count], behind[field_count];
  std::uint32_t seen = 0;

  [[nodiscard]] bool has(Field field) const { return (seen & 1U << field) != 0; }
};
using Field = RawEvent::Field;

Field event_field(std::string_view key) {
  switch (key.size()) {
    case 2:
      return key == "ph" ? Field::ph : key == "ts" ? Field::ts : key == "id" ? Field::id : Field::none;
    case 3:
      return key == "dur"   ? Field::dur
             : key == "cat" ? Field::cat
             : key == "pid" ? Field::pid
             : key == "tid" ? Field::tid
                            : Field::none;
    case 4:
      return key == "name" ? Field::name : key == "args" ? Field::args : Field::none;
    default:
      return Field::none;
  }
}

// Older Kineto writes "external id" and "Input dims".
Field args_field(std::string_view key) {
  switch (key.size()) {
    case 4:
      return key == "grid" ? Field::grid : Field::none;
    case 5:
      return key == "block" ? Field::block : key == "bytes" ? Field::bytes : Field::none;
    case 6:
      return key == "stream" ? Field::stream : key == "device" ? Field::device : Field::none;
    case 10:
      return key == "Input Dims" || key == "Input dims" ? Field::dims
             : key == "Input type"                      ? Field::types
                                                        : Field::none;
    case 11:
      return key == "External id" || key == "external id" ? Field::external
             : key == "correlation"                       ? Field::correlation
                                                          : Field::none;
    case 13:
      return key == "Input Strides" ? Field::strides : Field::none;
    default:
      return Field::none;
  }
}

// An object: each pair of it handed to `take(key, token of the value, token behind it)`, which may walk into the value itself.
template <class Walk, class Take>
ValueEnd walk_object(const TokenText& text, std::size_t token, Walk walk, Take take) {
  const std::size_t count = text.places.size();
  std::size_t at = token + 1;
  if (at < count && text.first(at) == '}') return {State::complete, at + 1, ""};
  while (true) {
    if (at + 2 >= count) return at < count && text.first(at) != '"' ? bad(at, "a key is missing") : incomplete();
    if (text.first(at) != '"') return bad(at, "a key is missing");
    if (text.first(at + 1) != ':') return bad(at + 1, "a colon is missing");
    const std::string_view key = text.scalar(at);
    const ValueEnd value = walk(key, at + 2);
    if (value.state != State::complete) return value;
    if (value.token >= count) return incomplete();
    take(key, at, value.token);
    const char c = text.first(value.token);
    if (c == '}') return {State::complete, value.token + 1, ""};
    if (c != ',') return bad(value.token, "a comma or the end of an object is missing");
    at = value.token + 1;
  }
}

// The bytes of a value from its first to its last token; empty: the event has none.
std::string_view value_of(const TokenText& text, const RawEvent& raw, Field field) {
  if (!raw.has(field)) return {};
  const std::size_t token = raw.token[field], behind = raw.behind[field];
  if (behind == token + 1) return text.scalar(token);
  return text.bytes.substr(text.places[token], text.places[behind - 1] + 1 - text.places[token]);
}

void put(RawEvent& raw, Field field, std::size_t key, std::size_t behind, EventNotes& notes) {
  if (field == Field::none) return;
  const std::uint32_t bit = 1U << field;
  if ((raw.seen & bit) != 0) notes.duplicate_key = key;
  raw.seen |= bit;
  raw.token[field] = static_cast<std::uint32_t>(key + 2);
  raw.behind[field] = static_cast<std::uint32_t>(behind);
}

ValueEnd read_args(const TokenText& text, std::size_t token, RawEvent& raw, EventNotes& notes) {
  return walk_object(
      text, token, [&text](std::string_view, std::size_t value) { return skip_value(text, value); },
      [&](std::string_view key, std::size_t at, std::size_t behind) { put(raw, args_field(key), at, behind, notes); });
}

TraceKind kind_of(std::string_view cat) {
  struct Name {
    std::string_view cat;
    TraceKind kind;
  };
  // Kineto's names; the capital ones are those of older releases.
  static constexpr Name names[] = {
      {"cpu_op", TraceKind::cpu_op},
      {"kernel", TraceKind::kernel},
      {"cuda_runtime", TraceKind::launch},
      {"cuda_driver", TraceKind::launch},
      {"python_function", TraceKind::python},
      {"user_annotation", TraceKind::annotation},
      {"gpu_user_annotation", TraceKind::gpu_annotation},
      {"gpu_memcpy", TraceKind::memory_copy},
      {"gpu_memset", TraceKind::memory_set},
      {"hip_runtime", TraceKind::launch},
      {"Operator", TraceKind::cpu_op},
      {"Kernel", TraceKind::kernel},
      {"Memcpy", TraceKind::memory_copy},
      {"Memset", TraceKind::memory_set},
      {"Runtime", TraceKind::launch},
  };
  for (const Name& each : names) {
    if (each.cat == cat) return each.kind;
  }
  return TraceKind::other;
}

std::optional<std::int64_t> time_of(const TokenText& text, const RawEvent& raw, Field field, EventNotes& notes,
                                    std::size_t EventNotes::*out_of_range) {
  if (!raw.has(field)) return std::nullopt;
  const std::string_view value = value_of(text, raw, field);
  const std::optional<std::int64_t> time = nanoseconds_of(value);
  if (!time) notes.*(is_json_number(value) ? out_of_range : &EventNotes::not_a_number) = raw.token[field];
  return time;
}

std::optional<std::uint64_t> id_of(const TokenText& text, const RawEvent& raw, Field field, EventNotes& notes) {
  if (!raw.has(field)) return std::nullopt;
  const std::string_view value = value_of(text, raw, field);
  const std::optional<std::uint64_t> id = whole_number(value);
  // Negative ones are written where there is none.
  if (!id && !value.starts_with('-'))
    (is_json_number(value) ? notes.out_of_range : notes.not_a_number) = raw.token[field];
  return id;
}

}  // namespace

ValueEnd read_event(const TokenText& text, std::size_t token, TraceEvent& event, EventNotes& notes) {
  if (text.first(token) != '{') return bad(token, "an event is no object");
  RawEvent raw;
  const ValueEnd end = walk_object(
      text, token,
      [&](std::string_view key, std::size_t value) {
        const bool args = key == "args" && value < text.places.size() && text.first(value) == '{';
        return args ? read_args(text, value, raw, notes) : skip_value(text, value);
      },
      [&](std::string_view key, std::size_t at, std::size_t behind) { put(raw, event_field(key), at, behind, notes); });
  if (end.state != State::complete) return end;
  const std::string_view phase = value_of(text, raw, Field::ph);
  event.phase = phase.size() == 1 ? phase[0] : '?';
  event.kind = kind_of(value_of(text, raw, Field::cat));
  event.name = value_of(text, raw, Field::name);
  if (event.kind == TraceKind::other && event.phase != 'B' && event.phase != 'E') return end;
  event.pid = value_of(text, raw, Field::pid);
  event.tid = value_of(text, raw, Field::tid);
  event.start_ns = time_of(text, raw, Field::ts, notes, &EventNotes::out_of_range);
  event.duration_ns = time_of(text, raw, Field::dur, notes, &EventNotes::impossible_duration);
  if (event.duration_ns && (*event.duration_ns < 0 || *event.duration_ns > kLongest)) {
    notes.impossible_duration = raw.token[Field::dur];
    event.duration_ns.reset();
  }
  event.external = id_of(text, raw, Field::external, notes);
  event.correlation = id_of(text, raw, Field::correlation, notes);
  event.device = value_of(text, raw, Field::device);
  event.stream = value_of(text, raw, Field::stream);
  event.dims = value_of(text, raw, Field::dims);
  event.types = value_of(text, raw, Field::types);
  event.strides = value_of(text, raw, Field::strides);
  event.grid = value_of(text, raw, Field::grid);
  event.block = value_of(text, raw, Field::block);
  event.bytes = value_of(text, raw, Field::bytes);
  return end;
}

}  // namespace suture
