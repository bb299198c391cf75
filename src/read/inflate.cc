// See inflate.h. The only file that includes zlib, ISA-L and zstd. Tests: tests/unit/inflate_test.cc.
#include "read/inflate.h"

#ifdef SUTURE_WITH_ISAL
#include <isa-l/igzip_lib.h>
#else
#include <zlib.h>
#endif
#ifdef SUTURE_WITH_ZSTD
#include <zstd.h>
#endif

#include <algorithm>
#include <limits>
#include <optional>

namespace suture {
namespace {

constexpr std::string_view kGzipMagic = "\x1F\x8B", kZstdMagic = "\x28\xB5\x2F\xFD";

Error broken(std::string_view what, std::uint64_t offset, const std::string& why) {
  return {Exit::file_system,
          "the " + std::string(what) + " stream " + why + " at byte " + std::to_string(offset) + " of the file",
          std::nullopt, "copy the file again, or profile again"};
}

// What one member needs; the loop over members is GzipInflater's.
class GzipMember {
 public:
  enum class State { more, complete, broken };
#ifdef SUTURE_WITH_ISAL
  GzipMember() {
    reset();
  }
  void reset() {
    isal_inflate_init(&state_);
    state_.crc_flag = ISAL_GZIP;
  }
  State run(std::string_view in, char* out, std::size_t room, Inflater::Step& step) {
    // It takes input into a buffer of its own bits, and gives back what it did not use once the member is complete.
    state_.next_in = reinterpret_cast<std::uint8_t*>(const_cast<char*>(in.data()));
    state_.avail_in = static_cast<std::uint32_t>(in.size());
    state_.next_out = reinterpret_cast<std::uint8_t*>(out);
    state_.avail_out = static_cast<std::uint32_t>(room);
    const int code = isal_inflate(&state_);
    // Of a stream that is damaged it may give back bytes that it took before, too; they stay taken.
    step.taken = in.size() - std::min<std::size_t>(in.size(), state_.avail_in);
    step.made = room - state_.avail_out;
    if (code != ISAL_DECOMP_OK && code != ISAL_END_INPUT) return State::broken;
    return state_.block_state == ISAL_BLOCK_FINISH ? State::complete : State::more;
  }

 private:
  inflate_state state_{};
#else
  GzipMember() {
    good_ = inflateInit2(&stream_, 15 + 16) == Z_OK;
  }
  GzipMember(const GzipMember&) = delete;
  GzipMember& operator=(const GzipMember&) = delete;
  ~GzipMember() {
    inflateEnd(&stream_);
  }
  void reset() {
    good_ = inflateReset(&stream_) == Z_OK;
  }
  State run(std::string_view in, char* out, std::size_t room, Inflater::Step& step) {
    if (!good_) return State::broken;
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in.data()));
    stream_.avail_in = static_cast<uInt>(in.size());
    stream_.next_out = reinterpret_cast<Bytef*>(out);
    stream_.avail_out = static_cast<uInt>(room);
    const int code = inflate(&stream_, Z_NO_FLUSH);
    step.taken = in.size() - stream_.avail_in;
    step.made = room - stream_.avail_out;
    if (code == Z_STREAM_END) return State::complete;
    return code == Z_OK || code == Z_BUF_ERROR ? State::more : State::broken;
  }

 private:
  z_stream stream_{};
  bool good_ = false;
#endif
};

class GzipInflater final : public Inflater {
 public:
  Result<Step> step(std::string_view in, char* out, std::size_t room) override {
    constexpr std::size_t most = std::numeric_limits<std::int32_t>::max();  // both libraries count in 32 bits
    if (failed_) return *failed_;
    Step step;
    if (between_ && !begin_member(in, step)) {
      taken_ += step.taken;
      return step;
    }
    const std::string_view rest = in.substr(step.taken, most);
    Step inner;
    const GzipMember::State state = member_.run(rest, out, std::min(room, most), inner);
    taken_ += step.taken + inner.taken;
    if (state == GzipMember::State::broken) {
      failed_ = broken("gzip", taken_, "is damaged");
      if (inner.made == 0) return *failed_;  // else what came before the damage first
    }
    if (state == GzipMember::State::complete) {
      between_ = true;
      ++members_;
      member_.reset();
    }
    return Step{step.taken + inner.taken, inner.made};
  }
  Status finish() const override {
    if (garbage_ != npos || (between_ && members_ > 0)) return Nothing{};
    return broken("gzip", taken_, "is not complete: it ends");
  }
  std::uint64_t garbage_at() const override { return garbage_; }

