// Windows of tokens: put together, they are the text and its tokens, wherever it is cut; what is behind a broken string comes raw.
#include "read/token_windows.h"

#include <gtest/gtest.h>

#include "effects/windows_ahead.h"
#include "support/trace_text.h"

namespace suture {
namespace {

struct Cut {
  std::string text, raw;
  std::vector<std::uint64_t> tokens, replaced;
  std::size_t windows = 0;
  std::optional<TokenWindow::Broken> broken;
  std::optional<Error> error;
};

void add(Cut& it, const TokenWindow& window) {
  ++it.windows;
  EXPECT_EQ(window.offset, it.text.size() + it.raw.size());
  EXPECT_FALSE(window.raw && !window.tokens.empty());
  (window.raw ? it.raw : it.text) += window.bytes();
  for (const std::uint32_t place : window.tokens) it.tokens.push_back(window.offset + place);
  for (const std::uint32_t place : window.replaced) it.replaced.push_back(window.offset + place);
  if (window.broken) it.broken = window.broken;
  if (window.last) it.error = window.error;
}

Cut cut(const std::string& text, std::size_t size, std::size_t piece = 1U << 20U, std::optional<Error> error = {}) {
  PieceSource source(text, piece, std::move(error));
  WindowCutter cutter(source, {.window = size, .largest_token = 4096});
  Cut it;
  TokenWindow window;
  do {
    cutter.next(window);
    add(it, window);
  } while (!window.last);
  return it;
}

Cut cut_ahead(const std::string& text, std::size_t size, std::size_t piece, std::optional<Error> error = {}) {
  PieceSource source(text, piece, std::move(error));
  WindowsAhead windows(source, {.window = size, .largest_token = 4096});
  Cut it;
  for (bool last = false; !last;) {
    const TokenWindow& window = windows.next();
    add(it, window);
    last = window.last;
  }
  return it;
}

std::string sample(bool lines) {
  std::string text =
      trace_of({op("aten::mm", 1, 2, 3, R"("Input Dims": [[1, 2], [2, 3]])"),
                kernel(R"(a \"q\\\" {k}, [1])", 5, 1.5, 3), span("step[0]", 0, 9), "{\"a\":tru\"e\"x 1\"b\"}"});
  for (char& c : text) c = c == '\n' && !lines ? ' ' : c;
  return text;
}

TEST(TokenWindows, PutTogetherTheyAreTheWhole) {
  for (const bool lines : {true, false}) {
    const std::string text = sample(lines);
    const Cut whole = cut(text, 4096);
    ASSERT_GT(whole.tokens.size(), 100U);
    for (std::size_t size = 64; size < text.size() + 2; ++size) {
      const Cut it = cut(text, size, 1 + size % 97);
      EXPECT_EQ(it.text, text) << size;
      EXPECT_EQ(it.tokens, whole.tokens) << size;
      EXPECT_FALSE(it.broken || it.error) << size;
    }
  }
}

TEST(TokenWindows, AheadTheyAreTheSame) {
  const std::string text = sample(true);
  for (std::size_t size = 64; size < 200; ++size) {
    const Cut here = cut(text, size), ahead = cut_ahead(text, size, 31);
    EXPECT_EQ(ahead.text, here.text);
    EXPECT_EQ(ahead.tokens, here.tokens);
    EXPECT_EQ(ahead.windows, here.windows);
  }
}

TEST(TokenWindows, ATokenLargerThanTheWindowMakesItLarger) {
  const std::string text = "[\"" + std::string(3000, 'x') + "\", 1]";
  const Cut it = cut(text, 64);
  EXPECT_EQ(it.text, text);
  EXPECT_EQ(it.tokens.size(), 5U);
  const Cut large = cut("[\"" + std::string(9000, 'x') + "\", 1]", 64);
  ASSERT_TRUE(large.broken);
  EXPECT_TRUE(large.broken->too_large);
  EXPECT_EQ(large.broken->offset, 1U);
  EXPECT_EQ(large.text, "[");
  EXPECT_EQ(large.raw.size(), 9006U);
}

TEST(TokenWindows, WhatIsBehindABrokenStringComesRaw) {
  const std::string text = "[1, \"a\",\n \"b\n\", 2,\n" + std::string(500, '"');
  for (const std::size_t size : {64U, 100U, 4096U}) {
    for (const bool ahead : {false, true}) {
      const Cut it = ahead ? cut_ahead(text, size, 7) : cut(text, size, 7);
      ASSERT_TRUE(it.broken) << size;
      EXPECT_EQ(it.broken->offset, text.find("\n\", 2"));
      EXPECT_EQ(it.text, "[1, \"a\",\n ");
      EXPECT_EQ(it.text + it.raw, text);
    }
  }
  const Cut open = cut("[1, \"abc", 64);
  EXPECT_EQ(open.broken->offset, 8U);
  EXPECT_EQ(open.broken->why, "the file ends within a string");
}

TEST(TokenWindows, BytesThatAreNotUtf8AreReplaced) {
  const std::string text = "[\"a\xFF\", \"\xC3\xA9\", \"\xE2\x82\"]";
  const Cut it = cut(text, 64);
  EXPECT_EQ(it.text, "[\"a?\", \"\xC3\xA9\", \"??\"]");
  EXPECT_EQ(it.replaced, (std::vector<std::uint64_t>{text.find('\xFF'), text.find('\xE2'), text.find('\x82')}));
}

TEST(TokenWindows, MarksOfTheEncoding) {
  PieceSource marked("\xEF\xBB\xBF[]");
  WindowCutter cutter(marked, {});
  TokenWindow window;
  cutter.next(window);
  EXPECT_EQ(window.offset, 3U);
  EXPECT_EQ(window.bytes(), "[]");
  EXPECT_TRUE(window.last);
  EXPECT_EQ(cut(std::string("\xFF\xFE[\0]\0", 6), 64).raw.size(), 6U);
}

TEST(TokenWindows, AnErrorOfTheSourceIsBehindWhatItGave) {
  const Error error{Exit::file_system, "the stream is damaged", std::nullopt, ""};
  for (const bool ahead : {false, true}) {
    const Cut it = ahead ? cut_ahead(sample(true), 64, 5, error) : cut(sample(true), 64, 5, error);
    EXPECT_EQ(it.text, sample(true));
    ASSERT_TRUE(it.error);
    EXPECT_EQ(it.error->message, "the stream is damaged");
  }
}

// --- the thread --------------------------------------------------------------------------------------------------------

class EndlessSource final : public ByteSource {
 public:
  Result<std::size_t> read(char* into, std::size_t room) override {
    std::fill_n(into, room, ' ');
    return room;
  }
};

TEST(WindowsAhead, WhoStopsEarlyStopsTheThread) {
  for (int taken = 0; taken < 6; ++taken) {
    EndlessSource source;
    WindowsAhead windows(source, {.window = 1000, .largest_token = 4096});
    for (int i = 0; i < taken; ++i) EXPECT_EQ(windows.next().offset, static_cast<std::uint64_t>(i) * 1000);
  }
}

class ThrowingSource final : public ByteSource {
 public:
  Result<std::size_t> read(char* into, std::size_t room) override {
    if (++reads_ > 3) throw std::runtime_error("no memory");
    std::fill_n(into, room, '\n');
    return room;
  }

