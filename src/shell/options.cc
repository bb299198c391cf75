// CLI11 splits the arguments into options, values and the rest; everything that has a meaning of ours (which command,
// whose option, how many names) is checked here, on values. So one flat CLI11 application knows the options of all
// commands, which is what lets them stand on either side of the command.
//
// Covered by tests/cli/usage_test.py (whole messages).
#include "shell/options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <utility>

#include "base/text.h"
#include "read/version.h"
#include "shell/words.h"

namespace suture {
namespace {

const std::vector<OptionSpec>& common_options() {
  static const std::vector<OptionSpec> specs = {
      {"--json", "", "print one JSON document on stdout instead of text", false},
      {"--color", "WHEN", "colour: auto (on a terminal; the default), always or never", false},
      {"--rules-dir", "DIR", "read rules from DIR too; an id that is known already is replaced", true},
      {"--patches-dir", "DIR", "read patches from DIR too; a name that is known already is replaced", true},
      {"-q,--quiet", "", "data and errors only", false},
      {"-v,--verbose", "", "say more: how the tree was found, each rule, each site", false},
      {"--version", "", "print the version and exit", false},
      {"-h,--help", "", "print this help and exit", false},
  };
  return specs;
}

const std::vector<OptionSpec>& tree_options() {
  static const std::vector<OptionSpec> specs = {
      {"-t,--tree", "TREE", "a package folder, site-packages, a virtual environment, a source checkout or a wheel",
       true},
      {"--python", "EXE", "without --tree: this interpreter's environment; diff and apply have it compile the result",
       false},
      {"--assume-version", "V", "take the package to be version V where its metadata does not say", false},
      {"--lock-timeout", "SECS", "how long the run waits for another suture on the tree (600)", false},
  };
  return specs;
}

std::string long_name(const OptionSpec& spec) {
  const std::size_t comma = spec.names.rfind(',');
  return std::string(comma == std::string_view::npos ? spec.names : spec.names.substr(comma + 1));
}

const OptionSpec* find_spec(const std::vector<OptionSpec>& specs, std::string_view name) {
  for (const OptionSpec& spec : specs) {
    if (long_name(spec) == name) return &spec;
  }
  return nullptr;
}

// Every option that some command takes, once. An option that two commands share has one spelling and one arity.
std::vector<OptionSpec> all_options(const std::vector<Command>& commands) {
  std::vector<OptionSpec> all = common_options();
  all.insert(all.end(), tree_options().begin(), tree_options().end());
  for (const Command& command : commands) {
    for (const OptionSpec& spec : command.options) {
      if (find_spec(all, long_name(spec)) == nullptr) all.push_back(spec);
    }
  }
  return all;
}

bool takes(const Command& command, std::string_view name) {
  if (find_spec(common_options(), name) != nullptr) return true;
  if (command.trees != Command::Trees::none && find_spec(tree_options(), name) != nullptr) return true;
  return find_spec(command.options, name) != nullptr;
}

Error usage(std::string message, std::string hint) {
  return Error{Exit::usage, std::move(message), std::nullopt, std::move(hint)};
}

std::vector<std::string> command_names(const std::vector<Command>& commands) {
  std::vector<std::string> names;
  for (const Command& command : commands) names.emplace_back(command.name);
  return names;
}

// What CLI11 made of the arguments.
struct Split {
  std::map<std::string, std::vector<std::string>, std::less<>> given;
  std::vector<std::string> rest;  // names and unknown options, in order; "--" ends the options
};

// CLI11 throws in two cases here: a value is missing, which can only be at the end of the line, and a flag was given a
// value (--json=yes).
Error words_for(const CLI::ParseError& error, const std::vector<std::string>& args,
                const std::vector<OptionSpec>& specs) {
  for (const OptionSpec& spec : specs) {
    const std::string name = long_name(spec);
    const std::string start = name + "=";
    for (const std::string& arg : args) {
      if (spec.value.empty() && arg.rfind(start, 0) == 0) {
        return usage("option " + name + " takes no value, but is given \"" + arg.substr(start.size()) + "\"",
                     "write " + name);
      }
    }
  }
  const std::string last = args.empty() ? std::string() : args.back();
  for (const OptionSpec& spec : specs) {
    const std::string name = long_name(spec);
    const bool is_short = spec.names.size() > name.size() && last.size() > 1 && last[0] == '-' && last[1] != '-' &&
                          last.back() == spec.names[1];
    if (!spec.value.empty() && (last == name || last == name + "=" || is_short)) {
      return usage("option " + name + " needs a value", "write " + name + " " + std::string(spec.value));
    }
  }
  return usage(std::string("the command line cannot be read: ") + error.what(), "suture --help lists the options");
}

Result<Split> split(const std::vector<std::string>& args, const std::vector<OptionSpec>& specs) {
  Split result;
  CLI::App app;
  app.set_help_flag();
  app.allow_extras();
  std::vector<std::vector<std::string>> values(specs.size());
  std::vector<CLI::Option*> options;
  for (std::size_t i = 0; i < specs.size(); ++i) {
    const std::string names(specs[i].names);
    if (specs[i].value.empty()) {
      options.push_back(app.add_flag(names)->disable_flag_override());
    } else {
      // One value each time: `-t A B` is the tree A and the patch B. (This also keeps CLI11 from splitting "[a,b]".)
      options.push_back(app.add_option(names, values[i])->allow_extra_args(false));
    }
  }
  try {
    app.parse(std::vector<std::string>(args.rbegin(), args.rend()));
  } catch (const CLI::ParseError& error) {
    return words_for(error, args, specs);
  }
  for (std::size_t i = 0; i < specs.size(); ++i) {
    if (options[i]->count() > 0) result.given.emplace(long_name(specs[i]), values[i]);
  }
  result.rest = app.remaining();
  return result;
}

// The names among the rest; the first option that nobody knows is an error.
Result<std::vector<std::string>> names_of(const std::vector<std::string>& rest, const std::vector<OptionSpec>& specs) {
  std::vector<std::string> names;
  bool options_ended = false;
  for (const std::string& word : rest) {
    if (!options_ended && word == "--") {
      options_ended = true;
    } else if (!options_ended && word.size() > 1 && word[0] == '-') {
      std::vector<std::string> known;
      for (const OptionSpec& spec : specs) known.push_back(long_name(spec));
      const std::string name = word.substr(0, word.find('='));
      const std::optional<std::string> near = nearest(name, known);
      return usage("unknown option " + name,
                   near ? "the nearest known one is " + *near : "suture --help lists the options");
    } else {
      names.push_back(word);
    }
  }
  return names;
}

Result<const Command*> find_command(const std::string& name, const std::vector<Command>& commands) {
  for (const Command& command : commands) {
    if (command.name == name) return &command;
  }
  const std::vector<std::string> known = command_names(commands);
  const std::optional<std::string> near = nearest(name, known);
  std::string hint = "the commands are " + join(known, ", ", " and ");
  if (near) hint += "; the nearest to it is " + *near;
  return usage("unknown command \"" + name + "\"", hint);
}

std::string takers_of(std::string_view option, const std::vector<Command>& commands) {
  std::vector<std::string> names;
  for (const Command& command : commands) {
    if (takes(command, option)) names.emplace_back(command.name);
  }
  return join(names, ", ", " and ");
}

std::optional<Error> check_options(const Options& options, const std::vector<Command>& commands) {
  const Command& command = *options.command;
  const std::vector<OptionSpec> specs = all_options(commands);
  for (const auto& [name, values] : options.given) {
    if (!takes(command, name)) {
      return usage(std::string(command.name) + " has no option " + name,
                   "it is an option of " + takers_of(name, commands));
    }
    const bool several_trees = name == "--tree" && command.trees == Command::Trees::several;
    const bool repeats = find_spec(specs, name)->repeats && (name != "--tree" || several_trees);
    if (values.size() > 1 && !repeats) {
      return usage(
          "option " + name + " is given " + std::to_string(values.size()) + " times",
          name == "--tree" ? std::string(command.name) + " works on one tree; status takes several" : "give it once");
    }
    for (const std::string& value : values) {
      if (value.empty())
        return usage("option " + name + " is given an empty value", "give it a value, or leave it out");
      if (value.starts_with("--")) {
        return usage("option " + name + " is given \"" + value + "\" for its value, which is an option",
                     "write " + name + " " + std::string(find_spec(specs, name)->value) +
                         "; a path that begins with -- is written with ./ in front");
      }
    }
  }
  const bool runs_it = command.name == "diff" || command.name == "apply" || command.name == "verify";
  if (options.flag("--tree") && options.flag("--python") && !runs_it) {
    return usage("--tree and --python both say where the package is", "give one of them");
  }
  if (options.quiet && options.verbose) return usage("--quiet and --verbose contradict each other", "give one of them");
  return std::nullopt;
}

std::optional<Error> check_names(const Options& options) {
  const Command& command = *options.command;
  const Positionals& wanted = command.positionals;
  const std::string what(wanted.name);
  for (const std::string& name : options.names) {
    if (name.empty()) return usage("an empty name is given to " + std::string(command.name), "leave it out");
  }
  if (options.names.size() < wanted.min) {
    return usage(std::string(command.name) + " needs a " + what,
                 "write suture " + std::string(command.name) + " " + what +
                     (what == "PATCH" ? "; suture list shows the patches" : ""));
  }
  if (options.names.size() > wanted.max) {
    const std::string most = wanted.max == 0 ? "nothing" : "one " + what;
    return usage(
        std::string(command.name) + " takes " + most + ", but is also given \"" + options.names[wanted.max] + "\"",
        "suture " + std::string(command.name) + " --help says what it takes");
  }
  return std::nullopt;
}

std::optional<Error> check_version(const Options& options) {
  const std::string version = options.value("--assume-version");
  if (version.empty() || parse_version(version)) return std::nullopt;
  return usage("--assume-version is given \"" + version + "\", which is no version",
               "write it as PEP 440 has it, such as 0.5.1.post2 or 1.0rc1");
}

// 0: not at all.
std::optional<Error> check_lock_timeout(const Options& options) {
  const std::string seconds = options.value("--lock-timeout");
  const bool digits = seconds.find_first_not_of("0123456789") == std::string::npos;
  if (!options.flag("--lock-timeout") || (digits && seconds.size() <= 7)) return std::nullopt;
  return usage("--lock-timeout is given \"" + seconds + "\", which is no number of seconds",
               "write whole seconds, such as 60; 0 does not wait");
}

// --with NAME=PATH, each name once.
std::optional<Error> check_with(const Options& options) {
  std::vector<std::string> names;
  for (const std::string& value : options.values("--with")) {
    const std::size_t equals = value.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == value.size()) {
      return usage("--with is given \"" + value + "\", which is no NAME=PATH",
                   "write the package's name and its folder or wheel, such as flashinfer-python=/path/to/flashinfer");
    }
    names.push_back(normalize_name(value.substr(0, equals)));
    if (std::count(names.begin(), names.end(), names.back()) > 1)
      return usage("--with names " + names.back() + " twice", "give one place for it");
  }
  return std::nullopt;
}

std::optional<Error> set_color(Options& options) {
  const std::string when = options.value("--color");
  if (when.empty() || when == "auto") return std::nullopt;
  if (when != "always" && when != "never") {
    return usage("--color does not know \"" + when + "\"", "it is auto, always or never");
  }
  options.color = when == "always" ? ColorMode::always : ColorMode::never;
  return std::nullopt;
}

std::optional<Error> set_format(Options& options) {
  const std::string format = options.value("--format");
  if (format.empty() || format == "text") return std::nullopt;
  if (format != "json" && format != "sarif")
    return usage("--format does not know \"" + format + "\"", "it is text, json or sarif");
  if (options.json && format == "sarif")
    return usage("--json and --format sarif contradict each other", "give one of them");
  options.json = format == "json";
  return std::nullopt;
}

// --- help ------------------------------------------------------------------------------------------------------------

std::string option_lines(const std::vector<OptionSpec>& specs) {
  std::string text;
  for (const OptionSpec& spec : specs) {
    std::string left = spec.names[1] == '-' ? "    " : "";
    for (const char c : spec.names) left += c == ',' ? std::string(", ") : std::string(1, c);
    if (!spec.value.empty()) left += " " + std::string(spec.value);
    text += "  " + pad(left, 26) + std::string(spec.help) + "\n";
  }
  return text;
}

std::string names_in_usage(const Positionals& wanted) {
  if (wanted.max == 0) return "";
  const std::string dots = wanted.max == 1 ? "" : "...";
  const std::string name(wanted.name);
  return wanted.min == 0 ? " [" + name + dots + "]" : " " + name + dots;
}

std::string command_help(const Command& command) {
  std::string text =
      "usage: suture " + std::string(command.name) + names_in_usage(command.positionals) + " [OPTION...]\n";
  text += "\n" + std::string(command.summary) + "\n";
  if (!command.details.empty()) text += "\n" + std::string(command.details) + "\n";
  text += "\noptions:\n" + option_lines(command.options);
  if (command.trees != Command::Trees::none) text += option_lines(tree_options());
  return text + option_lines(common_options());
}

}  // namespace

