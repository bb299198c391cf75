// See trace_fields.h. Tests: tests/unit/trace_reader_test.cc.
#include "read/trace_fields.h"

#include <cstring>
#include <utility>

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
    // A bracket and a brace differ in one bit.
    if ((c | 0x20) == '{') {
      if (++depth > deepest) return bad(at, "brackets nest too deep");
      open = open << 1U | (c == '{' ? 1U : 0U);
    } else if ((c | 0x20) == '}') {
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
constexpr std::uint32_t kOfArgs = (1U << Field::field_count) - (1U << Field::external);

template <std::size_t Size>
bool is(std::string_view key, const char (&name)[Size]) {
  return std::memcmp(key.data(), name, Size - 1) == 0;  // of a constant size: no call
}

Field event_field(std::string_view key) {
  switch (key.size()) {
    case 2:
      return is(key, "ph") ? Field::ph : is(key, "ts") ? Field::ts : is(key, "id") ? Field::id : Field::none;
    case 3:
      return is(key, "dur")   ? Field::dur
             : is(key, "cat") ? Field::cat
             : is(key, "pid") ? Field::pid
             : is(key, "tid") ? Field::tid
                              : Field::none;
    case 4:
      return is(key, "name") ? Field::name : is(key, "args") ? Field::args : Field::none;
    default:
      return Field::none;
  }
}

// Older Kineto writes "external id" and "Input dims".
Field args_field(std::string_view key) {
  switch (key.size()) {
    case 4:
      return is(key, "grid") ? Field::grid : Field::none;
    case 5:
      return is(key, "block") ? Field::block : is(key, "bytes") ? Field::bytes : Field::none;
    case 6:
      return is(key, "stream") ? Field::stream : is(key, "device") ? Field::device : Field::none;
    case 10:
      return is(key, "Input Dims") || is(key, "Input dims") ? Field::dims
             : is(key, "Input type")                        ? Field::types
                                                            : Field::none;
    case 11:
      return is(key, "External id") || is(key, "external id") ? Field::external
             : is(key, "correlation")                         ? Field::correlation
                                                              : Field::none;
    case 13:
      return is(key, "Input Strides") ? Field::strides : Field::none;
    default:
      return Field::none;
  }
}

// An object: each pair of it handed to `take(key, token of the key, token behind the value)`; `walk` passes over a value.
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

// Kineto's names; the capital ones are those of older releases.
TraceKind kind_of(std::string_view cat) {
  switch (cat.size()) {
    case 6:
      if (is(cat, "cpu_op")) return TraceKind::cpu_op;
      if (is(cat, "kernel") || is(cat, "Kernel")) return TraceKind::kernel;
      if (is(cat, "Memcpy")) return TraceKind::memory_copy;
      return is(cat, "Memset") ? TraceKind::memory_set : TraceKind::other;
    case 7:
      return is(cat, "Runtime") ? TraceKind::launch : TraceKind::other;
    case 8:
      return is(cat, "Operator") ? TraceKind::cpu_op : TraceKind::other;
    case 10:
      return is(cat, "gpu_memcpy")   ? TraceKind::memory_copy
             : is(cat, "gpu_memset") ? TraceKind::memory_set
                                     : TraceKind::other;
    case 11:
      return is(cat, "cuda_driver") || is(cat, "hip_runtime") ? TraceKind::launch : TraceKind::other;
    case 12:
      return is(cat, "cuda_runtime") ? TraceKind::launch : TraceKind::other;
    case 15:
      return is(cat, "python_function")   ? TraceKind::python
             : is(cat, "user_annotation") ? TraceKind::annotation
                                          : TraceKind::other;
    case 19:
      return is(cat, "gpu_user_annotation") ? TraceKind::gpu_annotation : TraceKind::other;
    default:
      return TraceKind::other;
  }
}

using Number = EventForms::Number;

Number number_of(Field field) {
  switch (field) {
    case Field::ts:
      return Number::time;
    case Field::dur:
      return Number::duration;
    case Field::external:
      return Number::external;
    case Field::correlation:
      return Number::correlation;
    default:
      return Number::other;
  }
}

// Whether a number of such a member differs from call to call. All others are a part of the event's form: those that tell where it ran,
// and those that stand where a text is expected.
bool differs(Field field) {
  return field == Field::none || field == Field::id || number_of(field) != Number::other;
}

std::optional<std::int64_t> time_of(std::string_view value, std::size_t token, EventNotes& notes,
                                    std::size_t EventNotes::*out_of_range) {
  const std::optional<std::int64_t> time = nanoseconds_of(value);
  if (!time) notes.*(is_json_number(value) ? out_of_range : &EventNotes::not_a_number) = token;
  return time;
}

std::optional<std::int64_t> duration_of(std::string_view value, std::size_t token, EventNotes& notes) {
  const std::optional<std::int64_t> duration = time_of(value, token, notes, &EventNotes::impossible_duration);
  if (!duration || (*duration >= 0 && *duration <= kLongest)) return duration;
  notes.impossible_duration = token;
  return std::nullopt;
}

std::optional<std::uint64_t> id_of(std::string_view value, std::size_t token, EventNotes& notes) {
  const std::optional<std::uint64_t> id = whole_number(value);
  // Negative ones are written where there is none.
  if (!id && !value.starts_with('-')) (is_json_number(value) ? notes.out_of_range : notes.not_a_number) = token;
  return id;
}

bool is_told(const TraceEvent& event) {
  return event.kind != TraceKind::other || event.phase == 'B' || event.phase == 'E';
}

// The numbers of an event: `value_at(number)` is where its text stands, and its token, 0 where it has none.
template <class ValueAt>
void read_numbers(TraceEvent& event, EventNotes& notes, ValueAt value_at) {
  const auto [time, time_token] = value_at(Number::time);
  event.start_ns = time_token == 0 ? std::nullopt : time_of(time, time_token, notes, &EventNotes::out_of_range);
  const auto [duration, duration_token] = value_at(Number::duration);
  event.duration_ns = duration_token == 0 ? std::nullopt : duration_of(duration, duration_token, notes);
  const auto [external, external_token] = value_at(Number::external);
  event.external = external_token == 0 ? std::nullopt : id_of(external, external_token, notes);
  const auto [correlation, correlation_token] = value_at(Number::correlation);
  event.correlation = correlation_token == 0 ? std::nullopt : id_of(correlation, correlation_token, notes);
}

}  // namespace

