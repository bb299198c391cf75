// See conditions.h.
#include "engine/conditions.h"

#include <algorithm>

#include "engine/evidence.h"

namespace suture {
namespace {

// One condition on one tree. Every key that is given must hold; a not_ key must not.
class Checker {
 public:
  Checker(Workbench& bench, const TreeState& state, const Patch& patch, const Condition& condition)
      : bench_(bench), state_(state), patch_(patch), c_(condition) {}

  ConditionResult run() {
    if (!versions()) return std::move(out_);
    if (c_.file.empty()) {
      out_.holds = true;
      return std::move(out_);
    }
    if (!find_file()) return std::move(out_);
    if (!literals()) return std::move(out_);
    if (!patterns()) return std::move(out_);
    out_.holds = true;
    if (out_.why.empty()) out_.why = path_ + " is there";
    return std::move(out_);
  }

 private:
  bool fail(std::string why) {
    out_.why = std::move(why);
    return false;
  }

  bool versions() {
    if (!c_.versions) return true;
    const auto specifiers = parse_specifiers(c_.versions->value);
    const auto version = deciding_version(state_);
    const std::string package = state_.package;
    if (!version) return fail("the version of " + package + " is unknown, wanted is " + c_.versions->value);
    if (!specifiers || !specifiers->contains(*version))
      return fail(package + " is " + version->text + ", wanted is " + c_.versions->value);
    out_.why = package + " is " + version->text;
    return true;
  }

  bool find_file() {
    std::string names;
    for (const Text& candidate : c_.file) {
      names += (names.empty() ? "" : ", ") + candidate.value;
      const auto it = state_.files.find(candidate.value);
      if (it == state_.files.end() || it->second.kind != FileState::Kind::regular) continue;
      path_ = candidate.value;
      file_ = bench_.files().get(path_, it->second);
      return true;
    }
    return fail("there is no " + names);
  }

  bool literals() {
    const std::string& bytes = file_->source->bytes();
    if (c_.literal) {
      const auto at = bytes.find(c_.literal->value);
      if (at == std::string::npos) return fail("\"" + c_.literal->value + "\" does not stand in " + path_);
      prove(at, c_.literal->value.size());
      out_.why = "\"" + c_.literal->value + "\" stands in " + path_;
    }
    if (c_.not_literal) {
      const auto at = bytes.find(c_.not_literal->value);
      if (at != std::string::npos) {
        prove(at, c_.not_literal->value.size());
        return fail("\"" + c_.not_literal->value + "\" stands in " + path_);
      }
      out_.why = "\"" + c_.not_literal->value + "\" does not stand in " + path_;
    }
    return true;
  }

  void prove(std::size_t at, std::size_t size) {
    const Range range{static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(at + size)};
    Evidence e;
    e.path = path_;
    e.where = file_->source->locate(range);
    const auto first = e.where.text.find_first_not_of(" \t");
    e.text = first == std::string::npos ? "" : e.where.text.substr(first);
    out_.evidence.push_back(std::move(e));
  }

  bool patterns() {
    const bool any = c_.narrow.match || c_.not_match || !c_.in.empty();
    if (!any) return true;
    if (file_->problem) return fail(path_ + ": " + file_->problem->message);
    std::vector<std::string> names;
    for (const Text& name : c_.in) names.push_back(name.value);
    const auto scopes = find_scopes(file_->target(), names);
    if (scopes.empty()) return fail("there is no " + names.front() + " in " + path_);
    const std::string where = names.empty() ? path_ : names.front() + " of " + path_;
    if (c_.narrow.match && !find(c_.narrow, scopes, where, true)) return false;
    if (c_.not_match) {
      Narrowing without;
      without.match = c_.not_match;
      if (!find(without, scopes, where, false)) return false;
    }
    if (out_.why.empty()) out_.why = names.front() + " stands in " + path_;
    return true;
  }

  // Whether a match exists is as `wanted` says.
  bool find(const Narrowing& text, const std::vector<NodeId>& scopes, const std::string& where, bool wanted) {
    auto narrowing = compile_narrowing(text, *patch_.source);
    if (!narrowing) {
      out_.error = narrowing.error();
      return false;
    }
    const std::string code = "`" + narrowing->match->written() + "`";
    for (NodeId scope : scopes) {
      const auto found = find_narrowed(*narrowing, file_->target(), scope);
      if (found.empty()) continue;
      const Range range = found[0].range(file_->tree);
      out_.evidence.push_back(evidence_at(path_, file_->target(), range, first_line(file_->target(), range)));
      out_.why = code + " stands in " + where;
      return wanted;
    }
    out_.why = code + " does not stand in " + where;
    if (wanted) {
      for (NodeId scope : scopes)
        out_.evidence.push_back(evidence_at(path_, file_->target(), file_->tree.range(scope),
                                            first_line(file_->target(), file_->tree.range(scope))));
    }
    return !wanted;
  }

  Workbench& bench_;
  const TreeState& state_;
  const Patch& patch_;
  const Condition& c_;
  std::string path_;
  std::shared_ptr<const ParsedFile> file_;
  ConditionResult out_;
};

}  // namespace

ConditionResult check_condition(Workbench& bench, const TreeState& state, const Patch& patch,
                                const Condition& condition) {
  ConditionResult out = Checker(bench, state, patch, condition).run();
  if (!condition.note.empty() && !out.error) out.why += " (" + condition.note + ")";
  return out;
}

}  // namespace suture
