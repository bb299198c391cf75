// Reading a trace: whatever is in it is handed over, whatever is wrong is said with its offset.
#include "read/trace_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "read/json_tokens.h"
#include "support/trace_text.h"

namespace suture {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct Got {
  std::vector<std::string> names;
  std::vector<std::uint64_t> offsets;
  std::optional<TraceReading> reading;
  std::string error;
};

Got got(const std::string& text, std::size_t window = 1U << 18U, std::size_t piece = 1U << 20U,
        std::optional<Error> source_error = std::nullopt) {
  PieceSource source(text, piece, std::move(source_error));
  Got it;
  const auto take = [&it](const TraceEvent& event) {
    it.names.emplace_back(event.name);
    it.offsets.push_back(event.offset);
  };
  Result<TraceReading> reading = read_trace(source, take, {.window = window, .largest_event = std::size_t{4} << 20U});
  if (reading) {
    it.reading = *std::move(reading);
  } else {
    it.error = reading.error().message;
  }
  return it;
}

std::string names(const std::vector<std::string>& list, const std::string& before = "[",
                  const std::string& after = "]") {
  std::string text = before;
  for (std::size_t i = 0; i < list.size(); ++i)
    text += (i > 0 ? "," : "") + (R"({"ph":"X","name":")" + list[i] + "\"}");
  return text + after;
}

TEST(TraceReader, BothForms) {
  EXPECT_THAT(got(names({"a", "b"})).names, ElementsAre("a", "b"));
  EXPECT_THAT(got(names({"a", "b"}, "{\"x\": {\"traceEvents\": [1, {}]}, \"y\": null, \"traceEvents\": [",
                        "], \"z\": [[], {}]}"))
                  .names,
              ElementsAre("a", "b"));
  EXPECT_THAT(got("[]").names, ElementsAre());
  EXPECT_FALSE(got("[]").reading->damage);
  EXPECT_THAT(got(names({"a"}, "{\"traceEvents\":[", "]}")).reading->warnings, ElementsAre());
}

TEST(TraceReader, WindowsOfEverySizeReadTheSame) {
  const std::string line =
      trace_of({op("aten::mm", 1, 2, 3, R"("Input Dims": [[1, 2], [2, 3]], "Input type": ["float", "float"])"),
                kernel(R"(a \"quoted\\\" {kernel})", 5, 1.5, 3), span("step[0]", 0, 9)});
  std::string flat;
  for (const char c : line) flat += c == '\n' ? ' ' : c;
  for (const std::string& text : {line, flat}) {
    const Got whole = got(text);
    ASSERT_EQ(whole.names.size(), 3U);
    for (std::size_t window = 64; window < 640; ++window) {
      for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, std::size_t{4096}}) {
        const Got cut = got(text, window, piece);
        ASSERT_TRUE(cut.reading) << window << " " << cut.error;
        EXPECT_EQ(cut.names, whole.names) << window;
        EXPECT_EQ(cut.offsets, whole.offsets) << window;
        EXPECT_FALSE(cut.reading->damage) << window << " " << cut.reading->damage->why;
        EXPECT_TRUE(cut.reading->warnings.empty()) << window;
      }
    }
  }
}

// What is told of a reading, but for how many bytes were looked at.
std::string told(const Got& it) {
  if (!it.reading) return it.error;
  std::string all = std::to_string(it.reading->events) + " " + std::to_string(it.reading->lost_gpu_calls);
  for (std::size_t i = 0; i < it.names.size(); ++i) all += "\n" + std::to_string(it.offsets[i]) + " " + it.names[i];
  for (const TraceWarning& each : it.reading->warnings)
    all += "\n" + each.what + " " + std::to_string(each.count) + " " + std::to_string(each.offset);
  const auto& damage = it.reading->damage;
  return all + (damage ? "\n" + std::to_string(damage->offset) + " " + damage->why : "");
}

