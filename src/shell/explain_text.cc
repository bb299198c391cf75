// One patch in words: what it is for, what it edits rule by rule, what it needs, and its page.
#include <algorithm>

#include "base/text.h"
#include "shell/report_text.h"
#include "shell/words.h"

namespace suture {
namespace {

std::string indented(const std::string& block, std::string_view indent) {
  std::string text;
  for (std::size_t begin = 0; begin < block.size();) {
    std::size_t end = block.find('\n', begin);
    if (end == std::string::npos) end = block.size();
    if (end > begin) text += std::string(indent) + block.substr(begin, end - begin);
    text += "\n";
    begin = end + 1;
  }
  return text;
}

std::string values(const std::vector<Text>& texts, std::string_view between) {
  std::vector<std::string> parts;
  for (const Text& text : texts) parts.push_back(text.value);
  return join(parts, between);
}

std::string labelled(std::string_view label, const std::string& text) {
  if (text.empty()) return "";
  return pad(label, 12) + text + "\n";
}

std::string_view words_for(Place place) {
  switch (place) {
    case Place::prepend_body:
      return "inserts at the top of the body";
    case Place::append_body:
      return "inserts at the end of the body";
    case Place::insert_before:
      return "inserts before it";
    case Place::insert_after:
      return "inserts after it";
  }
  return "";
}

std::string structural_words(const Structural& edit, const std::string& of) {
  switch (edit.kind) {
    case Structure::remove:
      return "deletes " + of;
    case Structure::wrap:
      return "wraps it ($MATCH) into";
    case Structure::add_argument:
      return "adds to the call " + of + " the argument";
    case Structure::add_element:
      return edit.into == Into::literal
                 ? "adds to " + of + " the element"
                 : "adds to the condition " + of + (edit.into == Into::disjunction ? " or" : " and");
    case Structure::set_key:
      return "adds to the dictionary " + of + " the key " + edit.key->value + " with the value";
    case Structure::add_branch:
      return "adds to it the branch";
    case Structure::add_member:
      return "adds to the class";
    case Structure::add_decorator:
      return "decorates it with";
    case Structure::remove_decorator:
      return "removes the decorator";
    case Structure::remove_import:
      return "removes the import";
  }
  return "";
}

struct EditWords {
  std::string operator()(const Replace& edit) const {
    std::string text;
    if (edit.whole) text += "      replaces it by\n" + indented(edit.whole->value, "        ");
    for (const auto& [name, becomes] : edit.parts) {
      text += "      replaces $" + name.value + " by\n" + indented(becomes.value, "        ");
    }
    return text;
  }
  std::string operator()(const Argument& edit) const {
    return "      changes its argument " + edit.name.value + " to\n" + indented(edit.becomes.value, "        ");
  }
  std::string operator()(const Insert& edit) const {
    return "      " + std::string(words_for(edit.place)) + "\n" + indented(edit.block.value, "        ");
  }
  std::string operator()(const Structural& edit) const {
    std::string of = edit.of.empty() ? "it" : "$" + values(edit.of, ", $");
    return "      " + structural_words(edit, of) + "\n" + indented(edit.code.value, "        ");
  }
  std::string operator()(const AddImport& edit) const {
    return "      adds the import\n" + indented(edit.statement.value, "        ");
  }
};

std::string shape_text(const Shape& shape) {
  std::string text;
  if (shape.narrow.match) text += "      finds\n" + indented(shape.narrow.match->value, "        ");
  if (shape.edit) text += std::visit(EditWords{}, *shape.edit);
  return text;
}

std::string expected(const Expect& expect) {
  const std::string places = expect.min == expect.max
                                 ? count_of(expect.min, "place", "places")
                                 : std::to_string(expect.min) + " to " + std::to_string(expect.max) + " places";
  return places + (expect.per_file ? " in each file" : "");
}

std::string rule_text(const Rule& rule) {
  std::string text = "  " + rule.id + (rule.ok == rule.id ? "" : ": " + rule.ok) + "\n";
  text += "      in " + (rule.in.empty() ? "the module" : values(rule.in, ", ")) + " of " + values(rule.files, " or ") +
          ", " + expected(rule.expect) + "\n";
  if (rule.any_of.empty()) text += shape_text(rule.base);
  for (std::size_t i = 0; i < rule.any_of.size(); ++i) {
    text += "      shape " + std::to_string(i + 1) + " of " + std::to_string(rule.any_of.size()) + "\n" +
            shape_text(rule.any_of[i]);
  }
  return text + indented(rule.note, "      ");
}

std::string conditions(const std::vector<Condition>& all) {
  std::vector<std::string> parts;
  for (const Condition& each : all) {
    if (!each.note.empty()) {
      parts.push_back(each.note);
    } else {
      std::vector<std::string> words;
      if (each.package) words.push_back(each.package->value);
      if (each.versions) words.push_back(each.versions->value);
      if (!each.file.empty()) words.push_back(values(each.file, " or "));
      if (each.class_name) words.push_back("class " + each.class_name->value);
      if (!each.in.empty()) words.push_back("in " + values(each.in, ", "));
      if (each.narrow.match) words.push_back("has " + each.narrow.match->value);
      if (!each.narrow.has.empty() && !each.narrow.match) words.push_back("has " + values(each.narrow.has, ", "));
      if (each.literal) words.push_back("holds \"" + each.literal->value + "\"");
      if (!each.narrow.not_has.empty() && !each.narrow.match)
        words.push_back("has no " + values(each.narrow.not_has, ", "));
      if (each.not_match) words.push_back("has no " + each.not_match->value);
      if (each.not_literal) words.push_back("does not hold \"" + each.not_literal->value + "\"");
      parts.push_back(join(words, " "));
    }
  }
  return join(parts, "; ");
}

}  // namespace

std::string explain_text(const Patch& patch) {
  std::string text = patch.name + "\n" + indented(patch.summary, "  ") + indented(patch.note, "  ") + "\n";
  text += labelled("package", patch.package.value + " " + (patch.versions ? patch.versions->value : "(any version)"));
  text += labelled("conflicts", values(patch.conflicts, ", "));
  text += labelled("recommend", patch.recommend ? std::to_string(*patch.recommend) : "");
  text += labelled("requires", conditions(patch.needs));
  text += labelled("superseded", patch.superseded.empty() ? "" : "where " + conditions(patch.superseded));
  for (const AddedFile& added : patch.adds) {
    const auto lines = static_cast<std::size_t>(std::count(added.bytes.begin(), added.bytes.end(), '\n'));
    text += labelled("adds", added.path.value + " (" + count_of(lines, "line", "lines") + ")");
  }
  text += "\n" + count_of(patch.rules.size(), "rule", "rules") + "\n";
  for (const Rule& rule : patch.rules) text += rule_text(rule);
  if (!patch.page.empty()) text += "\n" + patch.page + (patch.page.back() == '\n' ? "" : "\n");
  return text;
}

}  // namespace suture
