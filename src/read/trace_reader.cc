// See trace_reader.h. Tests: tests/unit/trace_reader_test.cc, tests/fuzz/trace_fuzz.cc.
//
// Windows of tokens (read/token_windows.h) are walked by a state machine, an event at a step. What begins in a window and does not end
// there is put together with what follows (read/token_seam.h); brackets that are passed over are counted across windows.
#include "read/trace_reader.h"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

#include "read/token_seam.h"
#include "read/trace_fields.h"

namespace suture {
namespace {

class Reader {
 public:
  Reader(TokenWindows& windows, FunctionRef<void(const TraceEvent&)> take, const TraceReadOptions& options)
      : windows_(windows), take_(take), largest_event_(options.largest_event), fields_(options.forms) {}

  Result<TraceReading> run() {
    for (bool first = true; !done_; first = false) {
      const TokenWindow& window = windows_.next();
      if (first) {
        if (auto error = begin(window)) return *error;
      }
      take_window(window);
      if (error_) return *error_;
    }
    if (phase_ == Phase::object && !reading_.damage && no_array_at_)
      return no_trace("holds a \"traceEvents\" that is no array (byte " + std::to_string(*no_array_at_) + ")",
                      "a trace is {\"traceEvents\": [...]} or [...]");
    if (phase_ == Phase::object && !reading_.damage)
      return no_trace("holds no \"traceEvents\"", "is it a trace of torch.profiler (export_chrome_trace)?");
    std::sort(reading_.warnings.begin(), reading_.warnings.end(), [](const TraceWarning& a, const TraceWarning& b) {
      return std::tie(a.offset, a.what) < std::tie(b.offset, b.what);
    });
    return std::move(reading_);
  }

 private:
  enum class Phase { start, object, skipping, events, wrong_event, between, after, rest_of_object };

  static Error no_trace(const std::string& what, const std::string& hint) {
    return {Exit::file_system, what, std::nullopt, hint};
  }

  // --- windows -------------------------------------------------------------------------------------------------------

  // The first window: whether it is text at all.
  static std::optional<Error> begin(const TokenWindow& window) {
    if (window.raw) return no_trace("is UTF-16; a trace is UTF-8", "convert it: iconv -f UTF-16 -t UTF-8");
    if (!window.last || window.end() > 0) return std::nullopt;
    return window.error ? no_trace("cannot be read: " + window.error->message, window.error->hint)
                        : no_trace("is empty (0 bytes)", "did the profiler finish writing it?");
  }

  void take_window(const TokenWindow& window) {
    reading_.bytes = window.end();
    std::size_t at = 0;
    const bool end = window.last || window.broken;
    if (!seam_.empty()) at = across(window, end);
    if (seam_.empty() && walking()) at = along(window, at, end);
    if (!done_ && phase_ == Phase::after) {
      behind(window.offset, window.bytes());
      if (window.last) end_of_trace(window);
    } else if (!done_ && end) {
      end_within(window, at);
    }
    if (!window.replaced.empty() || !replaced_.empty()) note_replaced(window);
  }

  // Walks a window from token `at` on; returns the token that what comes next begins with.
  std::size_t along(const TokenWindow& window, std::size_t at, bool end) {
    text_ = {window.bytes(), window.tokens};
    base_ = window.offset;
    at = walk(at, text_.places.size(), end);
    if (at < text_.places.size() && walking() && !end) {
      seam_.begin(text_, at);
      seam_offset_ = offset_of(at);
      seam_at_ = 0;
    }
    return at;
  }

  // Walks what has begun before the window, with as many of its tokens as that needs. Returns the first that it does not need; where
  // even all are too few, the seam stays.
  std::size_t across(const TokenWindow& window, bool end) {
    const TokenText more{window.bytes(), window.tokens};
    const std::size_t held = seam_.size(), count = more.places.size();
    std::size_t added = 0;
    do {
      const std::size_t next = std::min(count, added + seam_.wanted() - seam_.size());
      seam_.append(more, added, next);
      added = next;
      const bool too_large = seam_.bytes() >= largest_event_;
      if (seam_.size() < seam_.wanted() && !(added == count && end) && !too_large) break;
      text_ = seam_.text();
      base_ = seam_offset_;
      seam_at_ = walk(seam_at_, held, added == count && end);
      if (phase_ == Phase::after) behind(seam_offset_, text_.bytes);  // it may have ended some windows ago
      if (!walking() || seam_at_ >= held) {
        seam_.clear();
        return seam_at_ - std::min(seam_at_, held);
      }
      seam_.tried();
      if (too_large && !end) damaged(seam_offset_, too_large_words());
    } while (added < count && !done_);
    return count;
  }

