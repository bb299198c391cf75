// Wording of the text reports. Every line here is asserted whole by tests/cli.
#include "shell/report_text.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/text.h"
#include "shell/words.h"

namespace suture {
namespace {

constexpr std::string_view kRed = "\033[31m", kGreen = "\033[32m", kYellow = "\033[33m", kCyan = "\033[36m",
                           kBold = "\033[1m", kPlain = "\033[0m";
constexpr std::size_t kVerdictWidth = 14;  // "out-of-range" and "foreign-edit", and two blanks

std::string paint(std::string_view text, std::string_view color, Style style) {
  if (!style.color || text.empty()) return std::string(text);
  return std::string(color) + std::string(text) + std::string(kPlain);
}

std::string_view color_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::applied:
    case Verdict::superseded:
      return kGreen;
    case Verdict::applicable:
    case Verdict::outdated:
      return kCyan;
    case Verdict::absent:
    case Verdict::out_of_range:
    case Verdict::blocked:
      return kYellow;
    case Verdict::conflicting:
    case Verdict::ambiguous:
    case Verdict::foreign_edit:
    case Verdict::drifted:
    case Verdict::partial:
      return kRed;
  }
  return kPlain;
}

// "srt/x.py:10: what is there"
std::string place(const Evidence& evidence) {
  const std::string& file = evidence.path.empty() ? evidence.where.file : evidence.path;
  std::string text = printable(file);
  if (evidence.where.line > 0) text += ":" + std::to_string(evidence.where.line);
  if (evidence.where.line > 0 && evidence.column) text += ":" + std::to_string(evidence.where.column);
  const std::string& what = evidence.text.empty() ? evidence.where.text : evidence.text;
  const std::size_t first = what.find_first_not_of(" \t");
  if (first == std::string::npos) return text;
  return text + (text.empty() ? "" : ": ") + printable(what.substr(first));
}

// What is there, and what differs there.
std::string place_lines(const Evidence& evidence, std::string_view indent) {
  std::string text = std::string(indent) + place(evidence) + "\n";
  if (!evidence.detail.empty()) text += std::string(indent) + "  " + printable(evidence.detail) + "\n";
  return text;
}

std::string places(const std::vector<Evidence>& evidence, std::string_view indent) {
  std::string text;
  for (const Evidence& each : evidence) text += place_lines(each, indent);
  return text;
}

std::string hints(const std::vector<std::string>& all, std::string_view indent) {
  std::string text;
  for (const std::string& hint : all) text += std::string(indent) + "hint: " + printable_lines(hint) + "\n";
  return text;
}

std::string expected_count(const RuleOutcome& rule) {
  if (rule.expected_min == rule.expected_max) return std::to_string(rule.expected_min);
  return std::to_string(rule.expected_min) + " to " + std::to_string(rule.expected_max);
}

// "in a.py", "in a.py, b.py and 4 more"
std::string files_of(const RuleOutcome& rule) {
  if (rule.files.size() < 2) return rule.file.empty() ? "no file" : rule.file;
  constexpr std::size_t kShown = 3;
  const std::vector<std::string>& all = rule.files;
  if (all.size() <= kShown) return join(all, ", ", " and ");
  return join({all.begin(), all.begin() + kShown}, ", ") + " and " + std::to_string(all.size() - kShown) + " more";
}

std::string rule_lines(const RuleOutcome& rule) {
  std::string text = "    " + rule.rule + ": " + std::string(rule_state_name(rule.state)) + " (old " +
                     std::to_string(rule.old_sites) + ", result " + std::to_string(rule.result_sites) + ", done " +
                     std::to_string(rule.done_sites) + "; expected " + expected_count(rule) +
                     (rule.per_file ? " in each file" : "") + ") in " + files_of(rule) + "\n";
  text += places(rule.sites, "      ");
  if (!rule.candidates.empty()) text += "      nearest:\n" + places(rule.candidates, "        ");
  return text;
}

// The verdicts that say: the code is not what the rules know.
bool is_about_code(Verdict verdict) {
  return verdict == Verdict::drifted || verdict == Verdict::foreign_edit || verdict == Verdict::absent ||
         verdict == Verdict::partial;
}

// What comes nearest to the rules that found too little, where the evidence does not show it already.
std::string candidate_lines(const PatchOutcome& outcome) {
  if (!is_about_code(outcome.verdict)) return "";
  std::set<std::string> shown;
  for (const Evidence& each : outcome.evidence) shown.insert(place(each));
  std::string text;
  for (const RuleOutcome& rule : outcome.rules) {
    if (!rule.per_file && rule.old_sites + rule.result_sites + rule.done_sites >= rule.expected_min) continue;
    std::string lines;
    for (const Evidence& each : rule.candidates) {
      if (shown.insert(place(each)).second) lines += place_lines(each, "    ");
    }
    if (!lines.empty()) text += "  nearest to " + rule.rule + ":\n" + lines;
  }
  return text;
}

// What to say of a verdict that is no failure.
std::string settled(const PatchOutcome& outcome) {
  const std::string because = outcome.reason.empty() ? "" : ": " + printable_lines(outcome.reason);
  if (outcome.verdict == Verdict::applied) return "already applied, nothing to do" + because;
  if (outcome.verdict == Verdict::superseded) return "superseded, nothing to do" + because;
  return std::string(verdict_name(outcome.verdict)) + because;
}

std::string versions_of(const Patch& patch) {
  return patch.versions ? patch.versions->value : "any version";
}

}  // namespace

