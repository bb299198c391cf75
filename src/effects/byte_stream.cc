// See byte_stream.h. Tests: tests/unit/byte_stream_test.cc.
#include "effects/byte_stream.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <thread>
#include <utility>

namespace suture {
namespace {

constexpr std::size_t kChunk = std::size_t{256} << 10U;
constexpr std::size_t kChunks = 4;

struct Chunk {
  std::string bytes;
  std::size_t size = 0;
};

class FileStream final : public ByteStream {
 public:
  FileStream(FileSystem& fs, std::string path, Opened file, std::uint64_t size, Packing packing)
      : fs_(fs), path_(std::move(path)), file_(std::move(file)), size_(size), packing_(packing) {
    if (packing != Packing::none) {
      for (Chunk& chunk : chunks_) chunk.bytes.resize(kChunk);
    }
    worker_ = std::thread([this] { work(); });
  }
  ~FileStream() override {
    {
      const std::lock_guard lock(mutex_);
      stopped_ = true;
    }
    changed_.notify_all();
    worker_.join();
  }
  FileStream(const FileStream&) = delete;
  FileStream& operator=(const FileStream&) = delete;

  std::uint64_t file_size() const override { return size_; }
  std::uint64_t file_read() const override { return read_.load(std::memory_order_relaxed); }
  Packing packing() const override { return packing_; }
  std::uint64_t garbage_at() const override { return garbage_.load(std::memory_order_relaxed); }

  Result<std::size_t> read(char* into, std::size_t room) override {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return full_ > 0 || ended_; });
    if (full_ == 0) {
      if (error_) return *error_;
      return std::size_t{0};
    }
    Chunk& chunk = chunks_[first_];
    lock.unlock();
    const std::size_t size = std::min(room, chunk.size - taken_);
    std::memcpy(into, chunk.bytes.data() + taken_, size);
    taken_ += size;
    if (taken_ == chunk.size) {
      lock.lock();
      taken_ = 0;
      first_ = (first_ + 1) % kChunks;
      --full_;
      lock.unlock();
      changed_.notify_all();
    }
    return size;
  }

 private:
  // --- the second thread ---------------------------------------------------------------------------------------------

  void work() {
    std::optional<Error> error;
    try {
      error = packing_ == Packing::none ? read_plain() : inflate();
    } catch (const std::exception& thrown) {
      error = Error{Exit::file_system, std::string("reading ended: ") + thrown.what(), std::nullopt, ""};
    }
    {
      const std::lock_guard lock(mutex_);
      error_ = std::move(error);
      ended_ = true;
    }
    changed_.notify_all();
  }

  Result<std::string> more() {
    Io<std::string> part = fs_.read(file_.handle(), read_.load(std::memory_order_relaxed), kChunk);
    if (!part) return io_error("read", path_, part.error);
    read_.fetch_add(part.value.size(), std::memory_order_relaxed);
    return std::move(part.value);
  }

  // The next buffer to fill; null: nobody reads any more.
  Chunk* room() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return full_ < kChunks || stopped_; });
    return stopped_ ? nullptr : &chunks_[(first_ + full_) % kChunks];
  }
  void hand_over() {
    {
      const std::lock_guard lock(mutex_);
      ++full_;
    }
    changed_.notify_all();
  }

  std::optional<Error> read_plain() {
    while (true) {
      Chunk* chunk = room();
      if (chunk == nullptr) return std::nullopt;
      Result<std::string> part = more();
      if (!part) return part.error();
      if (part->empty()) return std::nullopt;
      chunk->bytes = std::move(*part);
      chunk->size = chunk->bytes.size();
      hand_over();
    }
  }

  std::optional<Error> inflate() {
    const std::unique_ptr<Inflater> inflater = make_inflater(packing_);
    std::string input;
    std::string_view in;
    bool at_end = false;
    while (true) {
      Chunk* chunk = room();
      if (chunk == nullptr) return std::nullopt;
      chunk->size = 0;
      while (chunk->size < kChunk) {
        if (in.empty() && !at_end) {
          Result<std::string> part = more();
          if (!part) return part.error();
          input = std::move(*part);
          in = input;
          at_end = input.empty();
        }
        Result<Inflater::Step> step = inflater->step(in, chunk->bytes.data() + chunk->size, kChunk - chunk->size);
        if (!step) {
          if (chunk->size > 0) hand_over();
          return step.error();
        }
        in.remove_prefix(step->taken);
        chunk->size += step->made;
        if (at_end && step->made == 0) break;
      }
      garbage_.store(inflater->garbage_at(), std::memory_order_relaxed);
      if (chunk->size > 0) hand_over();
      if (chunk->size < kChunk) {
        const Status whole = inflater->finish();
        return whole ? std::nullopt : std::optional<Error>(whole.error());
      }
    }
  }

  FileSystem& fs_;
  std::string path_;
  Opened file_;
  std::uint64_t size_;
  Packing packing_;
  std::atomic<std::uint64_t> read_{0}, garbage_{Inflater::npos};

  std::mutex mutex_;
  std::condition_variable changed_;
  std::array<Chunk, kChunks> chunks_;
  std::size_t first_ = 0, full_ = 0, taken_ = 0;  // full ones from `first_` on; taken_ of the first of them
  bool ended_ = false, stopped_ = false;
  std::optional<Error> error_;
  std::thread worker_;
};

}  // namespace

Result<std::unique_ptr<ByteStream>> open_stream(FileSystem& fs, const std::string& path) {
  const Io<Handle> handle = fs.open_file(kAbsolute, path);
  if (!handle) return io_error("open", path, handle.error);
  Opened file(fs, handle.value);
  const Io<FileInfo> info = fs.info(file.handle());
  if (!info) return io_error("read", path, info.error);
  if (info.value.kind != FileInfo::Kind::regular)
    return io_error("read", path, info.value.kind == FileInfo::Kind::folder ? EISDIR : EINVAL);
  const Io<std::string> first = fs.read(file.handle(), 0, 4);
  if (!first) return io_error("read", path, first.error);
  const Packing packing = packing_of(first.value);
  if (packing != Packing::none && inflater_name(packing).empty())
    return Error{Exit::file_system,
                 path + " is compressed with " + std::string(packing_name(packing)) +
                     ", which this build of suture does not read",
                 std::nullopt, "decompress it first"};
  return std::unique_ptr<ByteStream>(std::make_unique<FileStream>(fs, path, std::move(file), info.value.size, packing));
}

}  // namespace suture
