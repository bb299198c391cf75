// Inflating as a stream: any cut of input and room gives the same bytes, and an early end or a wrong byte is an error.
#include "read/inflate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include "effects/byte_stream.h"
#include "effects/windows_ahead.h"
#include "support/memory_file_system.h"
#include "support/trace_text.h"

namespace suture {
namespace {

using testing::HasSubstr;

std::string gzipped(const std::string& text) {
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, text.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

struct Inflated {
  std::string text, error;
  std::uint64_t garbage = Inflater::npos;
};

Inflated inflated(const std::string& bytes, std::size_t piece, std::size_t room) {
  const std::unique_ptr<Inflater> inflater = make_inflater(packing_of(bytes));
  Inflated it;
  std::string out(room, '\0');
  for (std::size_t at = 0;;) {
    const std::string_view in = std::string_view(bytes).substr(at, piece);
    const Result<Inflater::Step> step = inflater->step(in, out.data(), room);
    if (!step) {
      it.error = step.error().message;
      return it;
    }
    EXPECT_LE(step->taken, in.size());
    EXPECT_LE(step->made, room);
    at += step->taken;
    it.text.append(out, 0, step->made);
    if (in.empty() && step->made == 0) break;
  }
  const Status whole = inflater->finish();
  if (!whole) it.error = whole.error().message;
  it.garbage = inflater->garbage_at();
  return it;
}

std::string sample() {
  std::string text;
  for (int i = 0; i < 3000; ++i) text += "{\"name\": \"kernel " + std::to_string(i * 7919 % 1000) + "\"},\n";
  return text;
}

TEST(Inflate, AnyCutGivesTheSameBytes) {
  const std::string text = sample(), bytes = gzipped(text);
  for (const std::size_t piece : {1U, 2U, 17U, 1000U, 1000000U}) {
    for (const std::size_t room : {1U, 13U, 4096U, 1000000U}) {
      if (piece * room < 20) continue;
      const Inflated it = inflated(bytes, piece, room);
      EXPECT_EQ(it.text, text) << piece << " " << room;
      EXPECT_EQ(it.error, "");
    }
  }
}

TEST(Inflate, SeveralMembersAreOneStream) {
  const std::string bytes = gzipped("first ") + gzipped("") + gzipped("second") + std::string(512, '\0');
  for (const std::size_t piece : {1U, 7U, 30U, 4096U}) {
    const Inflated it = inflated(bytes, piece, 64);
    EXPECT_EQ(it.text, "first second") << piece;
    EXPECT_EQ(it.error, "");
    EXPECT_EQ(it.garbage, Inflater::npos);
  }
}

TEST(Inflate, GarbageBehindAMemberIsSaidWithItsOffset) {
  const std::string member = gzipped("text");
  for (const std::size_t piece : {1U, 7U, 4096U}) {
    const Inflated it = inflated(member + "garbage", piece, 64);
    EXPECT_EQ(it.text, "text") << piece;
    EXPECT_EQ(it.error, "");
    EXPECT_EQ(it.garbage, member.size());
  }
}

TEST(Inflate, EveryTruncationIsAnError) {
  const std::string bytes = gzipped(sample()), two = gzipped("one") + bytes;
  for (std::size_t size = 2; size < bytes.size(); size += 37)
    EXPECT_THAT(inflated(bytes.substr(0, size), 64, 4096).error, HasSubstr("not complete"));
  for (std::size_t size = two.size() - 9; size < two.size(); ++size)
    EXPECT_NE(inflated(two.substr(0, size), 64, 4096).error, "") << size;
}

TEST(Inflate, AWrongByteIsAnErrorByTheChecksumAtLatest) {
  const std::string bytes = gzipped(sample());
  for (std::size_t at = 20; at < bytes.size(); at += 101) {
    std::string bad = bytes;
    bad[at] = static_cast<char>(bad[at] ^ 0x10);
    EXPECT_NE(inflated(bad, 64, 4096).error, "") << at;
  }
  // Near the end of a short one, too, where all of it was taken before the damage is met.
  const std::string small = gzipped(sample().substr(0, 300));
  for (std::size_t at = 10; at < small.size(); ++at) {
    for (unsigned bit = 0; bit < 8; ++bit) {
      std::string bad = small;
      bad[at] = static_cast<char>(bad[at] ^ 1 << bit);
      for (const std::size_t piece : {std::size_t{1}, std::size_t{5}, small.size()}) (void)inflated(bad, piece, 4096);
    }
  }
  std::string checksum = bytes;
  checksum[bytes.size() - 6] = static_cast<char>(checksum[bytes.size() - 6] ^ 1);
  EXPECT_THAT(inflated(checksum, 64, 4096).error, HasSubstr("damaged"));
}

// --- the file ----------------------------------------------------------------------------------------------------------

Result<std::string> all_of(FileSystem& fs, const std::string& path, std::size_t room) {
  Result<std::unique_ptr<ByteStream>> stream = open_stream(fs, path);
  if (!stream) return stream.error();
  std::string text, buffer(room, '\0');
  while (true) {
    const Result<std::size_t> size = (*stream)->read(buffer.data(), room);
    if (!size) return size.error();
    if (*size == 0) return text;
    text.append(buffer, 0, *size);
  }
}

TEST(ByteStream, PlainAndCompressedFilesGiveTheirBytes) {
  MemoryFileSystem fs;
  std::string text;
  while (text.size() < 3'000'000) text += sample();
  fs.put("/plain", text);
  fs.put("/packed.gz", gzipped(text));
  fs.put("/empty", "");
  for (const std::size_t room : {1000U, 262144U, 1000000U}) {
    EXPECT_EQ(*all_of(fs, "/plain", room), text);
    EXPECT_EQ(*all_of(fs, "/packed.gz", room), text);
  }
  EXPECT_EQ(*all_of(fs, "/empty", 100), "");
  EXPECT_FALSE(all_of(fs, "/missing", 100).ok());
  fs.put_folder("/folder");
  EXPECT_FALSE(all_of(fs, "/folder", 100).ok());
}

TEST(ByteStream, AReadThatFailsIsAnErrorBehindWhatCame) {
  std::string text;
  while (text.size() < 2'000'000) text += sample();
  for (std::uint64_t n = 1; n < 10; ++n) {
    MemoryFileSystem fs;
    fs.put("/plain", text);
    fs.fail_at(n, EIO);
    const Result<std::string> read = all_of(fs, "/plain", 100000);
    EXPECT_FALSE(read.ok()) << n;
  }
}

// The file, the inflater, the tokens and the reader, each on its thread: whole, cut short, with a read that fails, and left early.
TEST(ByteStream, ATraceOnThreeThreads) {
  std::vector<std::string> events;
  for (int i = 0; i < 20000; ++i) events.push_back(kernel("k" + std::to_string(i % 50), i, 0.5, i));
  const std::string text = trace_of(events), packed = gzipped(text);
  const auto read = [](MemoryFileSystem& fs, const std::string& path) {
    Result<std::unique_ptr<ByteStream>> stream = open_stream(fs, path);
    EXPECT_TRUE(stream.ok());
    WindowsAhead windows(**stream, {.window = 10000});
    return *read_trace(windows, [](const TraceEvent&) {});
  };
  MemoryFileSystem fs;
  fs.put("/whole.gz", packed);
  fs.put("/short.gz", packed.substr(0, packed.size() / 2));
  fs.put("/plain", text);
  for (const std::string& path : {std::string("/whole.gz"), std::string("/plain")}) {
    const TraceReading whole = read(fs, path);
    EXPECT_EQ(whole.events, events.size());
    EXPECT_EQ(whole.bytes, text.size());
    EXPECT_FALSE(whole.damage);
  }
  const TraceReading part = read(fs, "/short.gz");
  EXPECT_GT(part.events, 1000U);
  ASSERT_TRUE(part.damage);
  EXPECT_THAT(part.damage->why, HasSubstr("is not complete"));
  EXPECT_EQ(part.damage->offset, part.bytes);

  std::string wrong = text;
  wrong[wrong.find("\"k7\"")] = '}';  // damage near the beginning, with everything else ahead of it
  fs.put("/wrong.gz", gzipped(wrong));
  EXPECT_LT(read(fs, "/wrong.gz").events, 10U);
  EXPECT_EQ(fs.open_handles(), 0U);
}

TEST(ByteStream, WhoStopsReadingStopsTheThread) {
  MemoryFileSystem fs;
  std::string text;
  while (text.size() < 5'000'000) text += sample();
  fs.put("/packed.gz", gzipped(text));
  Result<std::unique_ptr<ByteStream>> stream = open_stream(fs, "/packed.gz");
  ASSERT_TRUE(stream.ok());
  char byte = 0;
  EXPECT_EQ(*(*stream)->read(&byte, 1), 1U);
  stream->reset();
  EXPECT_EQ(fs.open_handles(), 0U);
}

}  // namespace
}  // namespace suture