std::string Options::value(std::string_view name) const {
  const auto found = given.find(name);
  return found == given.end() || found->second.empty() ? std::string() : found->second.front();
}

std::vector<std::string> Options::values(std::string_view name) const {
  const auto found = given.find(name);
  return found == given.end() ? std::vector<std::string>() : found->second;
}

std::string help_text(const Command* command, const std::vector<Command>& commands) {
  if (command != nullptr) return command_help(*command);
  std::string text =
      "usage: suture COMMAND [OPTION...]\n\n"
      "suture patches the Python source of an installed package by the structure of the code.\n"
      "Where anything is in doubt it writes nothing and says why.\n\ncommands:\n";
  for (const Command& each : commands) text += "  " + pad(std::string(each.name), 9) + std::string(each.summary) + "\n";
  text += "\noptions of every command:\n" + option_lines(common_options());
  text += "\noptions of the commands that read a tree:\n" + option_lines(tree_options());
  return text +
         "\nexit codes: 0 done or nothing to do; 1 would change (diff --exit-code, status --check); 2 usage;\n"
         "3 a rule or patch file is wrong; 4 drifted, ambiguous, partial, foreign-edit, conflicting;\n"
         "5 out-of-range, blocked, absent; 6 file system; 7 verification failed; verify alone: 8 skipped, no GPU;\n"
         "9 no torch; 10 no FlashInfer that runs; 11 out of memory; 12 timed out; 13 GPU or driver too old;\n"
         "14 no verify_kernels; 15 it ended in the middle\n";
}

