// See trace_reader.h. Tests: tests/unit/trace_reader_test.cc, tests/fuzz/trace_fuzz.cc.
//
// A window of bytes is cut between two tokens, its tokens are found, and they are walked. What begins in a window and does not end
// there (a key with its value, an event) begins the next one; brackets that are passed over are counted across windows.
#include "read/trace_reader.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include "base/text.h"
#include "read/json_tokens.h"
#include "read/trace_fields.h"

namespace suture {
namespace {

constexpr std::string_view kBom = "\xEF\xBB\xBF";

class Reader {
 public:
  Reader(ByteSource& source, FunctionRef<void(const TraceEvent&)> take, const TraceReadOptions& options)
      : source_(source), take_(take), options_(options), capacity_(std::max<std::size_t>(options.window, 64)) {
    buffer_ = std::make_unique<char[]>(capacity_);
  }

  Result<TraceReading> run() {
    while (!done_) {
      fill();
      if (base_ == 0 && !started_) {
        if (auto error = begin()) return *error;
      }
      window();
      if (auto error = std::exchange(error_, std::nullopt)) return *error;
    }
    if (phase_ == Phase::object && !reading_.damage && no_array_at_)
      return no_trace("holds a \"traceEvents\" that is no array (byte " + std::to_string(*no_array_at_) + ")",
                      "a trace is {\"traceEvents\": [...]} or [...]");
    if (phase_ == Phase::object && !reading_.damage)
      return no_trace("holds no \"traceEvents\"", "is it a trace of torch.profiler (export_chrome_trace)?");
    return std::move(reading_);
  }

 private:
  enum class Phase { start, object, skipping, events, wrong_event, between, after, rest_of_object };

  static Error no_trace(const std::string& what, const std::string& hint) {
    return {Exit::file_system, what, std::nullopt, hint};
  }

  // --- bytes ---------------------------------------------------------------------------------------------------------

  void fill() {
    while (filled_ < capacity_ && !ended_) {
      Result<std::size_t> got = source_.read(buffer_.get() + filled_, capacity_ - filled_);
      if (!got) {
        ended_ = true;
        source_error_ = got.error();
      } else if (*got == 0) {
        ended_ = true;
      } else {
        filled_ += *got;
      }
    }
    reading_.bytes = base_ + filled_;
  }

  void grow() {
    if (capacity_ >= options_.largest_event)
      return damaged(base_, "an event, or a string, is larger than " + std::to_string(options_.largest_event >> 20U) +
                                " MiB, or a quote is missing before it ends");
    auto larger = std::make_unique<char[]>(capacity_ * 2);
    std::memcpy(larger.get(), buffer_.get(), filled_);
    buffer_ = std::move(larger);
    capacity_ *= 2;
  }

  void drop(std::size_t size) {
    std::memmove(buffer_.get(), buffer_.get() + size, filled_ - size);
    filled_ -= size;
    base_ += size;
  }

  // The first bytes: a mark of their encoding, or none at all.
  std::optional<Error> begin() {
    started_ = true;
    const std::string_view bytes(buffer_.get(), filled_);
    if (bytes.empty())
      return source_error_ ? no_trace("cannot be read: " + source_error_->message, source_error_->hint)
                           : no_trace("is empty (0 bytes)", "did the profiler finish writing it?");
    if (bytes.starts_with("\xFF\xFE") || bytes.starts_with("\xFE\xFF"))
      return no_trace("is UTF-16; a trace is UTF-8", "convert it: iconv -f UTF-16 -t UTF-8");
    if (bytes.starts_with(kBom)) drop(kBom.size());
    return std::nullopt;
  }

  // --- windows -------------------------------------------------------------------------------------------------------

  void window() {
    if (phase_ == Phase::after) return behind();
    std::size_t size = filled_;
    if (!ended_) size = cut_between_tokens({buffer_.get(), filled_});
    if (size == 0 && !ended_) return grow();
    if (!tokens_of(size)) return;
    const bool last = ended_ && size == filled_;
    const std::size_t taken = walk(size, last);
    if (done_) return;
    if (last) return end_of_file(taken);
    if (taken == 0) return grow();
    drop(taken);
  }

  // What is behind the trace is passed over, and counted; it need not be text.
  void behind() {
    const std::size_t first = std::string_view(buffer_.get(), filled_).find_first_not_of(" \t\r\n");
    if (!behind_at_ && first != std::string_view::npos) behind_at_ = base_ + first;
    drop(filled_);
    if (ended_) end_of_file(0);
  }

  // Finds the tokens of the window's first `size` bytes; where a string has no end, of what stands before it.
  bool tokens_of(std::size_t& size) {
    while (true) {
      const JsonTokens::Verdict verdict = tokens_.find({buffer_.get(), size});
      if (verdict == JsonTokens::Verdict::good) return true;
      if (verdict == JsonTokens::Verdict::not_utf8) {
        replace_bad_utf8(size);
        continue;
      }
      const auto [begin, at] = broken_string({buffer_.get(), size});
      if (verdict == JsonTokens::Verdict::out_of_memory || begin == size) break;
      pending_ =
          TraceReading::Damage{base_ + at, at < size ? "a string holds a raw control character, or a quote is missing"
                                                     : "the file ends within a string"};
      size = begin;
      cut_filled_ = std::exchange(filled_, size);
      cut_ended_ = std::exchange(ended_, true);
    }
    damaged(base_, "the text cannot be split into tokens");
    return false;
  }

