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

#include "effects/pipe.h"

namespace suture {
namespace {

constexpr std::size_t kChunk = std::size_t{256} << 10U;
constexpr std::size_t kChunks = 4;
constexpr std::size_t kInput = std::size_t{64} << 10U;  // read of a compressed file at once

// The file as it lies there, byte after byte.
class Pieces {
 public:
  Pieces() = default;
  Pieces(const Pieces&) = delete;
  Pieces& operator=(const Pieces&) = delete;
  virtual ~Pieces() = default;
  virtual Result<std::size_t> next(char* into, std::size_t room) = 0;  // 0 at the end
  [[nodiscard]] virtual std::uint64_t size() const = 0;
  [[nodiscard]] virtual bool is_pipe() const = 0;
};

class FilePieces final : public Pieces {
 public:
  FilePieces(FileSystem& fs, std::string path, Opened file, std::uint64_t size)
      : fs_(fs), path_(std::move(path)), file_(std::move(file)), size_(size) {}

  Result<std::size_t> next(char* into, std::size_t room) override {
    const Io<std::size_t> part = fs_.read_into(file_.handle(), at_, {into, room});
    if (!part) return io_error("read", path_, part.error);
    at_ += part.value;
    return part.value;
  }
  std::uint64_t size() const override { return size_; }
  bool is_pipe() const override { return false; }

 private:
  FileSystem& fs_;
  std::string path_;
  Opened file_;
  std::uint64_t size_, at_ = 0;
};

class PipePieces final : public Pieces {
 public:
  // `first`: what was read of it already.
  PipePieces(std::string path, PipeReader pipe, std::string first)
      : path_(std::move(path)), pipe_(std::move(pipe)), first_(std::move(first)) {}

  Result<std::size_t> next(char* into, std::size_t room) override {
    if (!first_.empty()) {
      const std::size_t size = first_.copy(into, room);
      first_.erase(0, size);
      return size;
    }
    const Io<std::size_t> part = pipe_.read(into, room);
    if (!part) return io_error("read", path_, part.error);
    return part.value;
  }
  std::uint64_t size() const override { return 0; }
  bool is_pipe() const override { return true; }

 private:
  std::string path_;
  PipeReader pipe_;
  std::string first_;
};

class FileStream : public ByteStream {
 public:
  FileStream(std::unique_ptr<Pieces> pieces, Packing packing) : pieces_(std::move(pieces)), packing_(packing) {}
  std::uint64_t file_size() const override { return pieces_->size(); }
  bool is_pipe() const override { return pieces_->is_pipe(); }
  std::uint64_t file_read() const override { return read_.load(std::memory_order_relaxed); }
  Packing packing() const override { return packing_; }

 protected:
  Result<std::size_t> more(char* into, std::size_t room) {
    Result<std::size_t> part = pieces_->next(into, room);
    if (part) read_.fetch_add(*part, std::memory_order_relaxed);
    return part;
  }

 private:
  std::unique_ptr<Pieces> pieces_;
  Packing packing_;
  std::atomic<std::uint64_t> read_{0};
};

class PlainStream final : public FileStream {
 public:
  explicit PlainStream(std::unique_ptr<Pieces> pieces) : FileStream(std::move(pieces), Packing::none) {}
  std::uint64_t garbage_at() const override { return Inflater::npos; }
  Result<std::size_t> read(char* into, std::size_t room) override { return more(into, room); }
};

// Inflated ahead on a thread of its own.
class PackedStream final : public FileStream {
 public:
  PackedStream(std::unique_ptr<Pieces> pieces, Packing packing) : FileStream(std::move(pieces), packing) {
    worker_ = std::thread([this] { work(); });
  }
  ~PackedStream() override {
    {
      const std::lock_guard lock(mutex_);
      stopped_ = true;
    }
    changed_.notify_all();
    worker_.join();
  }
  PackedStream(const PackedStream&) = delete;
  PackedStream& operator=(const PackedStream&) = delete;

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
    std::memcpy(into, chunk.bytes.get() + taken_, size);
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
  struct Chunk {
    std::unique_ptr<char[]> bytes = std::make_unique_for_overwrite<char[]>(kChunk);
    std::size_t size = 0;
  };

