// A command of the shell as a value: what its options are called, how many names it takes, and the function that
// runs it. A later command is one more file, and one line in commands.cc.
//
// A command returns a Report (a value) and prints nothing: main prints it, as text or as JSON. So the order of the
// streams, a broken pipe and the exit code are decided in one place. Rejected: CLI11's subcommands with callbacks; its
// "required" messages hide an unknown command or option, and 13 s of compile time would reach every command's file.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "shell/report.h"

namespace suture {

class Session;

// An option of one command, or of all of them.
struct OptionSpec {
  std::string_view names;  // "-t,--tree": the long name comes last and is the one that Options knows
  std::string_view value;  // "TREE"; empty: a flag
  std::string_view help;
  bool repeats = false;
};

// What stands beside the options. `max` names at most; `name` is empty where the command takes none.
struct Positionals {
  std::string_view name;  // "PATCH"
  std::size_t min = 0, max = 0;
};
inline constexpr std::size_t kAnyNumber = static_cast<std::size_t>(-1);

struct Command {
  std::string_view name;
  std::string_view summary;  // one line of the list of commands
  std::string_view details;  // the paragraphs of `suture COMMAND --help`
  Positionals positionals;
  enum class Trees { none, one, several } trees = Trees::one;
  std::vector<OptionSpec> options;  // its own
  Report (*run)(const Session& session);
};

// The commands, in the order that --help lists them.
const std::vector<Command>& commands();

// Each is defined in its own file.
Command diff_command();
Command apply_command();
Command revert_command();
Command status_command();
Command list_command();
Command explain_command();
Command test_command();
Command verify_command();
Command trace_command();
Command cost_command();
Command audit_command();

}  // namespace suture
