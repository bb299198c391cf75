// See compile_check.h. Tests: tests/unit/compile_check_test.cc, tests/cli/python_test.py.
#include "effects/compile_check.h"

#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstring>
#include <utility>

#include "effects/subprocess.h"

namespace suture {
namespace {

// stdin: "BYTES_OF_NAME BYTES_OF_SOURCE\n", name, source, and so on. stdout: "suture-compile MAJOR.MINOR", a line a source ("ok", or "error
// LINE COLUMN MESSAGE"), "done". An interpreter that does not know -I (before 3.4) never gets here.
constexpr std::string_view kProgram = R"(import sys
source, out = sys.stdin.buffer, sys.stdout.buffer
def say(line):
    out.write(" ".join(line.splitlines()).encode("utf-8", "backslashreplace") + b"\n")
say("suture-compile {}.{}".format(*sys.version_info[:2]))
while True:
    sizes = source.readline().split()
    if not sizes:
        break
    name = source.read(int(sizes[0])).decode("utf-8", "replace")
    code = source.read(int(sizes[1]))
    try:
        compile(code, name, "exec", dont_inherit=True)
        say("ok")
    except SyntaxError as e:
        say("error {} {} {}: {}".format(e.lineno or 0, max(e.offset or 0, 0), type(e).__name__, e.msg))
    except (ValueError, OverflowError, RuntimeError, MemoryError) as e:
        say("error 0 0 {}: {}".format(type(e).__name__, e))
say("done")
)";

std::string request_of(const std::vector<PythonSource>& sources) {
  std::string out;
  for (const PythonSource& each : sources) {
    out += std::to_string(each.name.size()) + " " + std::to_string(each.bytes.size()) + "\n" + each.name;
    out += each.bytes;
  }
  return out;
}

Error no_answer(const std::string& interpreter, const std::string& what, std::string hint = "") {
  if (hint.empty()) hint = "--python names a Python 3 interpreter; leave it out, and nothing is compiled";
  return {Exit::file_system, interpreter + " (--python) cannot check the result: " + what, std::nullopt,
          std::move(hint)};
}

// The first line of what it had to say; empty where it said nothing.
std::string first_words(const ProcessResult& process) {
  const std::string& said = process.err.empty() ? process.out : process.err;
  std::string line = said.substr(0, std::min<std::size_t>(said.find_first_of("\r\n"), 200));
  std::replace_if(
      line.begin(), line.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  return line.empty() ? "" : ": " + line;
}

std::optional<Error> failure(const std::string& interpreter, const ProcessResult& process,
                             std::chrono::milliseconds limit) {
  switch (process.end) {
    case ProcessResult::End::not_started:
      return no_answer(interpreter, std::string("it cannot be run: ") + std::strerror(process.code));
    case ProcessResult::End::signalled:
      return no_answer(interpreter, std::string("it crashed (") + strsignal(process.code) + ")" + first_words(process));
    case ProcessResult::End::timed_out:
      return no_answer(interpreter, "it did not end within " + std::to_string(limit.count() / 1000) + " seconds");
    case ProcessResult::End::too_much:
      return no_answer(interpreter, "it printed without end");
    case ProcessResult::End::exited:
      break;
  }
  if (process.code == 0) return std::nullopt;
  if (process.err.find("nknown option") != std::string::npos && process.err.find("-I") != std::string::npos)
    return no_answer(interpreter, "it is older than Python 3.4", "name the interpreter that runs the package");
  return no_answer(interpreter, "it ended with exit code " + std::to_string(process.code) + first_words(process));
}

// "12 rest" -> 12, and "rest" is left.
std::optional<std::uint32_t> take_number(std::string_view& text) {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end == text.data() + text.size() || *end != ' ') return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()) + 1);
  return value;
}

// false: this is no line of the program's.
bool read_line(std::string_view line, CompileReport& report) {
  constexpr std::string_view kError = "error ";
  if (line == "ok") {
    report.problems.emplace_back();
    return true;
  }
  if (line.substr(0, kError.size()) != kError) return false;
  line.remove_prefix(kError.size());
  CompileProblem problem;
  const auto at_line = take_number(line);
  const auto column = at_line ? take_number(line) : std::nullopt;
  if (!column) return false;
  problem.line = *at_line;
  problem.column = *column;
  problem.message = std::string(line);
  report.problems.emplace_back(std::move(problem));
  return true;
}

std::optional<CompileReport> read_answer(std::string_view text, std::size_t sources) {
  constexpr std::string_view kGreeting = "suture-compile ";
  CompileReport report;
  bool done = false;
  for (std::size_t n = 0; !text.empty(); ++n) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos || done) return std::nullopt;
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end + 1);
    if (n == 0) {
      if (line.substr(0, kGreeting.size()) != kGreeting) return std::nullopt;
      report.version = std::string(line.substr(kGreeting.size()));
    } else if (line == "done") {
      done = true;
    } else if (!read_line(line, report)) {
      return std::nullopt;
    }
  }
  if (!done || report.problems.size() != sources) return std::nullopt;
  return report;
}

}  // namespace

Result<CompileReport> compile_sources(const std::string& interpreter, const std::vector<PythonSource>& sources,
                                      const std::vector<std::string>& environment, std::chrono::milliseconds limit) {
  const std::string input = request_of(sources);
  ProcessRequest request;
  request.environment = environment;
  request.argv = {interpreter, "-I", "-S", "-B", "-W", "ignore", "-c", std::string(kProgram)};
  request.input = input;
  request.limit = limit;
  const ProcessResult process = run_process(request);
  if (auto error = failure(interpreter, process, limit)) return *std::move(error);
  auto report = read_answer(process.out, sources.size());
  if (!report) return no_answer(interpreter, "its answer is not that of a Python interpreter" + first_words(process));
  return *std::move(report);
}

}  // namespace suture
