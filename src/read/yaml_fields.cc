// Test: tests/unit/rule_test.cc, tests/unit/patch_test.cc.
#include "read/yaml_fields.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/text.h"
#include "read/glob.h"
#include "read/version.h"

namespace suture {
namespace {

bool contains(const std::vector<std::string>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

void report_unknown(const YamlEntry& entry, const Keys& keys, Problems& problems) {
  if (contains(keys.outer, entry.key)) {
    problems.report(entry.key_at, in_quotes(entry.key) + " belongs to " + keys.outer_what + ", not to " + keys.what,
                    "move it out");
    return;
  }
  const std::optional<std::string> near = nearest(entry.key, keys.known);
  problems.report(entry.key_at, "unknown key " + in_quotes(entry.key) + " in " + keys.what,
                  near ? "did you mean " + in_quotes(*near) + "?" : "its keys are " + join(keys.known, ", ", " and "));
}

// A plain text of a flow list that ends within a bracket was cut at a comma.
bool is_cut(std::string_view text) {
  int depth = 0;
  for (const char c : text) {
    if (c == '(' || c == '[' || c == '{') ++depth;
    if (c == ')' || c == ']' || c == '}') --depth;
  }
  return depth != 0;
}

std::string number_hint(std::string_view text) {
  const bool digits = !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
  if (!digits || text.size() == 1 || text.front() != '0') return "write it in decimal digits, without quotes";
  const std::size_t first = std::min(text.find_first_not_of('0'), text.size() - 1);
  return "write " + std::string(text.substr(first)) + ": some readers take a number with a leading 0 for octal";
}

}  // namespace

void Problems::report(Range at, std::string message, std::string hint) {
  keep_first(wrong_, at, std::move(message), std::move(hint));
}

void Problems::report_missing(Range at, std::string message, std::string hint) {
  keep_first(missing_, at, std::move(message), std::move(hint));
}

void Problems::keep_first(std::optional<Found>& kept, Range at, std::string message, std::string hint) {
  if (kept && kept->at <= at.begin) return;
  kept = Found{at.begin, yaml_error(source_, at, std::move(message), std::move(hint))};
}

Fields::Fields(const YamlNode& node, const Keys& keys, Problems& problems)
    : node_(node), keys_(keys), problems_(problems) {
  if (!is_map()) {
    problems.report(node.at, keys.what + " must be a map, not " + kind_words(node.kind),
                    "its keys are " + join(keys.known, ", ", " and "));
  }
  for (const YamlEntry& entry : node.entries) {
    if (!contains(keys.known, entry.key)) report_unknown(entry, keys, problems);
  }
}

const YamlEntry* Fields::find(std::string_view key) const {
  const auto found = std::find_if(node_.entries.begin(), node_.entries.end(),
                                  [&](const YamlEntry& entry) { return entry.key == key; });
  return found == node_.entries.end() ? nullptr : &*found;
}

std::optional<Text> Fields::text(std::string_view key) const {
  const YamlEntry* entry = find(key);
  return entry == nullptr ? std::nullopt : as_text(entry->value, in_quotes(key), problems_);
}

std::string Fields::words(std::string_view key) const {
  const std::optional<Text> found = text(key);
  return found ? std::string(trim_end(found->value)) : "";
}

std::vector<Text> Fields::texts(std::string_view key) const {
  const YamlEntry* entry = find(key);
  if (entry == nullptr) return {};
  std::vector<Text> out;
  if (entry->value.kind != YamlNode::Kind::list) {
    if (auto one = as_text(entry->value, in_quotes(key), problems_)) out.push_back(std::move(*one));
    return out;
  }
  for (const YamlNode& item : items(key)) {
    const bool cut =
        entry->value.style == YamlNode::Style::flow && item.style == YamlNode::Style::plain && is_cut(item.value);
    if (cut) {
      problems_.report(item.at, "this text ends within a bracket: in [...] a comma begins the next item",
                       "put the text in quotes, or write the list with one '-' a line");
    }
    if (auto one = as_text(item, "an item of " + in_quotes(key), problems_)) out.push_back(std::move(*one));
  }
  return out;
}

std::optional<std::uint32_t> Fields::number(std::string_view key) const {
  const YamlEntry* entry = find(key);
  return entry == nullptr ? std::nullopt : as_number(entry->value, in_quotes(key), problems_);
}

std::optional<bool> Fields::flag(std::string_view key) const {
  const YamlEntry* entry = find(key);
  if (entry == nullptr) return std::nullopt;
  const YamlNode& node = entry->value;
  const bool plain = node.kind == YamlNode::Kind::scalar && node.style == YamlNode::Style::plain;
  if (plain && (node.value == "true" || node.value == "false")) return node.value == "true";
  const std::string what = node.kind == YamlNode::Kind::scalar ? in_quotes(node.value) : kind_words(node.kind);
  problems_.report(node.at, in_quotes(key) + " must be true or false, not " + what,
                   "write true or false, without quotes");
  return std::nullopt;
}

const std::vector<YamlNode>& Fields::items(std::string_view key) const {
  static const std::vector<YamlNode> kNone;
  const YamlEntry* entry = find(key);
  if (entry == nullptr) return kNone;
  if (entry->value.kind != YamlNode::Kind::list) {
    problems_.report(entry->value.at, in_quotes(key) + " must be a list, not " + kind_words(entry->value.kind),
                     "write each item in a line of its own that begins with '- '");
    return kNone;
  }
  if (entry->value.items.empty())
    problems_.report(entry->value.at, in_quotes(key) + " is an empty list", "remove the key, or name something");
  return entry->value.items;
}

Text Fields::required(std::string_view key, const std::string& hint) const {
  const YamlEntry* entry = find(key);
  if (entry == nullptr && is_map()) problems_.report_missing(node_.at, keys_.what + " has no " + in_quotes(key), hint);
  return text(key).value_or(Text{});
}

std::optional<Text> Fields::specifiers(std::string_view key) const {
  std::optional<Text> set = text(key);
  std::string problem;
  if (set && !parse_specifiers(set->value, &problem)) {
    problems_.report(set->at, in_quotes(key) + " is not a version range: " + problem,
                     "write PEP 440 specifiers, such as \">=0.5.1,<0.6\"");
  }
  return set;
}

std::vector<Text> Fields::paths(std::string_view key) const {
  std::vector<Text> out = texts(key);
  for (const Text& path : out) {
    if (!check_path(path, in_quotes(key), problems_) || !is_glob(path.value)) continue;
    if (auto problem = glob_problem(path.value))
      problems_.report(path.at, std::move(problem->message), std::move(problem->hint));
  }
  return out;
}

std::optional<Text> as_text(const YamlNode& node, const std::string& name, Problems& problems) {
  if (node.kind != YamlNode::Kind::scalar) {
    problems.report(
        node.at, name + " must be a text, not " + kind_words(node.kind),
        node.style == YamlNode::Style::flow ? "a text that begins with [ or { must be quoted" : "write one text");
    return std::nullopt;
  }
  if (trim(node.value).empty()) {
    problems.report(node.at, name + " is empty", "write a text, or remove it");
    return std::nullopt;
  }
  return Text{node.value, node.at};
}

std::optional<std::uint32_t> as_number(const YamlNode& node, const std::string& name, Problems& problems) {
  const std::string& text = node.value;
  const bool scalar = node.kind == YamlNode::Kind::scalar;
  const bool digits = scalar && node.style == YamlNode::Style::plain && !text.empty() && text.size() <= 9 &&
                      text.find_first_not_of("0123456789") == std::string::npos &&
                      (text.size() == 1 || text.front() != '0');
  if (digits) return static_cast<std::uint32_t>(std::stoul(text));
  problems.report(node.at, name + " must be a whole number, not " + (scalar ? in_quotes(text) : kind_words(node.kind)),
                  number_hint(text));
  return std::nullopt;
}

void check_id(const Text& id, const std::string& name, Problems& problems) {
  const std::string_view text = id.value;
  const bool characters = text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string_view::npos;
  if (text.empty() || (characters && text.front() != '-' && text.back() != '-')) return;
  problems.report(id.at, name + " must be of a-z, 0-9 and '-' between them, not " + in_quotes(text),
                  "such as mla-decode-casts-active");
}

bool check_path(const Text& path, const std::string& name, Problems& problems) {
  const std::string_view text = path.value;
  if (text.empty()) return false;  // missing, and reported as that
  const std::string hint = "write it relative to its folder, with '/', such as srt/layers/attention/backend.py";
  // A NUL would end the name for the system, and not for us.
  const bool odd =
      std::any_of(text.begin(), text.end(), [](char c) { return c == '\\' || (c >= 0 && c < ' ') || c == 0x7F; });
  if (odd) {
    problems.report(path.at, name + " has a character that no path here has: " + in_quotes(text), hint);
    return false;
  }
  if (text.front() == '/') {
    problems.report(path.at, name + " is an absolute path: " + in_quotes(text), hint);
    return false;
  }
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t slash = std::min(text.find('/', at), text.size());
    const std::string_view part = text.substr(at, slash - at);
    if (part.empty() || part == "." || part == "..") {
      problems.report(path.at, name + " has an empty, '.' or '..' part: " + in_quotes(text), hint);
      return false;
    }
    at = slash + 1;
  }
  return true;
}

}  // namespace suture