  [[nodiscard]] bool walking() const { return !done_ && phase_ != Phase::after; }

  // Bytes that were no UTF-8 and are "?" now: said where the walk has passed them, and not of what is behind the trace.
  void note_replaced(const TokenWindow& window) {
    for (const std::uint32_t place : window.replaced) replaced_.push_back(window.offset + place);
    const std::uint64_t passed = std::min(read_to_, seam_.empty() || done_ ? window.end() : seam_offset_);
    std::size_t said = 0;
    const auto is_damage = [&](std::uint64_t at) { return reading_.damage && reading_.damage->offset == at; };
    for (; said < replaced_.size() && (replaced_[said] < passed || is_damage(replaced_[said])); ++said)
      warn("bytes that are not UTF-8 are read as \"?\"", replaced_[said]);
    replaced_.erase(replaced_.begin(), replaced_.begin() + static_cast<std::ptrdiff_t>(said));
    if (phase_ == Phase::after) replaced_.clear();
  }

  // What is behind the trace is passed over, and counted; it need not be text.
  void behind(std::uint64_t offset, std::string_view bytes) {
    if (behind_at_) return;
    const std::uint64_t from = std::max(read_to_, offset) - offset;
    const std::size_t first = bytes.find_first_not_of(kBlanks, static_cast<std::size_t>(from));
    if (first != std::string_view::npos) behind_at_ = offset + first;
  }

  void end_of_trace(const TokenWindow& window) {
    done_ = true;
    if (behind_at_)
      reading_.warnings.push_back(
          {"bytes behind the end of the trace are not read", window.end() - *behind_at_, *behind_at_});
    if (window.error) damaged(window.end(), window.error->message);
  }

  // The text ends, or goes on as none, where the trace has not ended. `at`: the window's first token that was not walked over.
  void end_within(const TokenWindow& window, std::size_t at) {
    done_ = true;
    const bool within = at < window.tokens.size() || !seam_.empty();
    const std::uint64_t begun = !seam_.empty()              ? seam_offset_ + seam_.text().places[seam_at_]
                                : at < window.tokens.size() ? window.offset + window.tokens[at]
                                                            : window.end();
    if (window.broken && window.broken->too_large) {
      damaged(begun, too_large_words());
    } else if (phase_ == Phase::wrong_event) {
      unclear(window.end());  // the first thing that was wrong, whatever follows from it
    } else if (window.error && (!window.broken || window.broken->at_end)) {
      damaged(window.broken ? window.broken->offset : window.end(), window.error->message);
    } else if (window.broken) {
      damaged(window.broken->offset, window.broken->why);
    } else if (phase_ == Phase::start) {
      error_ = no_trace("holds nothing but blanks", "did the profiler finish writing it?");
    } else if (phase_ == Phase::skipping || (phase_ == Phase::object && within)) {
      damaged(begun, "the file ends before its JSON does");
    } else if (phase_ == Phase::events || phase_ == Phase::between) {
      damaged(begun, within ? "the file ends within an event" : "the file ends before the ] of its events");
    } else if (phase_ == Phase::rest_of_object) {
      damaged(window.end(), "the file ends before its last }");
    }
  }

  [[nodiscard]] std::string too_large_words() const {
    return "an event, or a string, is larger than " + std::to_string(largest_event_ >> 20U) +
           " MiB, or a quote is missing before it ends";
  }

  void damaged(std::uint64_t offset, std::string why) {
    done_ = true;
    read_to_ = std::min(read_to_, offset);
    reading_.damage = {offset, std::move(why)};
  }

  void warn(std::string_view what, std::uint64_t offset) {
    for (TraceWarning& each : reading_.warnings) {
      if (each.what != what) continue;
      ++each.count;
      return;
    }
    reading_.warnings.push_back({std::string(what), 1, offset});
  }

  // --- tokens --------------------------------------------------------------------------------------------------------

  // Walks the tokens from `at` until `stop` is reached; returns where the walk is, which is before `stop` where it needs more than the
  // text holds. `last`: there is no more.
  std::size_t walk(std::size_t at, std::size_t stop, bool last) {
    while (at < stop && walking()) {
      const std::size_t next = step(at, last);
      if (next == at) break;
      at = next;
    }
    return at;
  }

  std::uint64_t offset_of(std::size_t token) const { return base_ + text_.places[token]; }

