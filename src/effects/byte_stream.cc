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

struct Chunk {
  std::string bytes;
  std::size_t size = 0;
};

// The file as it lies there, piece by piece.
class Pieces {
 public:
  Pieces() = default;
  Pieces(const Pieces&) = delete;
  Pieces& operator=(const Pieces&) = delete;
  virtual ~Pieces() = default;
  virtual Result<std::string> next() = 0;  // "" at the end
  [[nodiscard]] virtual std::uint64_t size() const = 0;
  [[nodiscard]] virtual bool is_pipe() const = 0;
};

class FilePieces final : public Pieces {
 public:
  FilePieces(FileSystem& fs, std::string path, Opened file, std::uint64_t size)
      : fs_(fs), path_(std::move(path)), file_(std::move(file)), size_(size) {}

  Result<std::string> next() override {
    Io<std::string> part = fs_.read(file_.handle(), at_, kChunk);
    if (!part) return io_error("read", path_, part.error);
    at_ += part.value.size();
    return std::move(part.value);
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

  Result<std::string> next() override {
    if (!first_.empty()) return std::exchange(first_, {});
    Io<std::string> part = pipe_.read(kChunk);
    if (!part) return io_error("read", path_, part.error);
    return std::move(part.value);
  }
  std::uint64_t size() const override { return 0; }
  bool is_pipe() const override { return true; }

 private:
  std::string path_;
  PipeReader pipe_;
  std::string first_;
};

class FileStream final : public ByteStream {
 public:
  FileStream(std::unique_ptr<Pieces> pieces, Packing packing) : pieces_(std::move(pieces)), packing_(packing) {
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

  std::uint64_t file_size() const override { return pieces_->size(); }
  bool is_pipe() const override { return pieces_->is_pipe(); }
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
    Result<std::string> part = pieces_->next();
    if (part) read_.fetch_add(part->size(), std::memory_order_relaxed);
    return part;
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

  std::unique_ptr<Pieces> pieces_;
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

Result<std::unique_ptr<ByteStream>> stream_of(const std::string& path, std::unique_ptr<Pieces> pieces,
                                              std::string_view first) {
  const Packing packing = packing_of(first);
  if (packing != Packing::none && inflater_name(packing).empty())
    return Error{Exit::file_system,
                 path + " is compressed with " + std::string(packing_name(packing)) +
                     ", which this build of suture does not read",
                 std::nullopt, "decompress it first"};
  return std::unique_ptr<ByteStream>(std::make_unique<FileStream>(std::move(pieces), packing));
}

constexpr std::size_t kMagic = 4;  // bytes that tell the compression

Result<std::unique_ptr<ByteStream>> open_pipe(const std::string& path) {
  Io<PipeReader> pipe = PipeReader::open(path);
  if (!pipe) return io_error("open", path, pipe.error);
  std::string first;
  while (first.size() < kMagic) {
    const Io<std::string> part = pipe.value.read(kChunk);
    if (!part) return io_error("read", path, part.error);
    if (part.value.empty()) break;
    first += part.value;
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
