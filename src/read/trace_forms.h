// Events of a form: all of their bytes are the same but for the numbers that differ from call to call (times, ids, counters).
//
// A profiler writes few forms over and over, and behind some of them comes, nearly always, the one that came behind them the last
// time. So that one is compared first, byte by byte; where it stands there, the event is what it was, with other numbers, and its
// tokens need not be walked. Expecting the wrong one costs time and nothing else: tokens depend on the bytes alone.
//
// What is expected depends on the last eight forms; where these were not met before, on the last two. One alone would not do:
// between two kernels there are the same launch and the same two arrows of the flow.
//
// A trace need not repeat itself: once some forms are known, another is kept when it is met the second time, and where few events are
// of the form that is expected, nothing is expected for a while.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "read/token_text.h"
#include "read/trace_event.h"

namespace suture {

inline bool begins_number(char c) {
  return c == '-' || (c >= '0' && c <= '9');
}

class EventForms {
 public:
  // What may be asked for among the numbers that differ.
  enum class Number : std::uint8_t { other, time, duration, external, correlation };
  static constexpr std::size_t kNumbers = 5;
  // The tokens of numbers; 0: there is none.
  using Tokens = std::array<std::size_t, kNumbers>;

  // The numbers of an event that is being walked, in their order.
  struct Place {
    std::size_t token = 0;
    Number number = Number::other;
  };

  struct Form {
    TraceEvent event;        // with no numbers; its views are into the form
    std::size_t tokens = 0;  // of the event

   private:
    friend class EventForms;
    // The bytes from a token (the event's first, or the one behind a number) to the next number, or the end.
    struct Segment {
      std::uint32_t size = 0, tokens = 0;
      Number number = Number::other;  // behind it
    };
    std::string text_;  // of the segments
    std::vector<Segment> segments_;
  };

  // Whether the event that begins at `token` is of the form that is expected; null: it is not, and is to be walked and learnt.
  Form* expected(const TokenText& text, std::size_t token, Tokens& numbers);
  // The form of an event that was not of the one expected: its tokens, its numbers, and what was read of it.
  void learn(const TokenText& text, std::size_t token, std::size_t behind, const std::vector<Place>& numbers,
             const TraceEvent& event);

 private:
  static constexpr unsigned kSlotBits = 12;
  static constexpr std::size_t kSeen = 4096;
  Form& add(const TokenText& text, std::size_t token, std::size_t behind, const std::vector<Place>& numbers,
            const TraceEvent& event);
  static constexpr std::size_t kSlots = std::size_t{1} << kSlotBits;
  static std::size_t slot_of(std::uint32_t history) { return (history * 0x9E3779B1U) >> (32U - kSlotBits); }
  static bool is_of(const TokenText& text, std::size_t token, const Form& form, Tokens& numbers);
  void met(Form& form) {
    long_[long_slot_] = short_[short_slot_] = &form;
    const std::uint32_t id = form.event.form * 0x85EBCA6BU;
    last_eight_ = (last_eight_ << 4U) + id;
    last_two_ = (last_two_ << 16U) + id;
  }

  std::deque<Form> forms_;
  std::unordered_map<std::uint64_t, Form*> by_hash_;
  std::vector<std::uint32_t> seen_ =
      std::vector<std::uint32_t>(kSeen);  // parts of the hashes of forms that were met once
  // What is expected, by the forms that were met last.
  std::unique_ptr<Form*[]> long_ = std::make_unique<Form*[]>(kSlots), short_ = std::make_unique<Form*[]>(kSlots);
  std::uint32_t last_eight_ = 0, last_two_ = 0;  // hashes
  std::size_t long_slot_ = 0, short_slot_ = 0, bytes_ = 0;
  std::uint32_t next_id_ = 1;
  unsigned tried_ = 0, hits_ = 0, asleep_ = 0;  // events
};

}  // namespace suture