// Offsets, warnings and damage too, of text that is wrong at any one byte. Windows end wherever that byte is.
TEST(TraceReader, WindowsOfEverySizeTellTheSameOfAWrongByte) {
  const std::string lines = trace_of({op("aten::mm", 1, 2, 3, R"("Input Dims": [[1, 2], [2, 3]])"),
                                      kernel(R"(a \"q\\\" {k})", 5, 1.5, 3), span("step[0]", 0, 9)}) +
                            " [\"behind\"";
  std::string flat;
  for (const char c : lines) flat += c == '\n' ? ' ' : c;
  for (const std::string& text : {lines, flat}) {
    for (std::size_t at = 0; at < text.size(); ++at) {
      for (const char c : {'\0', '"', '{', '}', ']', ',', ':', '\\', 'x', '\xFF', '\n'}) {
        std::string bad = text;
        bad[at] = c;
        const std::string whole = told(got(bad));
        for (std::size_t window = 64 + at % 17; window < 200; window += 17)
          ASSERT_EQ(told(got(bad, window, 50)), whole) << at << " " << static_cast<int>(c) << " " << window;
      }
    }
  }
}

TEST(TraceReader, WindowsOfEverySizeTellTheSameOfEveryTruncation) {
  const std::string text =
      names({"a", "b\xFF", "c"}, "{\"v\": [1, 2], \"traceEvents\": [\n", "\n], \"n\": {\"t\": 1}}  x");
  for (std::size_t size = 0; size <= text.size(); ++size) {
    const std::string whole = told(got(text.substr(0, size)));
    for (std::size_t window = 64; window < 128; ++window)
      ASSERT_EQ(told(got(text.substr(0, size), window, 7)), whole) << size << " " << window;
  }
}

TEST(TraceReader, EveryTruncationIsDamageAndKeepsWhatCameBefore) {
  const std::string text = names({"a", "b", "c"}, "{\"v\": 1, \"traceEvents\": [\n", "\n], \"n\": \"t\"}");
  for (std::size_t size = 1; size < text.size(); ++size) {
    const Got cut = got(text.substr(0, size));
    if (!cut.reading) continue;  // before the events: a clear error
    ASSERT_TRUE(cut.reading->damage) << size;
    EXPECT_LE(cut.reading->damage->offset, size);
    const std::size_t whole =
        static_cast<std::size_t>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(size), '}'));
    EXPECT_EQ(cut.names.size(), std::min<std::size_t>(whole, 3)) << size;
  }
}

// A byte turned into another: the events are the same, or something is said.
TEST(TraceReader, NoByteChangesWhatIsReadInSilence) {
  const std::string text = trace_of({op("a", 1, 2, 3), kernel("b", 5, 1.5, 3), span("c", 0, 9)});
  const Got whole = got(text);
  for (std::size_t at = 0; at < text.size(); ++at) {
    for (const char c : {'\0', '"', '{', '}', '[', ']', ',', ':', '\\', 'x', '\xFF', '\n'}) {
      std::string bad = text;
      bad[at] = c;
      const Got it = got(bad);
      if (!it.reading) {
        EXPECT_FALSE(it.error.empty());
        continue;
      }
      if (it.names.size() < whole.names.size()) {
        EXPECT_TRUE(it.reading->damage || !it.reading->warnings.empty()) << at << " " << c;
      }
    }
  }
}

TEST(TraceReader, AnEventThatIsWrongInItselfIsLeftOutAlone) {
  const std::string text = R"([{"name":"a"},{"name" "b"},{"name":"c","args":{"x":}},{"name":"d",},17,{"name":"e"}])";
  const Got it = got(text);
  EXPECT_THAT(it.names, ElementsAre("a", "e"));
  ASSERT_FALSE(it.reading->damage);
  std::uint64_t left_out = 0;
  for (const TraceWarning& each : it.reading->warnings) left_out += each.count;
  EXPECT_EQ(left_out, 4U);
  EXPECT_EQ(it.reading->warnings.front().offset, text.find("\"b\""));
}

