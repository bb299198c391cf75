// Typed access to the maps of a rule or patch file. Readers ask for what they want and get it or nothing; what is
// wrong is collected, and the reader returns the problem that stands first in the file. So a reader is a list of
// fields and not a ladder of ifs.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/source.h"
#include "read/rule.h"
#include "read/yaml_reader.h"

namespace suture {

class Problems {
 public:
  explicit Problems(const Source& source) : source_(source) {}

  void report(Range at, std::string message, std::string hint = "");
  // What is not there. Said only where nothing that is there is wrong: a mistyped key is the reason for a missing one.
  void report_missing(Range at, std::string message, std::string hint);
  [[nodiscard]] bool none() const { return !wrong_ && !missing_; }
  // Precondition: !none().
  [[nodiscard]] const Error& first() const { return wrong_ ? wrong_->error : missing_->error; }

 private:
  struct Found {
    std::uint32_t at = 0;
    Error error;
  };
  void keep_first(std::optional<Found>& kept, Range at, std::string message, std::string hint);

  const Source& source_;
  std::optional<Found> wrong_, missing_;
};

// The keys of one kind of map.
struct Keys {
  std::string what;                // how messages call it: "a rule"
  std::vector<std::string> known;  // in the order in which a message lists them
  std::vector<std::string> outer;  // keys that belong to the map around it
  std::string outer_what;          // "the rule"
};

class Fields {
 public:
  // Reports what is not a map, and every key that is not in `keys`.
  Fields(const YamlNode& node, const Keys& keys, Problems& problems);

  [[nodiscard]] Range at() const { return node_.at; }
  [[nodiscard]] bool is_map() const { return node_.kind == YamlNode::Kind::map; }
  [[nodiscard]] const YamlEntry* find(std::string_view key) const;

  // Absent where the key is not there or its value is of another type (which is reported).
  [[nodiscard]] std::optional<Text> text(std::string_view key) const;
  [[nodiscard]] std::string words(std::string_view key) const;        // "" where absent
  [[nodiscard]] std::vector<Text> texts(std::string_view key) const;  // a text, or a list of texts
  [[nodiscard]] std::optional<std::uint32_t> number(std::string_view key) const;
  [[nodiscard]] std::optional<bool> flag(std::string_view key) const;
  [[nodiscard]] const std::vector<YamlNode>& items(std::string_view key) const;  // a list of anything, not empty
  // As text(), and reports where it is missing.
  [[nodiscard]] Text required(std::string_view key, const std::string& hint) const;
  [[nodiscard]] std::optional<Text> specifiers(std::string_view key) const;  // PEP 440
  [[nodiscard]] std::vector<Text> paths(std::string_view key) const;  // texts() that are relative paths, or globs

  [[nodiscard]] Problems& problems() const { return problems_; }

 private:
  const YamlNode& node_;
  const Keys& keys_;
  Problems& problems_;
};

// The values by themselves; `name` is what messages call them ("'match'").
std::optional<Text> as_text(const YamlNode& node, const std::string& name, Problems& problems);
std::optional<std::uint32_t> as_number(const YamlNode& node, const std::string& name, Problems& problems);

// Reports what is no id: [a-z0-9] and '-' within.
void check_id(const Text& id, const std::string& name, Problems& problems);
// Reports what is not a path below the folder that it is relative to; whether it is one.
bool check_path(const Text& path, const std::string& name, Problems& problems);

}  // namespace suture
