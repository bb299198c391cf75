// See conditions.h. Tests: tests/unit/conditions_test.cc, tests/cli/files_test.py.
#include "engine/conditions.h"

#include <algorithm>

#include "base/text.h"
#include "engine/evidence.h"

namespace suture {
namespace {

// The package that a condition speaks of: the tree's own, or one beside it.
struct View {
  std::string name;
  const Files* files = nullptr;
  std::optional<Version> version;
  const Distribution* dist = nullptr;
  std::string prefix;  // of paths in messages
  std::size_t python_files = 0;
};

// One place to look into: a file, or the scopes of it that count.
struct Part {
  std::string path;  // as messages show it
  std::shared_ptr<const ParsedFile> file;
  std::vector<NodeId> scopes;  // empty: `in` names none of this file
  Range text;                  // what a literal is searched in
};

bool is_class(const CodeView& target, NodeId node) {
  return target.tree->is(node, kinds().class_definition);
}

// A file of which nothing but text is asked: a header in C++, say, which the parser would take long to make nothing of.
std::shared_ptr<const ParsedFile> as_text(const std::string& path, const std::string& bytes) {
  auto file = std::make_shared<ParsedFile>();
  file->source = std::make_unique<const Source>(path, bytes);
  file->problem = Error{Exit::refused, "its code was not asked for", std::nullopt, ""};
  return file;
}

// What a definition says of itself in front of its body, on one line and without comments; of other code the beginning.
std::string signature(const CodeView& target, NodeId node) {
  constexpr std::size_t kWidth = 1200;  // FlashInfer's `run` takes 900
  const Tree& tree = *target.tree;
  const std::vector<NodeId> children = tree.children(node);
  const auto body =
      std::find_if(children.begin(), children.end(), [&tree](NodeId child) { return tree.is(child, kinds().block); });
  if (body == children.end()) return first_line(target, tree.range(node));
  std::string head;
  std::uint32_t at = tree[node].begin;
  for (NodeId id = node; id < *body; ++id) {
    if (!tree.is(id, kinds().comment)) continue;
    head += target.source->text({at, tree[id].begin});
    at = tree[id].end;
  }
  head += target.source->text({at, tree[*body].begin});
  return one_line(trim_end(head), kWidth);
}

// `@overload def f(...): ...`: for type checkers alone.
bool is_overload(const CodeView& target, NodeId definition) {
  const NodeId around = (*target.tree)[definition].parent;
  if (around == kNone || !target.tree->is(around, kinds().decorated_definition)) return false;
  for (NodeId child : target.tree->children(around)) {
    if (!target.tree->is(child, kinds().decorator)) continue;
    const std::string_view text = trim(target.source->text(target.tree->range(child)));
    if (text.ends_with("overload")) return true;
  }
  return false;
}

Narrowing just(const Text& pattern) {
  Narrowing out;
  out.match = pattern;
  return out;
}

// One condition on one tree. Every key that is given must hold; a not_ key must not.
class Checker {
 public:
  Checker(Workbench& bench, const TreeState& state, const Patch& patch, const Condition& condition)
      : bench_(bench), state_(state), patch_(patch), c_(condition) {}

  ConditionResult run() {
    if (!find_package() || !versions()) return std::move(out_);
    if (c_.file.empty() && !c_.class_name) {
      out_.holds = true;
      return std::move(out_);
    }
    if (!look_into_it()) {
      if (view_.dist != nullptr && !out_.error)
        out_.why += ", in " + view_.name + " " + view_.dist->version.value_or("of unknown version");
      return std::move(out_);
    }
    out_.holds = true;
    if (!reasons_.empty()) {
      out_.why = join(reasons_, ", ", " and ");
    } else if (out_.why.empty()) {
      out_.why = found_;
      if (c_.class_name) prove_scopes();
    }
    return std::move(out_);
  }

 private:
  bool look_into_it() {
    if (!(c_.class_name ? find_class() : find_files())) return false;
    if (!c_.versions) out_.why.clear();  // what is in the files says more
    return literals() && patterns();
  }

  bool fail(std::string why) {
    out_.why = std::move(why);
    return false;
  }
  // What fails is proved by the evidence that it brought, and not by what holds beside it.
  bool fail_since(std::size_t evidence, std::string why) {
    out_.evidence.erase(out_.evidence.begin(), out_.evidence.begin() + static_cast<std::ptrdiff_t>(evidence));
    return fail(std::move(why));
  }
  // What holds, one after the other.
  void holds(std::string why) { reasons_.push_back(std::move(why)); }