  // The string that a raw control character, or the end, stands in: its quote, and where that is.
  static std::pair<std::size_t, std::size_t> broken_string(std::string_view bytes) {
    std::size_t quote = 0;
    bool inside = false;
    bool escaped = false;  // outside of strings too, where no JSON has a backslash: so the tokens were found
    for (std::size_t at = 0; at < bytes.size(); ++at) {
      const char c = bytes[at];
      if (inside && static_cast<unsigned char>(c) < 0x20) return {quote, at};
      if (c == '"' && !escaped) {
        inside = !inside;
        if (inside) quote = at;
      }
      escaped = c == '\\' && !escaped;
    }
    return {inside ? quote : bytes.size(), bytes.size()};
  }

  // A byte that is no UTF-8 is read as "?": names lose a character, and nothing else.
  void replace_bad_utf8(std::size_t size) {
    std::size_t from = 0;
    while (const auto bad = first_bad_utf8({buffer_.get() + from, size - from})) {
      from += *bad;
      warn("bytes that are not UTF-8 are read as \"?\"", base_ + from);
      buffer_[from] = '?';
    }
  }

  void end_of_file(std::size_t taken) {
    if (phase_ == Phase::after && pending_) {  // the string that has no end is behind the trace
      pending_.reset();
      filled_ = cut_filled_;
      ended_ = cut_ended_;
      return drop(taken);
    }
    done_ = true;
    if (reading_.damage) return;
    if (behind_at_)
      reading_.warnings.push_back(
          {"bytes behind the end of the trace are not read", base_ + filled_ - *behind_at_, *behind_at_});
    const std::uint64_t at = base_ + taken;
    if (phase_ == Phase::wrong_event) {
      unclear();  // the first thing that was wrong, whatever follows from it
    } else if (pending_) {
      reading_.damage = pending_;
    } else if (source_error_) {
      reading_.damage = {base_ + filled_, source_error_->message};
    } else if (phase_ == Phase::start) {
      error_ = no_trace("holds nothing but blanks", "did the profiler finish writing it?");
    } else if (phase_ == Phase::skipping || (phase_ == Phase::object && taken < filled_)) {
      damaged(at, "the file ends before its JSON does");
    } else if (phase_ == Phase::events || phase_ == Phase::between) {
      const bool within = std::string_view(buffer_.get() + taken, filled_ - taken).find_first_not_of(" \t\r\n") !=
                          std::string_view::npos;
      damaged(within ? at : base_ + filled_,
              within ? "the file ends within an event" : "the file ends before the ] of its events");
    } else if (phase_ == Phase::rest_of_object) {
      damaged(base_ + filled_, "the file ends before its last }");
    }
  }

  void damaged(std::uint64_t offset, std::string why) {
    done_ = true;
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

  // Walks the tokens; returns how many of the `size` bytes are done with.
  std::size_t walk(std::size_t size, bool last) {
    text_ = {{buffer_.get(), size}, tokens_.places()};
    std::size_t at = 0;
    const std::size_t count = text_.places.size();
    while (at < count && !done_) {
      const std::size_t next = step(at, last);
      if (next == at) break;
      at = next;
    }
    return at < count ? text_.places[at] : size;
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
        behind_at_ = offset_of(at);
        return text_.places.size();
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
      if (phase_ == Phase::rest_of_object) {
        phase_ = Phase::after;
        return at + 1;
      }
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
    TraceEvent event;
    EventNotes notes;
    const ValueEnd end = read_event(text_, at, event, notes);
    if (end.state == ValueEnd::State::incomplete) return at;
    ++events_seen_;
    phase_ = Phase::between;
    if (end.state == ValueEnd::State::complete) {
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
        if (open_.empty() || (open_.back() == '{') != (c == '}')) return unclear(), at;
        open_.pop_back();
      }
      if (!open_.empty()) continue;
      warn(std::string("events that are not as JSON has them are left out (") + wrong_why_ + ")", wrong_at_);
      phase_ = Phase::between;
      return at + 1;
    }
    return at;
  }

  void unclear() { damaged(wrong_at_, std::string(wrong_why_) + ", and where that event ends is not clear"); }

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
    phase_ = array_form_ ? Phase::after : Phase::rest_of_object;
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

  ByteSource& source_;
  FunctionRef<void(const TraceEvent&)> take_;
  TraceReadOptions options_;
  std::unique_ptr<char[]> buffer_;
  std::size_t capacity_, filled_ = 0;
  std::uint64_t base_ = 0;  // offset of the window's first byte
  bool started_ = false, ended_ = false, done_ = false;
  std::optional<Error> source_error_, error_;
  std::optional<TraceReading::Damage> pending_;
  std::size_t cut_filled_ = 0;  // filled_ and ended_ as they were before the window was cut at a string without an end
  bool cut_ended_ = false;
  std::optional<std::uint64_t> behind_at_;    // the first byte behind the trace that is no blank
  std::optional<std::uint64_t> no_array_at_;  // a "traceEvents" that is none

  JsonTokens tokens_;
  TokenText text_;
  Phase phase_ = Phase::start, behind_skipped_ = Phase::object;
  bool array_form_ = false, first_member_ = false;
  std::uint64_t wrong_at_ = 0;
  const char* wrong_why_ = "";
  std::string open_;  // brackets of the wrong event
  std::uint64_t depth_ = 0, events_seen_ = 0;
  TraceReading reading_;
};

}  // namespace

Result<TraceReading> read_trace(ByteSource& source, FunctionRef<void(const TraceEvent&)> take,
                                const TraceReadOptions& options) {
  return Reader(source, take, options).run();
}

}  // namespace suture
