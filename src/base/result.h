// Result<T>: a value or an Error. No exception crosses a file of suture: a
// library that throws is caught in the one file that includes it.
//
// An Error is part of the product. It says what, where (file:line:column, the
// line itself and a caret), why, and what to do next, and it carries the exit
// code that the process ends with. GCC 12 has no std::expected, so Result is
// the small part of it that we use.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace suture {

// The documented exit codes (docs/exit-codes in README). Every error has one.
enum class Exit : int {
  ok = 0,            // done, or nothing to do
  would_change = 1,  // diff --exit-code, status --check
  usage = 2,         // wrong options
  bad_rule = 3,      // a rule or patch file is wrong
  refused = 4,       // drifted, ambiguous, partial, foreign-edit, conflicting
  unfit = 5,         // out-of-range, blocked, absent
  file_system = 6,   // no such path, read-only, disk full ...
  verification = 7,  // numbers differ
  // verify alone: nothing was proved, and why.
  skipped = 8,         // there is no GPU here
  no_torch = 9,        // the interpreter of --python has none that loads
  no_flashinfer = 10,  // it has none, or one whose kernel cannot be compiled or run
  out_of_memory = 11,  // of the GPU
  timed_out = 12,
  gpu_unfit = 13,   // the GPU or its driver is too old
  no_kernels = 14,  // verify_kernels is not built
  incomplete = 15,  // it ended in the middle, or a path that every release has did not run
};

// Where a diagnostic points. line and column are 1-based; column counts
// characters (UTF-8 code points), not bytes. `text` is the whole line without
// its newline, `width` how many characters the caret underlines (at least 1).
struct Location {
  std::string file;
  std::uint32_t line = 0;  // 0: the whole file
  std::uint32_t column = 0;
  std::string text;
  std::uint32_t width = 1;
};

struct Error {
  Exit exit = Exit::usage;
  std::string message;  // one sentence, no final full stop, no file name where `where` has it
  std::optional<Location> where;
  std::string hint;  // what to do next; may be empty
};

// "FILE:LINE:COL: error: MESSAGE\n    LINE\n    ^~~~\n  hint: HINT\n"; without
// a location "error: MESSAGE\n...". Always ends in a newline. Implemented in
// result.cc; asserted whole in tests/unit.
std::string to_text(const Error& error);

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}      // NOLINT(google-explicit-constructor)
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  // Precondition: ok().
  T& value() & { return std::get<0>(state_); }
  const T& value() const& { return std::get<0>(state_); }
  T&& value() && { return std::get<0>(std::move(state_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  // Precondition: !ok().
  Error& error() { return std::get<1>(state_); }
  const Error& error() const { return std::get<1>(state_); }

 private:
  std::variant<T, Error> state_;
};

struct Nothing {};
using Status = Result<Nothing>;

}  // namespace suture