  // One step from token `at`; `at` again: it needs more than the window holds.
  std::size_t step(std::size_t at, bool last) {
    switch (phase_) {
      case Phase::start:
        return start(at);
      case Phase::object:
      case Phase::rest_of_object:
        return member(at, last);
      case Phase::skipping:
        return skip(at);
      case Phase::events:
        return element(at);
      case Phase::wrong_event:
        return skip_wrong(at);
      case Phase::between:
        return between(at);
      case Phase::after:
        break;
    }
    return at;
  }

  std::size_t start(std::size_t at) {
    const char c = text_.first(at);
    if (c == '[') {
      array_form_ = true;
      phase_ = Phase::events;
    } else if (c == '{') {
      phase_ = Phase::object;
      first_member_ = true;
    } else {
      error_ = no_trace("is no trace: it begins with neither { nor [ (byte " + std::to_string(offset_of(at)) + ")",
                        "is it a trace of torch.profiler (export_chrome_trace)?");
      done_ = true;
      return at;
    }
    return at + 1;
  }

  // A key of the outermost object and the beginning of its value, or what stands between them.
  std::size_t member(std::size_t at, bool last) {
    const char c = text_.first(at);
    if (c == '}') {
      if (phase_ == Phase::rest_of_object) return complete(at);
      done_ = true;
      return at;
    }
    if (c == ',' && !first_member_) return at + 1;
    if (c != '"') return damaged(offset_of(at), "a key is missing"), at;
    if (at + 2 >= text_.places.size()) return at;
    if (text_.first(at + 1) != ':') return damaged(offset_of(at + 1), "a colon is missing"), at;
    first_member_ = false;
    const char value = text_.first(at + 2);
    if (text_.scalar(at) == "traceEvents" && value == '[') {
      if (phase_ == Phase::rest_of_object)
        return damaged(offset_of(at), "\"traceEvents\" stands twice; the events of the first are counted"), at;
      phase_ = Phase::events;
      return at + 3;
    }
    if (text_.scalar(at) == "traceEvents") no_array_at_ = offset_of(at + 2);
    if (value == '{' || value == '[') {
      behind_skipped_ = phase_;
      phase_ = Phase::skipping;
      depth_ = 0;
      return at + 2;
    }
    if (value == '}' || value == ']' || value == ',' || value == ':')
      return damaged(offset_of(at + 2), "a value is missing"), at;
    if (at + 3 >= text_.places.size() && !last) return at;
    return at + 3;
  }

  // Brackets are counted, whatever is in them: it is no part of the report.
  std::size_t skip(std::size_t at) {
    for (; at < text_.places.size(); ++at) {
      const char c = text_.first(at);
      if (c == '{' || c == '[') ++depth_;
      if ((c == '}' || c == ']') && --depth_ == 0) {
        phase_ = behind_skipped_;
        return at + 1;
      }
    }
    return at;
  }

  std::size_t element(std::size_t at) {
    const char c = text_.first(at);
    if (c == ']' && events_seen_ == 0) return close(at);
    if (c == ']' || c == ',') {
      warn("commas with no event behind them", offset_of(at));
      if (c == ']') return close(at);
      return at + 1;
    }
    EventNotes notes;
    const ValueEnd end = fields_.read(text_, at, notes);
    if (end.state == ValueEnd::State::incomplete) return at;
    ++events_seen_;
    phase_ = Phase::between;
    if (end.state == ValueEnd::State::complete) {
      TraceEvent& event = fields_.event();
      event.offset = offset_of(at);
      note(event, notes);
      ++reading_.events;
      take_(event);
      return end.token;
    }
    return pass_over(at, end);
  }

  // An event that is wrong: it is passed over by its brackets, over windows. Where they match, it alone is left out.
  std::size_t pass_over(std::size_t at, const ValueEnd& wrong) {
    phase_ = Phase::wrong_event;
    wrong_at_ = offset_of(wrong.token);
    wrong_why_ = wrong.why;
    open_.clear();
    return skip_wrong(at);
  }

  std::size_t skip_wrong(std::size_t at) {
    for (; at < text_.places.size(); ++at) {
      const char c = text_.first(at);
      if (c == '{' || c == '[') open_ += c;
      if (c == '}' || c == ']') {
        if (open_.empty() || (open_.back() == '{') != (c == '}')) return unclear(offset_of(at)), at;
        open_.pop_back();
      }
      if (!open_.empty()) continue;
      warn(std::string("events that are not as JSON has them are left out (") + wrong_why_ + ")", wrong_at_);
      phase_ = Phase::between;
      return at + 1;
    }
    return at;
  }