 private:
  // Between members there may be zeros (a tape's padding), a further member, or garbage, to the end.
  bool begin_member(std::string_view in, Step& step) {
    if (members_ > 0 && garbage_ == npos) {
      while (step.taken < in.size() && in[step.taken] == '\0') ++step.taken;
      if (step.taken == in.size()) return false;
      if (in[step.taken] != kGzipMagic[0]) garbage_ = taken_ + step.taken;
    }
    if (garbage_ != npos) {
      step.taken = in.size();
      return false;
    }
    if (in.empty()) return false;
    between_ = false;
    return true;
  }

  GzipMember member_;
  bool between_ = true;
  std::size_t members_ = 0;
  std::uint64_t taken_ = 0, garbage_ = npos;
  std::optional<Error> failed_;
};

#ifdef SUTURE_WITH_ZSTD
class ZstdInflater final : public Inflater {
 public:
  ZstdInflater() : stream_(ZSTD_createDCtx()) {}
  ~ZstdInflater() override { ZSTD_freeDCtx(stream_); }
  Result<Step> step(std::string_view in, char* out, std::size_t room) override {
    if (failed_) return *failed_;
    ZSTD_inBuffer input{in.data(), in.size(), 0};
    ZSTD_outBuffer output{out, room, 0};
    const std::size_t code = ZSTD_decompressStream(stream_, &output, &input);
    if (ZSTD_isError(code) != 0) {
      if (complete_ && output.pos == 0) {  // behind a complete frame
        garbage_ = taken_;
        return Step{in.size(), 0};
      }
      failed_ = broken("zstd", taken_ + input.pos, std::string("is damaged (") + ZSTD_getErrorName(code) + ")");
      if (output.pos == 0) return *failed_;
    }
    if (!failed_ && input.pos + output.pos > 0) complete_ = code == 0;
    taken_ += input.pos;
    return Step{input.pos, output.pos};
  }
  Status finish() const override {
    if (complete_ || garbage_ != npos) return Nothing{};
    return broken("zstd", taken_, "is not complete: it ends");
  }
  std::uint64_t garbage_at() const override { return garbage_; }

 private:
  ZSTD_DCtx* stream_;
  bool complete_ = false;
  std::uint64_t taken_ = 0, garbage_ = npos;
  std::optional<Error> failed_;
};
#endif

}  // namespace

Packing packing_of(std::string_view bytes) {
  if (bytes.starts_with(kGzipMagic)) return Packing::gzip;
  return bytes.starts_with(kZstdMagic) ? Packing::zstd : Packing::none;
}

std::string_view packing_name(Packing packing) {
  return packing == Packing::gzip ? "gzip" : packing == Packing::zstd ? "zstd" : "plain";
}

std::string_view inflater_name(Packing packing) {
#ifdef SUTURE_WITH_ISAL
  constexpr std::string_view gzip = "ISA-L";
#else
  constexpr std::string_view gzip = "zlib";
#endif
#ifdef SUTURE_WITH_ZSTD
  constexpr std::string_view zstd = "zstd";
#else
  constexpr std::string_view zstd = "";
#endif
  return packing == Packing::gzip ? gzip : packing == Packing::zstd ? zstd : std::string_view();
}

std::unique_ptr<Inflater> make_inflater(Packing packing) {
  if (packing == Packing::gzip) return std::make_unique<GzipInflater>();
#ifdef SUTURE_WITH_ZSTD
  if (packing == Packing::zstd) return std::make_unique<ZstdInflater>();
#endif
  return nullptr;
}

}  // namespace suture