Result<Options> parse_options(const std::vector<std::string>& args, const std::vector<Command>& commands) {
  const std::vector<OptionSpec> specs = all_options(commands);
  Result<Split> split_args = split(args, specs);
  if (!split_args) return split_args.error();
  Result<std::vector<std::string>> names = names_of(split_args->rest, specs);
  if (!names) return names.error();

  Options options;
  options.given = std::move(split_args->given);
  options.help = options.flag("--help");
  options.version = options.flag("--version");
  options.json = options.flag("--json");
  options.quiet = options.flag("--quiet");
  options.verbose = options.flag("--verbose");
  if (names->empty()) {
    if (options.help || options.version) return options;
    return usage("no command is given", "the commands are " + join(command_names(commands), ", ", " and ") +
                                            "; suture --help says what they do");
  }
  Result<const Command*> command = find_command(names->front(), commands);
  if (!command) return command.error();
  options.command = *command;
  options.names.assign(names->begin() + 1, names->end());
  if (options.help || options.version) return options;
  if (auto error = check_options(options, commands)) return *error;
  if (auto error = set_color(options)) return *error;
  if (auto error = set_format(options)) return *error;
  if (auto error = check_version(options)) return *error;
  if (auto error = check_lock_timeout(options)) return *error;
  if (auto error = check_with(options)) return *error;
  if (auto error = check_names(options)) return *error;
  return options;
}

}  // namespace suture
