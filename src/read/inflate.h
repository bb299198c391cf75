// Decompression as a stream: gzip (RFC 1952, any number of members) by zlib, or by ISA-L where the build has it, and zstd where the
// build has that. Values in, values out; reading the file is effects/byte_stream.h.
//
// A stream that ends early is an error, never a shorter output; so is a checksum that does not hold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace suture {

enum class Packing { none, gzip, zstd };
// By the magic number that `bytes`, the first of a file, begin with.
Packing packing_of(std::string_view bytes);
std::string_view packing_name(Packing packing);  // "gzip"
// What inflates it in this build: "zlib", "ISA-L", "zstd"; empty: nothing does.
std::string_view inflater_name(Packing packing);

class Inflater {
 public:
  struct Step {
    std::size_t taken = 0, made = 0;  // bytes of `in`, bytes at `out`
  };

  Inflater() = default;
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  virtual ~Inflater() = default;

  // Inflates what it can. Neither taken nor made: it wants more input. Errors (file_system) name the offset in the compressed
  // bytes at which they were found; what could be inflated before comes first.
  virtual Result<Step> step(std::string_view in, char* out, std::size_t room) = 0;
  // After the last input: an error where a stream is not complete.
  [[nodiscard]] virtual Status finish() const = 0;
  // Where bytes begin that are no stream of its kind, behind one that is complete; they are not read. npos: there are none.
  [[nodiscard]] virtual std::uint64_t garbage_at() const = 0;
  static constexpr std::uint64_t npos = static_cast<std::uint64_t>(-1);
};

// Null where inflater_name() is empty. Precondition: packing is not none.
std::unique_ptr<Inflater> make_inflater(Packing packing);

}  // namespace suture