TEST(TraceReader, AMissingCommaCostsNothing) {
  const Got it = got(R"([{"name":"a"} {"name":"b"}{"name":"c"},,{"name":"d"}])");
  EXPECT_THAT(it.names, ElementsAre("a", "b", "c", "d"));
  EXPECT_FALSE(it.reading->damage);
  EXPECT_EQ(it.reading->warnings.size(), 2U);
}

TEST(TraceReader, BracketsThatDoNotMatchEndTheReading) {
  const std::string text = R"([{"name":"a"},{"name":"b","args":{"x":[1,2}},{"name":"c"}])";
  const Got it = got(text);
  EXPECT_THAT(it.names, ElementsAre("a"));
  ASSERT_TRUE(it.reading->damage);
  EXPECT_EQ(it.reading->damage->offset, text.find("}},{\"name\":\"c\""));
  EXPECT_THAT(it.reading->damage->why, HasSubstr("bracket"));
}

TEST(TraceReader, ALostQuoteIsFoundAtTheNextLine) {
  const std::string text = "[{\"name\":\"a\"},\n{\"name\":\"b},\n{\"name\":\"c\"}]";
  const Got it = got(text);
  EXPECT_THAT(it.names, ElementsAre("a"));
  ASSERT_TRUE(it.reading->damage);
  EXPECT_EQ(it.reading->damage->offset, text.find("},\n{\"name\":\"c") + 2);
}

TEST(TraceReader, WhatIsNoTraceIsAClearError) {
  EXPECT_THAT(got("").error, HasSubstr("is empty (0 bytes)"));
  EXPECT_THAT(got("  \n ").error, HasSubstr("nothing but blanks"));
  EXPECT_THAT(got("hello").error, HasSubstr("neither { nor ["));
  EXPECT_THAT(got("{}").error, HasSubstr("no \"traceEvents\""));
  EXPECT_THAT(got("{\"traceEvents\": {}}").error, HasSubstr("\"traceEvents\" that is no array (byte 16)"));
  EXPECT_THAT(got(std::string("\xFF\xFE{\0", 4)).error, HasSubstr("UTF-16"));
}

TEST(TraceReader, BomAndTrailingBytes) {
  const Got it = got("\xEF\xBB\xBF" + names({"a"}));
  EXPECT_THAT(it.names, ElementsAre("a"));
  EXPECT_EQ(it.offsets.front(), 4U);
  EXPECT_TRUE(it.reading->warnings.empty());
  const std::string text = names({"a"}) + " [1]";
  const Got more = got(text);
  EXPECT_THAT(more.names, ElementsAre("a"));
  ASSERT_EQ(more.reading->warnings.size(), 1U);
  EXPECT_EQ(more.reading->warnings[0].offset, text.find("[1]"));
  EXPECT_EQ(more.reading->warnings[0].count, 3U);
}

// By bytes, whatever the window, and whatever it is: a string that has no end damages nothing.
TEST(TraceReader, BytesBehindTheEndAreCounted) {
  const std::string trace = names({"a"}) + "\n";
  for (const std::string& rest :
       {std::string(1000, 'x'), "\"" + std::string(1000, '\1'), std::string(999, ']') + "\""}) {
    for (const std::size_t window : {std::size_t{64}, std::size_t{100}, std::size_t{1} << 18U}) {
      const Got it = got(trace + rest, window);
      EXPECT_THAT(it.names, ElementsAre("a"));
      EXPECT_FALSE(it.reading->damage);
      ASSERT_EQ(it.reading->warnings.size(), 1U) << rest.substr(0, 3);
      EXPECT_EQ(it.reading->warnings[0].count, rest.size());
      EXPECT_EQ(it.reading->warnings[0].offset, trace.size());
    }
  }
}

TEST(TraceReader, BytesThatAreNotUtf8) {
  const std::string text = "[{\"name\":\"caf\xE9\"},{\"name\":\"b\"}]";
  const Got it = got(text);
  EXPECT_THAT(it.names, ElementsAre("caf?", "b"));
  ASSERT_EQ(it.reading->warnings.size(), 1U);
  EXPECT_EQ(it.reading->warnings[0].offset, text.find('\xE9'));
}

