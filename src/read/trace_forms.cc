// See trace_forms.h. Tests: tests/unit/trace_forms_test.cc.
#include "read/trace_forms.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace suture {
namespace {

constexpr char kEnd = '\x1F';                         // of a segment
constexpr std::size_t kLongest = 8192;                // bytes of a form
constexpr std::size_t kMost = std::size_t{1} << 20U;  // of all, with what they need beside their text
constexpr std::size_t kBeside = sizeof(EventForms::Form) + 200;

}  // namespace

EventForms::Form* EventForms::expected(const TokenText& text, std::size_t token, Tokens& numbers) {
  long_slot_ = slot_of(last_eight_);
  short_slot_ = slot_of(last_two_);
  Form* form = long_[long_slot_];
  if (form == nullptr || !is_of(text, token, *form, numbers)) {
    Form* const other = short_[short_slot_];
    if (other == nullptr || other == form || !is_of(text, token, *other, numbers = {})) return nullptr;
    form = other;
  }
  met(*form);
  return form;
}

bool EventForms::is_of(const TokenText& text, std::size_t token, const Form& form, Tokens& numbers) {
  if (text.places.size() - token < form.tokens) return false;
  const char* known = form.text_.data();
  const char* const bytes = text.bytes.data();
  const std::uint32_t* place = text.places.data() + token;
  for (const Form::Segment& segment : form.segments_) {
    if (text.bytes.size() - *place < segment.size || std::memcmp(bytes + *place, known, segment.size) != 0)
      return false;
    if (&segment == &form.segments_.back()) break;
    const std::size_t at = *place + segment.size;
    place += segment.tokens;
    if (*place != at || !begins_number(bytes[at])) return false;
    numbers[static_cast<std::size_t>(segment.number)] = static_cast<std::size_t>(place - text.places.data());
    known += segment.size + 1;
    ++place;
  }
  return true;
}

void EventForms::learn(const TokenText& text, std::size_t token, std::size_t behind, const std::vector<Place>& numbers,
                       const TraceEvent& event) {
  const std::size_t size = text.end_of(behind - 1) - text.places[token];
  if (size > kLongest || next_id_ == std::numeric_limits<std::uint32_t>::max()) return;
  key_.clear();
  std::size_t from = token;
  for (const Place& each : numbers) {
    key_.append(text.bytes.substr(text.places[from], text.places[each.token] - text.places[from])).append(1, kEnd);
    from = each.token + 1;
  }
  key_.append(text.bytes.substr(text.places[from], text.end_of(behind - 1) - text.places[from]));
  const auto found = by_text_.find(key_);
  Form& form = found != by_text_.end() ? *found->second : add(text, token, behind, numbers, event);
  met(form);
}

EventForms::Form& EventForms::add(const TokenText& text, std::size_t token, std::size_t behind,
                                  const std::vector<Place>& numbers, const TraceEvent& event) {
  if (bytes_ > kMost) {  // events that hardly repeat: what was is forgotten, and its numbers are not given again
    by_text_.clear();
    forms_.clear();
    std::fill_n(long_.get(), kSlots, nullptr);
    std::fill_n(short_.get(), kSlots, nullptr);
    bytes_ = 0;
  }
  Form& form = forms_.emplace_back();
  form.text_ = key_;
  form.tokens = behind - token;
  form.event = event;
  form.event.form = next_id_++;
  std::string_view* const views[] = {&form.event.name,  &form.event.pid,     &form.event.tid,    &form.event.dims,
                                     &form.event.types, &form.event.strides, &form.event.device, &form.event.stream,
                                     &form.event.grid,  &form.event.block,   &form.event.bytes};
  std::size_t from = token, known = 0;
  for (std::size_t i = 0; i <= numbers.size(); ++i) {
    const bool last = i == numbers.size();
    const std::size_t to = last ? behind : numbers[i].token;
    const std::size_t begin = text.places[from], end = last ? text.end_of(behind - 1) : text.places[to];
    form.segments_.push_back({static_cast<std::uint32_t>(end - begin), static_cast<std::uint32_t>(to - from),
                              last ? Number::other : numbers[i].number});
    for (std::string_view* view : views) {
      if (view->empty()) continue;
      const char* const first = text.bytes.data() + begin;
      if (view->data() >= first && view->data() < text.bytes.data() + end)
        *view = {form.text_.data() + known + (view->data() - first), view->size()};
    }
    known += end - begin + 1;
    from = to + 1;
  }
  bytes_ += form.text_.size() + form.segments_.size() * sizeof(Form::Segment) + kBeside;
  by_text_.emplace(form.text_, &form);
  return form;
}

}  // namespace suture