  // --- The package

  bool find_package() {
    if (!c_.package || c_.package->value == patch_.package.value) {
      view_ = {state_.package, &state_.files, deciding_version(state_), nullptr, "", state_.python_files};
      return true;
    }
    const auto it = state_.others.find(c_.package->value);
    if (it == state_.others.end() || !it->second.present) return not_installed(it);
    const OtherPackage& other = it->second;
    if (!other.problem.empty()) return fail(it->first + " cannot be read: " + other.problem);
    view_ = {it->first,   &other.files,       other.dist.version ? parse_version(*other.dist.version) : std::nullopt,
             &other.dist, other.folder + "/", other.python_files};
    out_.why = view_.name + " is installed";
    return true;
  }
  bool not_installed(std::map<std::string, OtherPackage>::const_iterator other) {
    const bool looked = other != state_.others.end() && !other->second.searched.empty();
    const std::string& name = c_.folder ? c_.folder->value : c_.package->value;
    out_.hint = "`--with " + name + "=PATH` says where it is, a folder or a wheel";
    if (other != state_.others.end() && !other->second.with.empty())
      return fail("--with names " + other->second.with + ", which holds no " + c_.package->value);
    return fail(c_.package->value + " is not installed beside " + state_.folder +
                (looked ? "; searched: " + join(other->second.searched, ", ") : ""));
  }

  bool versions() {
    if (!c_.versions) return true;
    const auto specifiers = parse_specifiers(c_.versions->value);
    if (!view_.version) return fail(unknown_version() + ", wanted is " + c_.versions->value);
    if (view_.dist != nullptr) {
      Evidence e;
      e.path = view_.dist->version_source;
      e.text = "version " + view_.version->text;
      out_.evidence.push_back(std::move(e));
    }
    if (!specifiers || !specifiers->contains(*view_.version))
      return fail(view_.name + " is " + view_.version->text + ", wanted is " + c_.versions->value);
    out_.why = view_.name + " is " + view_.version->text;
    return true;
  }
  std::string unknown_version() const {
    const bool two = view_.dist != nullptr && view_.dist->found.size() > 1;
    return "the version of " + view_.name + " is unknown" +
           (two ? " (two are recorded: " + join(view_.dist->found, ", ") + ")" : "");
  }

  // --- The files

  std::shared_ptr<const ParsedFile> parsed(const std::string& path) {
    const auto it = view_.files->find(path);
    if (it == view_.files->end() || it->second.kind != FileState::Kind::regular) return nullptr;
    if (!asks_for_code()) return as_text(view_.prefix + path, *it->second.bytes);
    return bench_.files().get(view_.prefix + path, it->second);
  }
  [[nodiscard]] bool asks_for_code() const { return c_.class_name || asks_what_stands_there(); }
  [[nodiscard]] bool asks_what_stands_there() const {
    const Narrowing& n = c_.narrow;
    return n.match || !n.has.empty() || !n.not_has.empty() || !c_.not_match.empty() || !c_.in.empty();
  }

  // The first candidate that is there; with `in`, the first that defines it.
  bool find_files() {
    std::vector<std::string> names;
    for (const Text& candidate : c_.file) {
      names.push_back(view_.prefix + candidate.value);
      std::vector<Part> parts;
      for (const std::string& path : files_named(*view_.files, candidate.value)) {
        std::shared_ptr<const ParsedFile> file = parsed(path);
        if (!file) return fail(view_.prefix + path + " cannot be read");
        const auto size = static_cast<std::uint32_t>(file->source->bytes().size());
        parts.push_back({view_.prefix + path, file, scopes_in(*file, kNone), Range{0, size}});
      }
      if (parts.empty()) continue;
      looked_at_.push_back(names.back());
      const bool defines = std::any_of(parts.begin(), parts.end(), [](const Part& p) { return !p.scopes.empty(); });
      if (parts_.empty() || (defines && !defined_)) parts_ = std::move(parts);
      defined_ = defined_ || defines;
      if (defined_ || c_.in.empty()) break;
    }
    if (parts_.empty()) return fail("there is no " + join(names, ", "));
    found_ = shown_parts() + (parts_.size() == 1 ? " is there" : " are there");
    return true;
  }

