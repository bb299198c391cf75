// The command line as a value. options.cc is the only file that includes CLI11.
//
// Every option is accepted before and after the command. Errors are in our own words, exit 2, and name what is wrong
// first: an unknown command or option is never hidden behind "PATCH is required".
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "shell/command.h"

namespace suture {

enum class ColorMode { automatic, always, never };

struct Options {
  const Command* command = nullptr;  // null with help or version alone
  std::vector<std::string> names;    // the patches (or files) that the command is given
  bool help = false, version = false;
  bool json = false, quiet = false, verbose = false;
  ColorMode color = ColorMode::automatic;

  // By long name, "--dry-run": how often it was given, and its values.
  std::map<std::string, std::vector<std::string>, std::less<>> given;

  [[nodiscard]] bool flag(std::string_view name) const { return given.find(name) != given.end(); }
  // The value of an option that is given at most once; empty: not given.
  [[nodiscard]] std::string value(std::string_view name) const;
  [[nodiscard]] std::vector<std::string> values(std::string_view name) const;
};

// args: without the program's name.
Result<Options> parse_options(const std::vector<std::string>& args, const std::vector<Command>& commands);

// The text of --help: of one command, or (null) of suture.
std::string help_text(const Command* command, const std::vector<Command>& commands);

}  // namespace suture