  // --- the second thread ---------------------------------------------------------------------------------------------

  void work() {
    std::optional<Error> error;
    try {
      error = inflate();
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

  std::optional<Error> inflate() {
    const std::unique_ptr<Inflater> inflater = make_inflater(packing());
    const auto input = std::make_unique_for_overwrite<char[]>(kInput);
    std::string_view in;
    bool at_end = false;
    while (true) {
      Chunk* chunk = room();
      if (chunk == nullptr) return std::nullopt;
      chunk->size = 0;
      while (chunk->size < kChunk) {
        if (in.empty() && !at_end) {
          const Result<std::size_t> part = more(input.get(), kInput);
          if (!part) return part.error();
          in = {input.get(), *part};
          at_end = in.empty();
        }
        Result<Inflater::Step> step = inflater->step(in, chunk->bytes.get() + chunk->size, kChunk - chunk->size);
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

  std::atomic<std::uint64_t> garbage_{Inflater::npos};

  std::mutex mutex_;
  std::condition_variable changed_;
  std::array<Chunk, kChunks> chunks_;
  std::size_t first_ = 0, full_ = 0, taken_ = 0;  // full ones from `first_` on; taken_ of the first of them
  bool ended_ = false, stopped_ = false;
  std::optional<Error> error_;
  std::thread worker_;
};

Result<std::unique_ptr<ByteStream>> stream_of(const std::string& path, std::unique_ptr<Pieces> pieces,
                                              std::string_view first) {
  const Packing packing = packing_of(first);
  if (packing != Packing::none && inflater_name(packing).empty())
    return Error{Exit::file_system,
                 path + " is compressed with " + std::string(packing_name(packing)) +
                     ", which this build of suture does not read",
                 std::nullopt, "decompress it first"};
  if (packing == Packing::none) return std::unique_ptr<ByteStream>(std::make_unique<PlainStream>(std::move(pieces)));
  return std::unique_ptr<ByteStream>(std::make_unique<PackedStream>(std::move(pieces), packing));
}

constexpr std::size_t kMagic = 4;  // bytes that tell the compression

Result<std::unique_ptr<ByteStream>> open_pipe(const std::string& path) {
  Io<PipeReader> pipe = PipeReader::open(path);
  if (!pipe) return io_error("open", path, pipe.error);
  std::string first;
  while (first.size() < kMagic) {
    std::array<char, kMagic> bytes{};
    const Io<std::size_t> part = pipe.value.read(bytes.data(), kMagic - first.size());
    if (!part) return io_error("read", path, part.error);
    if (part.value == 0) break;
    first.append(bytes.data(), part.value);
  }
  const std::string magic = first.substr(0, kMagic);
  return stream_of(path, std::make_unique<PipePieces>(path, std::move(pipe.value), std::move(first)), magic);
}

}  // namespace

Result<std::unique_ptr<ByteStream>> open_stream(FileSystem& fs, const std::string& path) {
  if (is_pipe(path)) return open_pipe(path);
  const Io<Handle> handle = fs.open_file(kAbsolute, path);
  if (!handle) return io_error("open", path, handle.error);
  Opened file(fs, handle.value);
  const Io<FileInfo> info = fs.info(file.handle());
  if (!info) return io_error("read", path, info.error);
  if (info.value.kind != FileInfo::Kind::regular)
    return io_error("read", path, info.value.kind == FileInfo::Kind::folder ? EISDIR : EINVAL);
  const Io<std::string> first = fs.read(file.handle(), 0, kMagic);
  if (!first) return io_error("read", path, first.error);
  return stream_of(path, std::make_unique<FilePieces>(fs, path, std::move(file), info.value.size), first.value);
}

}  // namespace suture