TEST(TraceReader, ASecondTraceEventsIsDamage) {
  const std::string text = names({"a"}, "{\"traceEvents\": [", "], \"traceEvents\": [{\"name\":\"b\"}]}");
  const Got it = got(text);
  EXPECT_THAT(it.names, ElementsAre("a"));
  ASSERT_TRUE(it.reading->damage);
  EXPECT_EQ(it.reading->damage->offset, text.rfind("\"traceEvents\""));
}

TEST(TraceReader, TheSourcesErrorIsDamageBehindWhatItGave) {
  const Error error{Exit::file_system, "the stream is damaged", std::nullopt, ""};
  const Got it = got(names({"a", "b"}, "[", ","), 1U << 18U, 5, error);
  EXPECT_THAT(it.names, ElementsAre("a", "b"));
  ASSERT_TRUE(it.reading->damage);
  EXPECT_EQ(it.reading->damage->why, "the stream is damaged");
  EXPECT_EQ(got("", 1U << 18U, 5, error).error, "cannot be read: the stream is damaged");
}

TEST(TraceReader, AnEventLargerThanTheWindowIsRead) {
  const Got it = got(names({"a", std::string(5000, 'n'), "b"}), 64);
  ASSERT_EQ(it.names.size(), 3U);
  EXPECT_EQ(it.names[1].size(), 5000U);
  const Got large = got(names({"a", std::string(std::size_t{5} << 20U, 'n'), "b"}), 64);
  EXPECT_EQ(large.names.size(), 1U);
  EXPECT_THAT(large.reading->damage->why, HasSubstr("larger than 4 MiB"));
}

struct Fields {
  TraceEvent event;
  std::vector<TraceWarning> warnings;
};
Fields fields(const std::string& event) {
  PieceSource source("[" + event + "]");
  Fields it;
  const auto take = [&it](const TraceEvent& each) { it.event = each; };
  const Result<TraceReading> reading = read_trace(source, take);
  it.warnings = reading->warnings;
  return it;
}

TEST(TraceReader, TimesAndIds) {
  const Fields it = fields(
      R"({"args":{"external id":9007199254740993,"correlation":18446744073709551615},"dur":1.25,"ts":-5.5,"cat":"kernel","ph":"X"})");
  EXPECT_EQ(it.event.kind, TraceKind::kernel);
  EXPECT_EQ(it.event.start_ns, -5500);
  EXPECT_EQ(it.event.duration_ns, 1250);
  EXPECT_EQ(it.event.external, 9007199254740993U);
  EXPECT_EQ(it.event.correlation, 18446744073709551615U);
  EXPECT_TRUE(it.warnings.empty());
}

TEST(TraceReader, ValuesThatAreNoneAreSaid) {
  const auto warned = [](const std::string& event, const std::string& what) {
    const Fields it = fields(event);
    for (const TraceWarning& each : it.warnings) {
      if (each.what.find(what) != std::string::npos) return true;
    }
    return false;
  };
  EXPECT_TRUE(warned(R"({"ph":"X","cat":"kernel","ts":NaN,"dur":1})", "no numbers"));
  EXPECT_TRUE(warned(R"({"ph":"X","cat":"kernel","ts":1,"dur":Infinity})", "no numbers"));
  EXPECT_TRUE(warned(R"({"ph":"X","cat":"kernel","ts":1,"dur":-Infinity})", "no duration"));
  EXPECT_TRUE(warned(R"({"ph":"X","cat":"kernel","ts":1})", "no duration"));
  EXPECT_TRUE(warned(R"({"ph":"X","cat":"kernel","ts":1,"dur":-1})", "negative"));
  EXPECT_TRUE(warned(R"({"ph":"X","cat":"cpu_op","dur":1})", "no time"));
  EXPECT_TRUE(warned(R"({"ph":"X","cat":"kernel","ts":1,"dur":1,"dur":2})", "twice"));
  EXPECT_EQ(fields(R"({"ph":"X","cat":"kernel","ts":1,"dur":1,"dur":2})").event.duration_ns, 2000);
  EXPECT_FALSE(warned(R"({"ph":"i","ts":1,"name":"x"})", ""));
  const std::string twice = R"({"ph":"X","cat":"kernel","args":{"External id":1,"stream":7},"args":{"device":0}})";
  EXPECT_TRUE(warned(twice, "twice"));
  EXPECT_EQ(fields(twice).event.external, std::nullopt);  // none of the first one's
}