ValueEnd EventReader::read(const TokenText& text, std::size_t token, EventNotes& notes) {
  if (text.first(token) != '{') return bad(token, "an event is no object");
  EventForms::Tokens numbers{};
  EventForms::Form* const form = with_forms_ ? forms_.expected(text, token, numbers) : nullptr;
  if (form == nullptr) {
    const ValueEnd end = walk(text, token, notes);
    event_ = &walked_;
    if (end.state == State::complete && notes.duplicate_key == 0 && has_form_)
      forms_.learn(text, token, end.token, numbers_, walked_);
    return end;
  }
  event_ = &form->event;
  if (is_told(*event_)) {
    read_numbers(*event_, notes, [&](Number number) {
      const std::size_t at = numbers[static_cast<std::size_t>(number)];
      return std::pair(at == 0 ? std::string_view() : text.scalar(at), at);
    });
  }
  return {State::complete, token + form->tokens, ""};
}

ValueEnd EventReader::walk(const TokenText& text, std::size_t token, EventNotes& notes) {
  RawEvent raw;
  numbers_.clear();
  has_form_ = with_forms_;
  const auto take = [&](Field field, std::size_t key, std::size_t behind) {
    put(raw, field, key, behind, notes);
    const Number number = number_of(field);
    if (behind == key + 3 && begins_number(text.first(key + 2))) {
      if (differs(field)) numbers_.push_back({key + 2, number});
    } else if (number != Number::other) {
      has_form_ = false;  // "ts": "1"
    }
  };
  const auto walk_args = [&](std::size_t value) {
    return walk_object(
        text, value, [&text](std::string_view, std::size_t inner) { return skip_value(text, inner); },
        [&](std::string_view key, std::size_t at, std::size_t behind) { take(args_field(key), at, behind); });
  };
  const ValueEnd end = walk_object(
      text, token,
      [&](std::string_view key, std::size_t value) {
        if (key != "args") return skip_value(text, value);
        raw.seen &= ~kOfArgs;  // of an earlier one
        return value < text.places.size() && text.first(value) == '{' ? walk_args(value) : skip_value(text, value);
      },
      [&](std::string_view key, std::size_t at, std::size_t behind) { take(event_field(key), at, behind); });
  if (end.state != State::complete) return end;
  TraceEvent& event = walked_ = {};
  const std::string_view phase = value_of(text, raw, Field::ph);
  event.phase = phase.size() == 1 ? phase[0] : '?';
  event.kind = kind_of(value_of(text, raw, Field::cat));
  event.name = value_of(text, raw, Field::name);
  if (!is_told(event)) return end;
  event.pid = value_of(text, raw, Field::pid);
  event.tid = value_of(text, raw, Field::tid);
  event.device = value_of(text, raw, Field::device);
  event.stream = value_of(text, raw, Field::stream);
  event.dims = value_of(text, raw, Field::dims);
  event.types = value_of(text, raw, Field::types);
  event.strides = value_of(text, raw, Field::strides);
  event.grid = value_of(text, raw, Field::grid);
  event.block = value_of(text, raw, Field::block);
  event.bytes = value_of(text, raw, Field::bytes);
  read_numbers(event, notes, [&](Number number) {
    constexpr Field fields[] = {Field::none, Field::ts, Field::dur, Field::external, Field::correlation};
    const Field field = fields[static_cast<std::size_t>(number)];
    return std::pair(value_of(text, raw, field), raw.has(field) ? std::size_t{raw.token[field]} : 0);
  });
  return end;
}

}  // namespace suture
