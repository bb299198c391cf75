// One other program, run to its end: what it is given on stdin, what it printed. No shell, no temporary file, and an end in bounded time: when
// the time is up the process is killed, with all that it started (it gets a process group of its own).
//
// Nothing of suture runs another program but the check of --python (compile_check.h) and `verify` (backend_check.h).
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace suture {

struct ProcessRequest {
  std::vector<std::string> argv;         // argv[0]: a path
  std::vector<std::string> environment;  // all of it: "NAME=value"
  std::string_view input;
  std::chrono::milliseconds limit{0};
  std::size_t max_output = 1u << 20;  // of each stream; more is an end of its own
};

struct ProcessResult {
  enum class End {
    exited,      // code: the exit status
    signalled,   // code: the signal
    timed_out,   // killed
    too_much,    // it printed more than max_output; killed
    not_started  // code: errno
  };
  End end = End::not_started;
  int code = 0;
  std::string out, err;
};

// A process that stops reading its input is no failure here: its output says what that means. SIGPIPE must be ignored by the caller.
ProcessResult run_process(const ProcessRequest& request);

}  // namespace suture
