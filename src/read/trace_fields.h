// One event: from its tokens to its fields. The walk looks at each token once; what is wrong is named by the token that is.
#pragma once

#include <cstddef>
#include <vector>

#include "read/token_text.h"
#include "read/trace_event.h"
#include "read/trace_forms.h"

namespace suture {

// Where a walk over a value ended.
struct ValueEnd {
  enum class State { complete, incomplete, bad } state = State::complete;
  std::size_t token = 0;  // complete: the one behind the value; bad: the one that is wrong
  const char* why = "";   // bad
};

// The value that begins at `token`, passed over; brackets must match.
ValueEnd skip_value(const TokenText& text, std::size_t token);

// What was noticed in an event beside its fields.
struct EventNotes {
  std::size_t duplicate_key = 0;  // its token; 0: none (an event's first token is no key)
  std::size_t not_a_number = 0;   // the token of a ts, dur or id that is none: NaN, Infinity
  std::size_t out_of_range = 0;   // of a ts or id that is a number, and none that a time or an id can be
  std::size_t impossible_duration = 0;
};

class EventReader {
 public:
  explicit EventReader(bool with_forms) : with_forms_(with_forms) {}
  // The event whose `{` is at `token`. Where a key stands twice the last one counts, as in Python's json. `bad` where it is no
  // object, or one whose keys, colons, commas or brackets are wrong.
  ValueEnd read(const TokenText& text, std::size_t token, EventNotes& notes);
  // What was read, where that is complete. Valid until the next one, as long as its text is.
  [[nodiscard]] TraceEvent& event() { return *event_; }

 private:
  ValueEnd walk(const TokenText& text, std::size_t token, EventNotes& notes);

  bool with_forms_, has_form_ = false;  // the latter: of the event that was walked
  EventForms forms_;
  std::vector<EventForms::Place> numbers_;
  TraceEvent walked_;
  TraceEvent* event_ = &walked_;
};

}  // namespace suture