  // Every file of the package that defines the class.
  bool find_class() {
    const std::string& name = c_.class_name->value;
    for (const auto& [path, state] : *view_.files) {
      if (!path.ends_with(".py") || !state.bytes || !may_define_class(*state.bytes, name)) continue;
      std::shared_ptr<const ParsedFile> file = parsed(path);
      if (!file || file->problem) continue;
      for (NodeId scope : find_scopes(file->target(), {name})) {
        if (!is_class(file->target(), scope)) continue;
        parts_.push_back({view_.prefix + path, file, scopes_in(*file, scope), file->tree.range(scope)});
      }
    }
    if (parts_.empty()) {
      const std::size_t n = view_.python_files;
      return fail("no file of " + view_.name + " defines a class " + name + " (searched " + std::to_string(n) +
                  (n == 1 ? " Python file)" : " Python files)"));
    }
    found_ = "the class " + name + " stands in " + shown_parts();
    return true;
  }

  // The scopes that count: those of `in`, within `whole` where that is given; without `in` `whole`, else the module.
  std::vector<NodeId> scopes_in(const ParsedFile& file, NodeId whole) const {
    if (file.problem) return {};
    std::vector<std::string> names;
    for (const Text& name : c_.in) names.push_back(name.value);
    if (names.empty() && whole != kNone) return {whole};
    std::vector<NodeId> scopes = find_scopes(file.target(), names);
    if (whole != kNone)
      std::erase_if(scopes, [&](NodeId scope) { return scope != whole && !file.tree.contains(whole, scope); });
    return scopes;
  }

  std::string shown_parts() const {
    std::vector<std::string> paths;
    for (const Part& part : parts_) {
      if (paths.empty() || paths.back() != part.path) paths.push_back(part.path);
    }
    if (paths.size() > 3) return paths.front() + " and " + std::to_string(paths.size() - 1) + " other files";
    return join(paths, ", ", " and ");
  }
  // Where something that must be there was searched.
  std::string searched() const {
    if (!c_.in.empty()) return c_.in.front().value + " of " + shown_parts();
    return c_.class_name ? "class " + c_.class_name->value + " of " + shown_parts() : shown_parts();
  }
  std::string place_of(const Part& part) const {
    if (!c_.in.empty()) return c_.in.front().value + " of " + part.path;
    return c_.class_name ? "class " + c_.class_name->value + " of " + part.path : part.path;
  }

  void prove_scopes() {
    for (const Part& part : parts_) {
      const CodeView target = part.file->target();
      const bool overloads_alone =
          std::all_of(part.scopes.begin(), part.scopes.end(), [&](NodeId scope) { return is_overload(target, scope); });
      for (NodeId scope : part.scopes) {
        if (!overloads_alone && is_overload(target, scope)) continue;
        out_.evidence.push_back(evidence_at(part.path, target, target.tree->range(scope), signature(target, scope)));
      }
    }
  }
  void prove(const Part& part, Range range) {
    const CodeView target = part.file->target();
    out_.evidence.push_back(evidence_at(part.path, target, range, first_line(target, range)));
  }

  // --- What is in them

  bool literals() {
    if (c_.literal) {
      const std::string shown = "\"" + c_.literal->value + "\"";
      const Part* at = literal_at(c_.literal->value);
      if (at == nullptr && c_.class_name) prove_scopes();
      if (at == nullptr) return fail(shown + " does not stand in " + literal_place());
      holds(shown + " stands in " + at->path);
    }
    if (c_.not_literal) {
      const std::string shown = "\"" + c_.not_literal->value + "\"";
      const std::size_t before = out_.evidence.size();
      if (const Part* at = literal_at(c_.not_literal->value))
        return fail_since(before, shown + " stands in " + at->path);
      holds(shown + " does not stand in " + literal_place());
    }
    return true;
  }
  std::string literal_place() const {
    return (c_.class_name ? "class " + c_.class_name->value + " of " : "") + shown_parts();
  }

  const Part* literal_at(const std::string& literal) {
    for (const Part& part : parts_) {
      const std::size_t at = part.file->source->text(part.text).find(literal);
      if (at == std::string_view::npos) continue;
      const auto begin = static_cast<std::uint32_t>(part.text.begin + at);
      Evidence e;
      e.path = part.path;
      e.where = part.file->source->locate({begin, begin + static_cast<std::uint32_t>(literal.size())});
      const auto first = e.where.text.find_first_not_of(" \t");
      e.text = first == std::string::npos ? "" : e.where.text.substr(first);
      out_.evidence.push_back(std::move(e));
      return &part;
    }
    return nullptr;
  }

