// See check.h. Tests: tests/unit/check_test.cc; all shipped rules are checked there too.
#include "engine/check.h"

#include <algorithm>

#include "engine/compiled_rule.h"
#include "engine/edits.h"
#include "engine/examples.h"
#include "engine/imports.h"
#include "engine/narrow.h"
#include "engine/parsed_file.h"
#include "engine/revert.h"
#include "engine/sites.h"
#include "engine/token.h"
#include "read/glob.h"

namespace suture {

// The rule as it is run on an example: no scope (but for rules that edit their scope), all sites.
Rule for_examples(const Rule& rule) {
  Rule out = rule;
  out.select = Select{};
  out.expect = Expect{0, kNone, false};
  const bool edits_scope = !rule.base.narrow.match && rule.any_of.empty();
  if (!edits_scope) {
    out.in.clear();
  } else {
    for (Text& name : out.in) name.value = name.value.substr(name.value.rfind('.') + 1);  // npos + 1 == 0
  }
  return out;
}

std::string problem_text(const RuleSites& sites) {
  if (!sites.ambiguous.empty()) return "two of the rule's shapes hold at one site";
  if (!sites.unresolved.empty()) return "the rule's match holds and none of its shapes does";
  if (!sites.broken.empty()) {
    return sites.broken.front().match.misread != kNone ? "the parser reads the site otherwise than Python"
                                                       : "a syntax error overlaps the site";
  }
  if (!sites.unfit.empty()) return "at a site the code " + sites.unfit[0].second;
  return "";
}

namespace {

const Text& given_text(const Example& example) {
  return example.same ? *example.same : example.found ? *example.found : *example.before;
}

Trial try_import(const CompiledImport& import, const ParsedFile& file, const std::string& text) {
  Trial out;
  const ImportStatus before = find_import(file.target(), import, "example.py", "example");
  if (before.kind == ImportStatus::Kind::taken) {
    out.problem = "the name " + import.bound() + " is bound by something else";
    return out;
  }
  out.old_sites = before.kind == ImportStatus::Kind::missing ? 1 : 0;
  out.text = out.old_sites == 0 ? text : splice(text, insert_import(file.target(), import));
  const auto after = parse_file("example", out.text);
  out.stable = !after->problem &&
               find_import(after->target(), import, "example.py", "example").kind == ImportStatus::Kind::satisfied;
  return out;
}

// Runs the rule once on a text, and looks at what it left.
Trial try_rule(const CompiledRule& rule, const std::string& text) {
  Trial out;
  out.text = text;
  const auto file = parse_file("example", text);
  if (file->problem || file->tree.broken()) {
    out.problem = file->problem ? file->problem->message : "it is not valid Python";
    return out;
  }
  if (rule.rule->audit) {
    for (const CompiledShape& shape : rule.shapes)
      out.old_sites += find_narrowed(shape.narrow, file->target(), file->tree.root()).size();
    return out;
  }
  if (const CompiledImport* import = rule.import()) return try_import(*import, *file, text);
  const RuleSites sites = find_sites(rule, file->target(), std::nullopt);
  if (std::string problem = problem_text(sites); !problem.empty()) {
    out.problem = std::move(problem);
    return out;
  }
  out.old_sites = sites.old.size();
  out.results = sites.result.size();
  if (rule.deletes() && out.old_sites > 0 && out.results > 0) {
    out.problem =
        "`applied` holds already, beside the code that is to be deleted; say in it that this is gone "
        "(not_has, not_before ...)";
    return out;
  }
  std::vector<Splice> splices;
  for (const Site& site : sites.old) {
    Rewrite rewrite = edit_site(rule, file->target(), site);
    if (rewrite.problem) {
      out.problem = rewrite.problem->message;
      return out;
    }
    splices.insert(splices.end(), rewrite.splices.begin(), rewrite.splices.end());
  }
  if (order_splices(file->target(), splices)) {
    out.problem = "two of its sites edit the same bytes";
    return out;
  }
  out.text = splice(text, splices);
  const auto after = parse_file("example", out.text);
  const RuleSites then = after->problem ? RuleSites{} : find_sites(rule, after->target(), std::nullopt);
  const std::size_t wanted = rule.least_results(sites.result.size() + sites.old.size());
  out.stable = !after->problem && !after->tree.broken() && then.old.empty() && problem_text(then).empty() &&
               then.result.size() >= wanted;
  return out;
}

std::string with_newline(std::string text) {
  if (!text.empty() && text.back() != '\n') text += '\n';
  return text;
}

bool same_code(const std::string& a, const std::string& b, bool exact) {
  if (exact) return with_newline(a) == with_newline(b);
  const auto x = parse_file("example", with_newline(a));
  const auto y = parse_file("example", with_newline(b));
  return !x->problem && !y->problem && token_sequence(*x->source, x->tree) == token_sequence(*y->source, y->tree);
}

// The first example that fails, as an error.
template <class Owner>
std::optional<Error> failing_example(const Owner& owner, const std::string& name,
                                     const std::vector<ExampleReport>& reports) {
  for (const ExampleReport& report : reports) {
    if (report.verdict == ExampleVerdict::passed) continue;
    std::string hint = report.got.empty() ? "" : "it became: " + report.got;
    while (!hint.empty() && hint.back() == '\n') hint.pop_back();
    return Error{Exit::bad_rule,
                 "example " + std::to_string(report.index + 1) + " of " + name + " is " +
                     std::string(example_verdict_name(report.verdict)) + ": " + report.message,
                 owner.source->locate(report.at), hint};
  }
  return std::nullopt;
}

bool has_suite(const Pattern& pattern) {
  for (NodeId id = 0; id < pattern.tree().size(); ++id) {
    if (pattern.tree().is(id, kinds().block)) return true;
  }
  return false;
}

// `applied` is a definition or another statement around the match, which the rule's own pattern alone has not.
bool applied_is_around(const CompiledShape& shape) {
  if (!shape.applied || !has_suite(*shape.applied->match)) return false;
  const auto* replace = std::get_if<CompiledReplace>(&*shape.edit);
  if (replace == nullptr) return false;
  const Kind around = shape.applied->match->tree()[shape.applied->match->roots()[0]].kind;
  const auto is_one = [&](const Pattern& pattern) {
    return std::any_of(pattern.roots().begin(), pattern.roots().end(),
                       [&](NodeId root) { return pattern.tree()[root].kind == around; });
  };
  return !is_one(*shape.narrow.match) && !(replace->whole && is_one(*replace->whole));
}

// The rule's own pattern, its metavariables as plain names: what the edit makes of it must be a result and nothing old.
std::optional<Error> own_pattern(const CompiledRule& rule) {
  for (const CompiledShape& shape : rule.shapes) {
    const CompiledNarrowing& n = shape.narrow;
    const bool plain = n.match && n.where.empty() && n.inside.empty() && n.has.empty() && n.after.empty() &&
                       n.before.empty() && n.not_inside.empty() && n.not_has.empty() && n.not_after.empty() &&
                       n.not_before.empty() && n.match->form() != Pattern::Form::clause;
    const auto* structural = shape.edit ? std::get_if<CompiledStructural>(&*shape.edit) : nullptr;
    const bool pattern_decides = structural == nullptr || structural->kind == Structure::wrap;
    if (!plain || rule.shapes.size() > 1 || rule.done_if || !(pattern_decides || shape.applied)) continue;
    // As it was parsed: a run of a dictionary's entries is `**$$$X` there, which is Python.
    const Tree& tree = n.match->tree();
    const Range all{tree[n.match->roots().front()].begin, tree[n.match->roots().back()].end};
    std::string code;
    for (char c : without_placeholders(n.match->source().text(all))) {
      if (c == '$') {
        code += "m_";
      } else {
        code += c;
      }
    }
    const Trial trial = try_rule(rule, with_newline(code));
    if (trial.old_sites == 0 && trial.results > 0) {
      return rule_error(*rule.rule, shape.shape->at,
                        "this rule takes its own pattern for its result: it would never edit anything",
                        "write out `applied:`, a pattern of what only the edited code looks like");
    }
    if (trial.problem || trial.old_sites == 0 || trial.stable || !pattern_decides || applied_is_around(shape)) continue;
    return rule_error(*rule.rule, shape.shape->at,
                      "what this rule leaves of its own pattern is not what it calls a result",
                      "a second run would edit again; write out `applied:`");
  }
  return std::nullopt;
}

// An import by a glob goes where the patch's other rules are; without one it would go nowhere.
std::optional<Error> import_without_place(const Patch& patch) {
  const auto imports = [](const Rule& rule) {
    return rule.base.edit && std::holds_alternative<AddImport>(*rule.base.edit);
  };
  if (patch.rules.empty() || !std::all_of(patch.rules.begin(), patch.rules.end(), imports)) return std::nullopt;
  for (const Rule& rule : patch.rules) {
    const auto globs = [](const Text& file) { return is_glob(file.value); };
    const auto glob = std::find_if(rule.files.begin(), rule.files.end(), globs);
    if (glob == rule.files.end()) continue;
    return rule_error(
        rule, glob->at,
        "an import goes where a glob finds the sites of other rules, and " + patch.name + " has no other rules",
        "name the file");
  }
  return std::nullopt;
}

// A file that a patch adds is code that Python must be able to import.
Status check_added(const Patch& patch) {
  for (const AddedFile& added : patch.adds) {
    if (!added.path.value.ends_with(".py")) continue;
    const auto file = parse_file(added.file, added.bytes);
    if (file->problem) return Error{Exit::bad_rule, file->problem->message, file->problem->where, ""};
    if (!file->tree.broken()) continue;
    return Error{Exit::bad_rule, "the parser sees a syntax error in this file, which " + patch.name + " adds",
                 file->first_error(), "the package would not import it; mend the file"};
  }
  return Nothing{};
}

}  // namespace

std::string_view example_verdict_name(ExampleVerdict verdict) {
  switch (verdict) {
    case ExampleVerdict::passed:
      return "passed";
    case ExampleVerdict::missing:
      return "missing";
    case ExampleVerdict::noisy:
      return "noisy";
    case ExampleVerdict::wrong:
      return "wrong";
    case ExampleVerdict::unstable:
      return "unstable";
    case ExampleVerdict::broken:
      return "broken";
  }
  return "?";
}

std::string example_text(const Example& example) {
  return with_newline(given_text(example).value);
}

ExampleReport judge_example(const Example& example, std::size_t index, const Trial& trial, const std::string& who) {
  const Text& given = given_text(example);
  ExampleReport out{index, ExampleVerdict::passed, "", given.at, ""};
  const auto is = [&](ExampleVerdict verdict, std::string message) {
    out.verdict = verdict;
    out.message = std::move(message);
    return out;
  };
  if (trial.problem) return is(ExampleVerdict::broken, *trial.problem);
  if (example.same) {
    return trial.old_sites == 0 ? out : is(ExampleVerdict::noisy, who + " edits what should stay the same");
  }
  if (example.found) return trial.old_sites > 0 ? out : is(ExampleVerdict::missing, who + " finds nothing here");
  if (trial.old_sites == 0) return is(ExampleVerdict::missing, who + " finds nothing to edit here");
  out.got = trial.text;
  if (!same_code(trial.text, example.after->value, example.exact))
    return is(ExampleVerdict::wrong, "the result is not `after`");
  const std::string because = trial.unstable_because.empty()
                                  ? "what the edit leaves is not what " + who + " calls a result"
                                  : trial.unstable_because;
  if (!trial.stable) return is(ExampleVerdict::unstable, because + "; write out `applied:`");
  out.got.clear();
  return out;
}

std::vector<ExampleReport> run_examples(const Rule& rule) {
  const Rule free = for_examples(rule);
  const auto compiled = compile_rule(free);
  std::vector<ExampleReport> out;
  if (!compiled) return out;
  for (std::size_t i = 0; i < rule.examples.size(); ++i) {
    const Example& example = rule.examples[i];
    out.push_back(judge_example(example, i, try_rule(*compiled, example_text(example)), "the rule"));
  }
  return out;
}

Status check_rule(const Rule& rule, Examples examples) {
  const auto compiled = compile_rule(rule);
  if (!compiled) return compiled.error();
  if (examples == Examples::checked) {
    if (auto error = failing_example(rule, rule.id, run_examples(rule))) return *error;
  }
  if (rule.audit) return Nothing{};  // it has no result
  const Rule free = for_examples(rule);
  const auto open = compile_rule(free);
  if (auto error = own_pattern(*open)) return *error;
  return Nothing{};
}

Status check_patch(const Patch& patch, Examples examples) {
  if (Status added = check_added(patch); !added) return added;
  for (const auto* list : {&patch.needs, &patch.superseded}) {
    for (const Condition& condition : *list) {
      const auto narrowing = compile_narrowing(condition.narrow, *patch.source);
      if (!narrowing) return narrowing.error();
      for (const Text& unwanted : condition.not_match) {
        const auto pattern = compile_text(unwanted, *patch.source, "not_match");
        if (!pattern) return pattern.error();
      }
    }
  }
  if (auto error = import_without_place(patch)) return *error;
  const bool must_find = std::any_of(patch.rules.begin(), patch.rules.end(), [](const Rule& rule) {
    return rule.expect.min > 0 && (rule.base.narrow.match || !rule.any_of.empty() || !rule.in.empty());
  });
  for (std::size_t i = 0; i < patch.rules.size() && !must_find; ++i) {
    if (patch.rules[i].expect.min == 0)
      return patch_error(patch, patch.rule_ids[i].at,
                         "no rule of this patch must find anything: it would always read as applied",
                         "give one of its rules an `expect` of at least 1");
  }
  if (examples == Examples::left_out) return Nothing{};
  if (auto error = failing_example(patch, patch.name, run_examples(patch))) return *error;
  return Nothing{};
}

}  // namespace suture