TEST(TraceReader, ASourceThatFailsWithinAStringIsWhatEndedTheFile) {
  const Error error{Exit::file_system, "the stream is not complete", std::nullopt, ""};
  for (const std::size_t window : {64U, 1U << 18U}) {
    const Got it = got(R"([{"ph":"X","name":"a"},{"ph":"X","name":"b)", window, 7, error);
    EXPECT_THAT(it.names, ElementsAre("a"));
    ASSERT_TRUE(it.reading && it.reading->damage);
    EXPECT_EQ(it.reading->damage->why, "the stream is not complete");
    EXPECT_EQ(it.reading->damage->offset, 42U);
    // A string that was broken before is told as that.
    const Got broken = got("[{\"ph\":\"X\",\"name\":\"a\n\"},{\"ph\":\"X\",\"name\":\"b", window, 7, error);
    ASSERT_TRUE(broken.reading && broken.reading->damage);
    EXPECT_THAT(broken.reading->damage->why, HasSubstr("raw control character"));
  }
}

TEST(TraceReader, AByteThatIsNotUtf8AndIsTheDamageIsTold) {
  const Got it = got("[{\"ph\":\"X\",\"name\":\"a\"}\xFF{\"ph\":\"X\",\"name\":\"b\"}]");
  ASSERT_TRUE(it.reading && it.reading->damage);
  EXPECT_EQ(it.reading->damage->offset, 22U);
  ASSERT_EQ(it.reading->warnings.size(), 1U);
  EXPECT_EQ(it.reading->warnings[0].offset, 22U);
}

// Every field of every event, as text.
std::vector<std::string> all_fields(const std::string& text, bool forms,
                                    std::vector<TraceWarning>* warnings = nullptr) {
  PieceSource source(text);
  std::vector<std::string> all;
  const auto take = [&all](const TraceEvent& event) { all.push_back(fields_of(event)); };
  const Result<TraceReading> reading = read_trace(source, take, {.forms = forms});
  if (reading && warnings != nullptr) *warnings = reading->warnings;
  return all;
}

std::string list_of(const std::vector<std::string>& events) {
  std::string text = "[";
  for (const std::string& each : events) text += (text.size() > 1 ? ",\n" : "") + each;
  return text + "]";
}

// Values as no profiler should write them, each between events of the form that it nearly is.
TEST(TraceReader, AFormTellsWhatAWalkTells) {
  const std::string usual =
      R"({"ph": "X", "cat": "kernel", "name": "k", "pid": 1, "tid": 7, "ts": 10.250, "dur": 2.5,
          "args": {"External id": 4, "queued": 0, "device": 0, "stream": 7, "correlation": 9, "grid": [4, 30, 1], "x": 1.5}})";
  std::vector<std::string> events = {usual, usual, usual};
  for (const std::string from : {"10.250", "2.5", "4,", "9,", "1.5", "0, \"stream", "\"k\"", "[4"}) {
    for (const std::string to :
         {"1", "-1", "0", "\"1\"", "NaN", "[1]", "{\"a\": 1}", "1e3", "1e400", "01", "1 ", "null", "-",
          "18446744073709551615", "123456789012345.678", "12345678901234567890.5", "99999999"}) {
      std::string odd = usual;
      const char behind = from.back();
      std::string value = from;
      if (behind == ',') value.pop_back();
      if (from == "0, \"stream") value = "0";
      const std::size_t at = odd.find(from);
      odd.replace(at, value == "[4" ? 2 : value.size(), value == "[4" ? "[" + std::string(to) : to);
      events.insert(events.end(), {odd, odd, usual, usual});
    }
  }
  std::vector<TraceWarning> walked, told;
  const std::vector<std::string> by_form = all_fields(list_of(events), true, &told);
  const std::vector<std::string> by_walk = all_fields(list_of(events), false, &walked);
  ASSERT_EQ(by_form.size(), by_walk.size());
  for (std::size_t i = 0; i < by_form.size(); ++i) EXPECT_EQ(by_form[i], by_walk[i]);
  ASSERT_EQ(told.size(), walked.size());
  EXPECT_GT(told.size(), 3U);
  for (std::size_t i = 0; i < told.size(); ++i) {
    EXPECT_EQ(told[i].what, walked[i].what);
    EXPECT_EQ(told[i].count, walked[i].count);
    EXPECT_EQ(told[i].offset, walked[i].offset);
  }
}

