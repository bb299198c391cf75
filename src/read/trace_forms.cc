// See trace_forms.h. Tests: tests/unit/trace_forms_test.cc.
#include "read/trace_forms.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>
#include <limits>
#include <string_view>
#include <utility>

namespace suture {
namespace {

constexpr std::size_t kLongest = 8192;                // bytes of a form
constexpr std::size_t kMost = std::size_t{1} << 20U;  // of all, with what they need beside their text
constexpr std::size_t kBeside = sizeof(EventForms::Form) + 200;
constexpr std::size_t kFew = std::size_t{64} << 10U;  // so much is kept of what was met but once
constexpr std::uint64_t kMix = 0x9E3779B97F4A7C15U;   // 2^64 by the golden ratio
// Of so many events in a row a quarter should be of the form expected, else none is for the next ones.
constexpr unsigned kPeriod = 1024, kSleep = 16384;

}  // namespace

EventForms::Form* EventForms::expected(const TokenText& text, std::size_t token, Tokens& numbers) {
  if (asleep_ > 0) {
    --asleep_;
    return nullptr;
  }
  if (++tried_ == kPeriod) {
    if (hits_ < kPeriod / 4) asleep_ = kSleep;
    tried_ = hits_ = 0;
  }
  long_slot_ = slot_of(last_eight_);
  short_slot_ = slot_of(last_two_);
  Form* form = long_[long_slot_];
  if (form == nullptr || !is_of(text, token, *form, numbers)) {
    Form* const other = short_[short_slot_];
    if (other == nullptr || other == form || !is_of(text, token, *other, numbers = {})) return nullptr;
    form = other;
  }
  ++hits_;
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
    known += segment.size;
    ++place;
  }
  return true;
}

void EventForms::learn(const TokenText& text, std::size_t token, std::size_t behind, const std::vector<Place>& numbers,
                       const TraceEvent& event) {
  const std::size_t end = text.end_of(behind - 1);
  if (asleep_ > 0 || end - text.places[token] > kLongest || next_id_ == std::numeric_limits<std::uint32_t>::max())
    return;
  // Forms that have a hash in common cost a wrong expectation, and nothing else.
  std::uint64_t hash = 0;
  std::size_t from = token;
  const auto add_segment = [&](std::size_t to) {
    const std::size_t place = text.places[from];
    hash = (std::rotl(hash, 23) ^ std::hash<std::string_view>()(text.bytes.substr(place, to - place))) * kMix;
  };
  for (const Place& each : numbers) {
    add_segment(text.places[each.token]);
    from = each.token + 1;
  }
  add_segment(end);
  const auto found = by_hash_.find(hash);
  if (found != by_hash_.end()) return met(*found->second);
  std::uint32_t& seen = seen_[hash % kSeen];
  const auto part = static_cast<std::uint32_t>(hash >> 32U);
  if (bytes_ > kFew && std::exchange(seen, part) != part) return;
  Form& form = add(text, token, behind, numbers, event);
  by_hash_.emplace(hash, &form);
  met(form);
}

EventForms::Form& EventForms::add(const TokenText& text, std::size_t token, std::size_t behind,
                                  const std::vector<Place>& numbers, const TraceEvent& event) {
  if (bytes_ > kMost) {  // events that hardly repeat: what was is forgotten, and its numbers are not given again
    by_hash_.clear();
    forms_.clear();
    std::fill_n(long_.get(), kSlots, nullptr);
    std::fill_n(short_.get(), kSlots, nullptr);
    bytes_ = 0;
  }
  Form& form = forms_.emplace_back();
  form.tokens = behind - token;
  form.event = event;
  form.event.form = next_id_++;
  form.text_.reserve(text.end_of(behind - 1) - text.places[token]);  // views into it stay good
  std::string_view* const views[] = {&form.event.name,  &form.event.pid,     &form.event.tid,    &form.event.dims,
                                     &form.event.types, &form.event.strides, &form.event.device, &form.event.stream,
                                     &form.event.grid,  &form.event.block,   &form.event.bytes};
  std::size_t from = token;
  for (std::size_t i = 0; i <= numbers.size(); ++i) {
    const bool last = i == numbers.size();
    const std::size_t to = last ? behind : numbers[i].token;
    const std::size_t begin = text.places[from], end = last ? text.end_of(behind - 1) : text.places[to];
    form.segments_.push_back({static_cast<std::uint32_t>(end - begin), static_cast<std::uint32_t>(to - from),
                              last ? Number::other : numbers[i].number});
    const char* const first = text.bytes.data() + begin;
    for (std::string_view* view : views) {
      if (!view->empty() && view->data() >= first && view->data() < text.bytes.data() + end)
        *view = {form.text_.data() + form.text_.size() + (view->data() - first), view->size()};
    }
    form.text_.append(first, end - begin);
    from = to + 1;
  }
  bytes_ += form.text_.size() + form.segments_.size() * sizeof(Form::Segment) + kBeside;
  return form;
}

}  // namespace suture
