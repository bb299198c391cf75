// Whether an interpreter compiles Python sources. The grammar is no validator (engine/soundness.h knows some of what it lets pass); the
// interpreter that will run the code knows all of it, `return` outside of a function and `await` outside of a coroutine included.
//
// It is run as EXE -I -S -B -c PROGRAM with no environment but what the caller hands on (PATH for a version manager's
// shim), reads the sources from stdin and calls compile() on each: nothing of the target is imported, nothing is
// written. All sources go through one process.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace suture {

struct PythonSource {
  std::string name;  // as messages call it
  std::string_view bytes;
};

// What compile() said. line 0: it named no place.
struct CompileProblem {
  std::string message;  // "SyntaxError: 'return' outside function"
  std::uint32_t line = 0, column = 0;
};

struct CompileReport {
  std::string version;                                  // of the interpreter: "3.11"
  std::vector<std::optional<CompileProblem>> problems;  // one a source, in order; nullopt: it compiles
};

// Error (Exit::file_system): the interpreter is not there, cannot be run, is too old, crashed, did not end in time, or answered something
// else than its program would.
Result<CompileReport> compile_sources(const std::string& interpreter, const std::vector<PythonSource>& sources,
                                      const std::vector<std::string>& environment, std::chrono::milliseconds limit);

}  // namespace suture