  // `read_to`: how far the text was passed over.
  void unclear(std::uint64_t read_to) {
    damaged(wrong_at_, std::string(wrong_why_) + ", and where that event ends is not clear");
    read_to_ = read_to;
  }

  std::size_t between(std::size_t at) {
    const char c = text_.first(at);
    if (c == ']') return close(at);
    if (c != ',') {
      // Without a comma: whatever is meant, the next event is there.
      if (c == '{') {
        warn("commas between events are missing", offset_of(at));
        phase_ = Phase::events;
        return element(at);
      }
      return damaged(offset_of(at), "a comma or the ] of the events is missing"), at;
    }
    phase_ = Phase::events;
    return at + 1;
  }

  std::size_t close(std::size_t at) {
    if (array_form_) return complete(at);
    phase_ = Phase::rest_of_object;
    return at + 1;
  }

  // The trace ends with token `at`.
  std::size_t complete(std::size_t at) {
    phase_ = Phase::after;
    read_to_ = offset_of(at) + 1;
    return at + 1;
  }

  void note(const TraceEvent& event, const EventNotes& notes) {
    if (notes.duplicate_key != 0) warn("events have a key twice; the last one counts", offset_of(notes.duplicate_key));
    if (notes.not_a_number != 0)
      warn("values are no numbers (NaN, Infinity ...) and are taken as unknown", offset_of(notes.not_a_number));
    if (notes.out_of_range != 0)
      warn(
          "numbers are out of range (times beyond 126 years in microseconds: nanoseconds? or ids that are not whole or "
          "beyond 2^64) and are taken as unknown",
          offset_of(notes.out_of_range));
    if (notes.impossible_duration != 0)
      warn("durations are negative, or longer than 13 days, and are taken as unknown",
           offset_of(notes.impossible_duration));
    const bool timed = event.kind != TraceKind::other && event.phase == 'X';
    if (!timed) return;
    const bool on_gpu =
        event.kind == TraceKind::kernel || event.kind == TraceKind::memory_copy || event.kind == TraceKind::memory_set;
    if (on_gpu && (!event.start_ns || !event.duration_ns)) ++reading_.lost_gpu_calls;
    if (!event.start_ns) warn("events have no time (ts)", event.offset);
    if (!event.duration_ns) warn("events have no duration (dur) and are left out of the times", event.offset);
  }

  static constexpr std::string_view kBlanks = " \t\r\n";

  TokenWindows& windows_;
  FunctionRef<void(const TraceEvent&)> take_;
  std::size_t largest_event_;
  bool done_ = false;
  std::optional<Error> error_;
  std::uint64_t read_to_ =
      std::numeric_limits<std::uint64_t>::max();  // where the trace, or what could be read of it, ends
  std::optional<std::uint64_t> behind_at_;        // the first byte behind the trace that is no blank
  std::optional<std::uint64_t> no_array_at_;      // a "traceEvents" that is none

  std::vector<std::uint64_t> replaced_;  // bytes that became "?" and were not said yet

  TokenText text_;          // what is walked: a window or the seam
  std::uint64_t base_ = 0;  // offset of its first byte
  TokenSeam seam_;
  EventReader fields_;
  std::uint64_t seam_offset_ = 0;
  std::size_t seam_at_ = 0;  // the token that the next try begins with
  Phase phase_ = Phase::start, behind_skipped_ = Phase::object;
  bool array_form_ = false, first_member_ = false;
  std::uint64_t wrong_at_ = 0;
  const char* wrong_why_ = "";
  std::string open_;  // brackets of the wrong event
  std::uint64_t depth_ = 0, events_seen_ = 0;
  TraceReading reading_;
};

// Windows that are made when they are asked for.
class InlineWindows final : public TokenWindows {
 public:
  InlineWindows(ByteSource& source, const WindowOptions& options) : cutter_(source, options) {}
  const TokenWindow& next() override {
    cutter_.next(window_);
    return window_;
  }

 private:
  WindowCutter cutter_;
  TokenWindow window_;
};

}  // namespace

Result<TraceReading> read_trace(TokenWindows& windows, FunctionRef<void(const TraceEvent&)> take,
                                const TraceReadOptions& options) {
  return Reader(windows, take, options).run();
}

Result<TraceReading> read_trace(ByteSource& source, FunctionRef<void(const TraceEvent&)> take,
                                const TraceReadOptions& options) {
  InlineWindows windows(source, {.window = options.window, .largest_token = options.largest_event});
  return read_trace(windows, take, options);
}

}  // namespace suture