  bool patterns() {
    if (!asks_what_stands_there()) return true;
    const Narrowing& n = c_.narrow;
    for (const Part& part : parts_) {
      if (part.file->problem) return fail(part.path + ": " + part.file->problem->message);
    }
    const bool any = std::any_of(parts_.begin(), parts_.end(), [](const Part& part) { return !part.scopes.empty(); });
    if (!any)
      return fail("there is no " + c_.in.front().value + " in " +
                  (looked_at_.empty() ? shown_parts() : join(looked_at_, ", ")));
    if (n.match && !wanted(n)) return false;
    if (!n.match) {
      for (const Text& pattern : n.has) {
        if (!wanted(just(pattern))) return false;
      }
      for (const Text& pattern : n.not_has) {
        if (!unwanted(just(pattern))) return false;
      }
    }
    for (const Text& pattern : c_.not_match) {
      if (!unwanted(just(pattern))) return false;
    }
    if (reasons_.empty()) {
      holds(c_.in.front().value + " stands in " + shown_parts());
      prove_scopes();
    }
    return true;
  }

  static std::string shown_code(const CompiledNarrowing& narrowing) {
    return "`" + one_line(narrowing.match->written(), 100) + "`";
  }
  bool wanted(const Narrowing& text) {
    const auto narrowing = compiled(text);
    if (!narrowing) return false;
    const std::string code = shown_code(*narrowing);
    if (c_.class_name) return wanted_in_each(*narrowing, code);
    if (const Part* at = found(*narrowing)) {
      holds(code + " stands in " + place_of(*at));
      return true;
    }
    const std::size_t before = out_.evidence.size();
    prove_scopes();
    return fail_since(before, code + " does not stand in " + searched());
  }
  // Which of several classes of that name is imported cannot be told here: so each must prove it.
  bool wanted_in_each(const CompiledNarrowing& narrowing, const std::string& code) {
    const std::size_t before = out_.evidence.size();
    for (const Part& part : parts_) {
      if (found_in(part, narrowing)) continue;
      out_.evidence.resize(before);
      prove_scopes();
      return fail_since(before, code + " does not stand in " + (parts_.size() == 1 ? searched() : place_of(part)));
    }
    holds(code + " stands in " + searched());
    return true;
  }
  bool unwanted(const Narrowing& text) {
    const auto narrowing = compiled(text);
    if (!narrowing) return false;
    const std::string code = shown_code(*narrowing);
    const std::size_t before = out_.evidence.size();
    if (const Part* at = found(*narrowing)) return fail_since(before, code + " stands in " + place_of(*at));
    holds(code + " does not stand in " + searched());
    return true;
  }

  std::optional<CompiledNarrowing> compiled(const Narrowing& text) {
    auto narrowing = compile_narrowing(text, *patch_.source);
    if (narrowing) return std::move(*narrowing);
    out_.error = narrowing.error();
    return std::nullopt;
  }

  // The first part that holds a match; its line is the proof.
  const Part* found(const CompiledNarrowing& narrowing) {
    for (const Part& part : parts_) {
      if (found_in(part, narrowing)) return &part;
    }
    return nullptr;
  }
  bool found_in(const Part& part, const CompiledNarrowing& narrowing) {
    for (NodeId scope : part.scopes) {
      const auto matches = find_narrowed(narrowing, part.file->target(), scope);
      if (matches.empty()) continue;
      prove(part, matches[0].range(part.file->tree));
      return true;
    }
    return false;
  }

  Workbench& bench_;
  const TreeState& state_;
  const Patch& patch_;
  const Condition& c_;
  View view_;
  std::vector<Part> parts_;
  bool defined_ = false;                // some part of parts_ has a scope
  std::vector<std::string> looked_at_;  // the candidates of `file` that are there
  std::string found_;                   // that the files, or the class, are there
  std::vector<std::string> reasons_;    // what holds in them
  ConditionResult out_;
};

}  // namespace

ConditionResult check_condition(Workbench& bench, const TreeState& state, const Patch& patch,
                                const Condition& condition) {
  ConditionResult out = Checker(bench, state, patch, condition).run();
  if (out.error) return out;
  if (!condition.note.empty()) out.why += " (" + condition.note + ")";
  if (!out.holds && out.hint.empty() && !condition.otherwise.empty()) out.why += ". Otherwise: " + condition.otherwise;
  return out;
}

}  // namespace suture