 private:
  int reads_ = 0;
};

TEST(WindowsAhead, AnExceptionIsAnErrorBehindWhatCame) {
  ThrowingSource source;
  WindowsAhead windows(source, {.window = 100, .largest_token = 4096});
  for (std::uint64_t i = 0; i < 3; ++i) EXPECT_EQ(windows.next().end(), (i + 1) * 100);
  const TokenWindow& last = windows.next();
  EXPECT_TRUE(last.last);
  EXPECT_EQ(last.offset, 300U);
  EXPECT_EQ(last.error->message, "reading ended: no memory");
}

// The whole reading on two threads: nothing differs, and damage ends it whatever the thread is at.
TEST(WindowsAhead, ATraceIsReadAsOnOneThread) {
  std::vector<std::string> events;
  for (int i = 0; i < 200; ++i) events.push_back(kernel("k" + std::to_string(i), i, 0.5, i));
  const std::string whole = trace_of(events);
  std::string damaged = whole;
  damaged[damaged.find("\"k100\"")] = '}';
  for (const std::string& text : {whole, damaged}) {
    for (const std::size_t window : {64U, 300U, 100000U}) {
      std::vector<std::uint64_t> here, ahead;
      PieceSource one(text), other(text, 77);
      const auto reading = read_trace(one, [&here](const TraceEvent& event) { here.push_back(event.offset); });
      WindowsAhead windows(other, {.window = window, .largest_token = 1U << 20U});
      const auto threaded = read_trace(windows, [&ahead](const TraceEvent& event) { ahead.push_back(event.offset); });
      EXPECT_EQ(here, ahead);
      EXPECT_EQ(here.size(), &text == &whole ? 200U : here.size());
      ASSERT_EQ(reading->damage.has_value(), threaded->damage.has_value());
      if (reading->damage) {
        EXPECT_EQ(reading->damage->offset, threaded->damage->offset);
      }
    }
  }
}

}  // namespace
}  // namespace suture