TEST(TraceReader, AFormWithAnyByteWrongTellsWhatAWalkTells) {
  const std::string usual = op("aten::mm", 1, 2, 3, R"("Input Dims": [[1, 2], []], "Ev Idx": 7)");
  for (std::size_t at = 0; at < usual.size(); ++at) {
    for (const char c : {'"', '{', '}', ']', ',', ':', '\\', 'x', '1', '-', ' ', '\n'}) {
      std::string bad = usual;
      bad[at] = c;
      const std::string text = list_of({usual, usual, usual, bad, usual, bad, bad, usual});
      ASSERT_EQ(all_fields(text, true), all_fields(text, false)) << at << c;
    }
  }
}

// More forms than are kept: those that come again are told from those that took their place.
TEST(TraceReader, FormsThatWereForgotten) {
  constexpr int kNames = 1500;
  std::vector<std::string> events;
  for (int i = 0; i < 2 * kNames; ++i) {
    const std::string name = "op" + std::to_string(i % kNames) + std::string(1000, 'x');
    for (int j = 0; j < 8; ++j) events.push_back(op(name, i, 1, i));
  }
  const std::string text = list_of(events);
  EXPECT_EQ(all_fields(text, true), all_fields(text, false));
  PieceSource source(text);
  std::map<std::uint32_t, std::string> names;
  (void)read_trace(source, [&](const TraceEvent& event) {
    if (event.form == 0) return;
    const auto [found, added] = names.try_emplace(event.form, event.name);
    EXPECT_EQ(found->second, event.name);
  });
  EXPECT_GT(names.size(), std::size_t{kNames});  // they got new numbers
}

// Events that do not repeat are walked, and those that do are told by their form again.
TEST(TraceReader, FormsThatAreNotExpectedForAWhile) {
  std::vector<std::string> events;
  for (int i = 0; i < 60000; ++i) events.push_back(op("op" + std::to_string(i < 3000 ? i : 0), i, 1, i));
  const std::string text = list_of(events);
  EXPECT_EQ(all_fields(text, true), all_fields(text, false));
  PieceSource source(text);
  std::size_t told = 0;
  (void)read_trace(source, [&told](const TraceEvent& event) { told += event.form != 0 ? 1 : 0; });
  EXPECT_GT(told, 30000U);
  EXPECT_LT(told, 57000U);
}

TEST(JsonTokens, CutsBetweenTokens) {
  EXPECT_EQ(cut_between_tokens("{\"a\": 1,\n \"b"), 9U);
  EXPECT_EQ(cut_between_tokens("{\"a\": \"b\\\"c\", 12"), std::string_view("{\"a\": \"b\\\"c\"").size());
  EXPECT_EQ(cut_between_tokens("{\"a\": \"unclosed"), 6U);
  EXPECT_EQ(cut_between_tokens("[1, 2, 3"), 7U);
  EXPECT_EQ(cut_between_tokens("[1, 23\"4"), 4U);  // the quote is a part of the token before it
  EXPECT_EQ(cut_between_tokens("\"unclosed"), 0U);
}

}  // namespace
}  // namespace suture