std::string paint_verdict(Verdict verdict, Style style, std::size_t width) {
  const std::string name(verdict_name(verdict));
  const std::string blanks(width > name.size() ? width - name.size() : 0, ' ');
  return paint(name, color_of(verdict), style) + blanks;
}

std::string paint_diff(std::string diff, Style style) {
  if (!style.color) return diff;
  std::string text;
  bool header = true;  // "---" and "+++" are headers before a file's first hunk, and changed lines after it
  for (std::size_t begin = 0; begin < diff.size();) {
    std::size_t end = diff.find('\n', begin);
    if (end == std::string::npos) end = diff.size();
    const std::string_view line = std::string_view(diff).substr(begin, end - begin);
    std::string_view color;
    if (line.rfind("@@", 0) == 0) {
      header = false;
      color = kCyan;
    } else if (line.rfind("--- ", 0) == 0 && diff.compare(std::min(end + 1, diff.size()), 4, "+++ ") == 0) {
      header = true;
      color = kBold;
    } else if (header) {
      color = kBold;
    } else if (!line.empty() && line[0] == '+') {
      color = kGreen;
    } else if (!line.empty() && line[0] == '-') {
      color = kRed;
    }
    text += color.empty() ? std::string(line) : paint(line, color, style);
    if (end < diff.size()) text += '\n';
    begin = end + 1;
  }
  return text;
}

std::string verdict_phrase(const PatchOutcome& outcome) {
  const std::string name(verdict_name(outcome.verdict));
  return outcome.reason.empty() ? name : name + ": " + printable_lines(outcome.reason);
}

std::string verdict_message(const PatchOutcome& outcome, bool failed, Style style) {
  if (outcome.fatal) return to_text(*outcome.fatal);
  if (!failed) return printable(outcome.patch) + ": " + settled(outcome) + "\n" + hints(outcome.hints, "  ");
  std::string text =
      paint("error", kRed, style) + ": " + printable(outcome.patch) + ": " + paint_verdict(outcome.verdict, style);
  if (!outcome.reason.empty()) text += ": " + printable_lines(outcome.reason);
  return text + "\n" + places(outcome.evidence, "  ") + candidate_lines(outcome) + paint_diff(outcome.diff, style) +
         hints(outcome.hints, "  ");
}

std::string notes_of(const PatchOutcome& outcome) {
  std::string text;
  for (const std::string& note : outcome.notes) text += "note: " + printable_lines(outcome.patch + ": " + note) + "\n";
  return text;
}

std::string status_lines(const TreeReport& report, bool verbose, Style style) {
  std::size_t width = 0;
  for (const PatchOutcome& outcome : report.patches) width = std::max(width, count_characters(outcome.patch));
  std::string text;
  for (const PatchOutcome& outcome : report.patches) {
    text += paint_verdict(outcome.verdict, style, kVerdictWidth) +
            printable_lines(outcome.reason.empty() ? outcome.patch : pad(outcome.patch, width + 2) + outcome.reason) +
            "\n";
    if (!verbose) continue;
    for (const RuleOutcome& rule : outcome.rules) text += rule_lines(rule);
    text += places(outcome.evidence, "    ") + paint_diff(outcome.diff, style);
    for (const std::string& note : outcome.notes) text += "    note: " + printable_lines(note) + "\n";
    text += hints(outcome.hints, "    ");
  }
  return text;
}

std::string_view revert_kind_name(RevertOutcome::Kind kind) {
  switch (kind) {
    case RevertOutcome::Kind::reverted:
      return "reverted";
    case RevertOutcome::Kind::not_applied:
      return "not-applied";
    case RevertOutcome::Kind::touched:
      return "touched";
    case RevertOutcome::Kind::no_receipt:
      return "no-receipt";
    case RevertOutcome::Kind::refused:
      return "refused";
    case RevertOutcome::Kind::dropped:
      return "dropped";
  }
  return "";
}

std::string revert_message(const RevertOutcome& outcome) {
  using Kind = RevertOutcome::Kind;
  const std::string because = outcome.reason.empty() ? "" : ": " + printable_lines(outcome.reason);
  std::string text;
  if (outcome.kind == Kind::not_applied) {
    text = printable(outcome.patch) + ": not applied here, nothing to do" + because + "\n";
  } else if (outcome.kind == Kind::dropped) {
    text =
        printable(outcome.patch) + ": " +
        (outcome.reason.empty() ? "its receipt no longer holds, and is forgotten" : printable_lines(outcome.reason)) +
        "\n";
  } else if (outcome.kind != Kind::reverted) {
    text = "error: " + printable(outcome.patch) + ": " +
           (outcome.reason.empty() ? "cannot be reverted" : printable_lines(outcome.reason)) + "\n";
  }
  return text + outcome.diff + hints(outcome.hints, "  ");
}

std::string list_lines(const std::vector<Patch>& patches) {
  std::size_t name = 0, package = 0;
  for (const Patch& patch : patches) {
    name = std::max(name, count_characters(patch.name));
    package = std::max(package, count_characters(patch.package.value + " " + versions_of(patch)));
  }
  std::string text;
  for (const Patch& patch : patches) {
    const std::string recommend = patch.recommend ? "recommend " + std::to_string(*patch.recommend) : "";
    text += pad(patch.name, name + 2) + pad(patch.package.value + " " + versions_of(patch), package + 2) +
            pad(recommend, 13) + patch.summary + "\n";
  }
  return text;
}

}  // namespace suture
