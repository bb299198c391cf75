// One patch in words: what, when, how much, what it leaves alone; then its page. Sentences, not YAML keys. Each edit's words
// are in explain_edit.cc.
#include <algorithm>

#include "base/text.h"
#include "shell/explain_edit.h"
#include "shell/prose.h"
#include "shell/report_text.h"
#include "shell/words.h"

namespace suture {
namespace {

std::vector<std::string> values(const std::vector<Text>& texts) {
  std::vector<std::string> parts;
  for (const Text& text : texts) parts.push_back(text.value);
  return parts;
}

std::string any_of(const std::vector<Text>& texts) {
  return join(values(texts), ", ", " or ");
}

// --- when

// What a condition of patch.yaml says: "toycache >=1.0", "Rows in rows.py has `def f(): $$$`".
Sentence condition_sentence(const Condition& each, const Patch& patch) {
  Sentence out;
  const bool whole_package = each.file.empty() && !each.class_name;
  std::string start = each.package ? each.package->value : whole_package ? patch.package.value : std::string();
  if (each.versions) start += (start.empty() ? "the version is " : " ") + each.versions->value;
  if (!whole_package) {
    if (!start.empty()) start += " and ";
    start += (each.in.empty() ? "" : any_of(each.in) + " in ") +
             (each.class_name ? "the class " + each.class_name->value : any_of(each.file));
  }
  out.push_back(words(start));
  std::string link = " ";
  const auto add = [&](const std::string& verb, const Text& text) {
    out = std::move(out) + Sentence{words(link + verb + " "), code(text.value)};
    link = " and ";
  };
  if (each.narrow.match) add("has", *each.narrow.match);
  if (!each.narrow.match) {
    for (const Text& pattern : each.narrow.has) add("has", pattern);
    for (const Text& pattern : each.narrow.not_has) add("does not have", pattern);
  }
  if (each.literal) add("holds the text", *each.literal);
  for (const Text& pattern : each.not_match) add("does not have", pattern);
  if (each.not_literal) add("does not hold the text", *each.not_literal);
  if (link == " " && !whole_package) out.push_back(words(each.in.empty() ? " is there" : " is defined"));
  if (!each.note.empty()) out.push_back(words(" (" + each.note + ")"));
  if (!each.otherwise.empty()) out.push_back(words("; otherwise " + each.otherwise));
  return out;
}

std::string conditions(const std::string& lead, const std::vector<Condition>& all, const Patch& patch) {
  std::string text;
  for (const Condition& each : all) text += to_text(Sentence{words(lead)} + condition_sentence(each, patch), "  ");
  return text;
}

std::string when_text(const Patch& patch) {
  std::string text = "When\n";
  text += paragraph("For " + patch.package.value + ", " +
                        (patch.versions ? "versions " + patch.versions->value : "any version") + ".",
                    "  ");
  text += conditions("It needs: ", patch.needs, patch);
  for (const std::string& sentence : patch.assumes)
    text += paragraph("It assumes, and no file can tell: " + sentence, "  ");
  text += conditions("It has nothing to do where upstream does it already: ", patch.superseded, patch);
  if (!patch.conflicts.empty())
    text += paragraph("Not together with " + join(values(patch.conflicts), ", ", " or ") + ".", "  ");
  if (patch.recommend)
    text += paragraph(
        "Recommended: rank " + std::to_string(*patch.recommend) +
            " among the patches for this package; `suture diff` without a name takes the lowest that applies.",
        "  ");
  return text;
}

// --- what

std::string places(const Rule& rule) {
  const Expect& expect = rule.expect;
  std::string text;
  if (expect.min == expect.max) {
    text = count_of(expect.min, "place", "places");
  } else if (expect.max == static_cast<std::uint32_t>(-1)) {
    text = count_of(expect.min, "place", "places") + " or more";
  } else {
    text = std::to_string(expect.min) + " to " + std::to_string(expect.max) + " places";
  }
  if (expect.per_file) text += " in each file";
  switch (rule.select.kind) {
    case SelectKind::first:
      return "the first of " + text;
    case SelectKind::last:
      return "the last of " + text;
    case SelectKind::nth:
      return "number " + std::to_string(rule.select.n + 1) + " of " + text;
    case SelectKind::all:
      break;
  }
  return text;
}

bool is_import(const Rule& rule) {
  return rule.base.edit && std::holds_alternative<AddImport>(*rule.base.edit);
}

std::string rule_text(const Rule& rule) {
  std::string text = "  " + rule.id + (rule.ok == rule.id ? "" : ": " + rule.ok) + "\n";
  const std::string scope = rule.in.empty() ? "" : any_of(rule.in) + " of ";
  const std::string where = "In " + scope + any_of(rule.files);
  if (is_import(rule)) {
    text += to_text(Sentence{words(where + " it ")} + edit_sentence(rule.base), "      ");
  } else if (rule.any_of.empty()) {
    text += to_text(Sentence{words(where + ", at " + places(rule) + ", it ")} + edit_sentence(rule.base), "      ");
  } else {
    text += paragraph(where + ", at " + places(rule) + ", as the code there is one of " +
                          count_of(rule.any_of.size(), "shape", "shapes") + ":",
                      "      ");
    for (const Shape& shape : rule.any_of) {
      const std::string versions = shape.versions ? " (versions " + shape.versions->value + ")" : "";
      text += to_text(Sentence{words("it ")} + edit_sentence(shape) + Sentence{words(versions)}, "        ");
    }
  }
  return text + paragraph(rule.note, "      ");
}

std::string how_much(const Patch& patch) {
  std::vector<std::string> files;
  for (const Rule& rule : patch.rules) {
    const std::string file = any_of(rule.files);
    if (std::find(files.begin(), files.end(), file) == files.end()) files.push_back(file);
  }
  const auto imports = static_cast<std::size_t>(std::count_if(patch.rules.begin(), patch.rules.end(), is_import));
  const std::size_t edits = patch.rules.size() - imports;
  std::vector<std::string> parts;
  if (edits > 0) parts.push_back(count_of(edits, "edit", "edits"));
  if (imports > 0) parts.push_back(count_of(imports, "import", "imports"));
  std::string text = join(parts, " and ") + (files.empty() ? "" : " in " + join(files, ", ", " and "));
  for (const AddedFile& added : patch.adds) {
    const auto lines = static_cast<std::size_t>(std::count(added.bytes.begin(), added.bytes.end(), '\n'));
    text += (text.empty() ? "" : "; ") + std::string("adds ") + added.path.value + " (" +
            count_of(lines, "line", "lines") + ")";
  }
  return text;
}

// --- what it leaves alone

std::string left_alone(const Patch& patch) {
  std::string text = paragraph(
      "Every other file; in these, all code that no rule describes in full, and all layout and comments "
      "around what is edited. Where the code is not as the rules describe it, nothing is written.",
      "  ");
  for (const Rule& rule : patch.rules) {
    if (rule.done_if && rule.done_if->match)
      text += to_text(
          {words("Code that has "), code(rule.done_if->match->value), words(" needs no edit by " + rule.id + ".")},
          "  ");
    for (const Example& example : rule.examples) {
      if (!example.same) continue;
      text += to_text({words("Such code as "), code(example.same->value), words(" (" + rule.id + ").")}, "  ");
    }
  }
  return text;
}

}  // namespace

std::string explain_text(const Patch& patch, const std::string& verdicts) {
  std::string text = patch.name + ": " + patch.summary + "\n" + paragraph(patch.note, "  ");
  if (!verdicts.empty()) text += "\nHere\n" + indented(verdicts, "  ");
  text += "\n" + when_text(patch);
  text += "\nWhat\n" + paragraph("All or nothing: " + how_much(patch) + ".", "  ");
  for (const Rule& rule : patch.rules) text += rule_text(rule);
  text += "\nWhat it leaves alone\n" + left_alone(patch);
  if (!patch.page.empty()) text += "\n" + patch.page + (patch.page.back() == '\n' ? "" : "\n");
  return text;
}

}  // namespace suture
