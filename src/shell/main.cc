// suture: argv -> options -> a command's report -> the two streams and the exit code.
//
// No exception leaves here. A reader that closes the pipe early (suture diff | head) ends the output and is no failure;
// a stream that cannot be written (a full disk) is one.
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "effects/file_system.h"
#include "shell/options.h"
#include "shell/report_json.h"
#include "shell/session.h"

namespace suture {
namespace {

// False: the stream cannot be written, errno says why. A closed pipe is not that.
bool put(int stream, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(stream, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno == EPIPE;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

// All of it: what `verify` runs needs more than suture reads itself (CUDA_VISIBLE_DEVICES, LD_LIBRARY_PATH, PYTHONPATH).
std::map<std::string, std::string> environment() {
  std::map<std::string, std::string> values;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view line = *entry;
    const std::size_t equals = line.find('=');
    if (equals != std::string_view::npos) values.emplace(line.substr(0, equals), line.substr(equals + 1));
  }
  return values;
}

// Characters of a line; 0: no terminal.
std::size_t width_of(int stream) {
  winsize size{};
  return ::isatty(stream) == 1 && ::ioctl(stream, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

// auto: colour on a terminal, unless NO_COLOR (no-color.org) or a dumb terminal says otherwise.
Style style_of(ColorMode mode, int stream) {
  const std::size_t width = width_of(stream);
  if (mode != ColorMode::automatic) return {mode == ColorMode::always, width};
  const char* no_color = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  const bool refused =
      (no_color != nullptr && *no_color != '\0') || (terminal != nullptr && std::string_view(terminal) == "dumb");
  return {!refused && ::isatty(stream) == 1, width};
}

int print(const Report& report, bool json) {
  const std::string out = json ? to_json(report) : report.out;
  if (!json) put(STDERR_FILENO, report.err);
  if (put(STDOUT_FILENO, out)) return static_cast<int>(report.exit);
  const Error error{Exit::file_system, std::string("stdout cannot be written: ") + std::strerror(errno), std::nullopt,
                    "the command itself ended with exit code " + std::to_string(static_cast<int>(report.exit))};
  put(STDERR_FILENO, to_text(error));
  return static_cast<int>(Exit::file_system);
}

Report plain_text(std::string text) {
  Report report;
  report.out = std::move(text);
  return report;
}

Report run_command(const Options& options) {
  const auto say = [](const std::string& words) { put(STDERR_FILENO, words); };
  const Session session(options, real_file_system(), environment(), style_of(options.color, STDOUT_FILENO),
                        style_of(options.color, STDERR_FILENO), say);
  Report report = options.command->run(session);
  report.command = options.command->name;
  return report;
}

// The command of a command line that is wrong elsewhere.
std::string command_among(const std::vector<std::string>& args) {
  for (const std::string& arg : args) {
    for (const Command& command : commands()) {
      if (arg == command.name) return arg;
    }
  }
  return "";
}

int run(const std::vector<std::string>& args) {
  Result<Options> options = parse_options(args, commands());
  if (!options) {
    // Where JSON was asked for, a wrong command line is a document too.
    const bool json = std::find(args.begin(), args.end(), "--json") != args.end();
    Report report;
    report.command = command_among(args);
    report.fail(options.error());
    return print(report, json);
  }
  if (options->version) return print(plain_text("suture " SUTURE_VERSION "\n"), false);
  if (options->help) return print(plain_text(help_text(options->command, commands())), false);
  return print(run_command(*options), options->json);
}

int internal_error(const char* what) {
  put(STDERR_FILENO, std::string("error: an internal error ended suture: ") + what +
                         "\n  hint: this is a bug of suture, or the machine is out of memory\n");
  return static_cast<int>(Exit::file_system);
}

}  // namespace
}  // namespace suture

int main(int argc, char** argv) {
  static_cast<void>(std::signal(SIGPIPE, SIG_IGN));
  static_cast<void>(std::signal(SIGXFSZ, SIG_IGN));  // past `ulimit -f` a write gives EFBIG, and is undone
  try {
    return suture::run(std::vector<std::string>(argv + (argc > 0 ? 1 : 0), argv + argc));
  } catch (const std::exception& error) {
    return suture::internal_error(error.what());
  } catch (...) {
    return suture::internal_error("an exception of unknown kind");
  }
}
