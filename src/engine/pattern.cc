// See pattern.h. Tests: tests/unit/pattern_test.cc.
#include "engine/pattern.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

namespace suture {
namespace {

// U+1405, a letter that may begin an identifier and that no Python code is known to use.
constexpr std::string_view kMark = "\xE1\x90\x85";

// The matcher recurses with the pattern, never with the target.
constexpr std::uint32_t kMaxDepth = 250;

bool is_name_char(char c) {
  return (std::isupper(static_cast<unsigned char>(c)) != 0) || (std::isdigit(static_cast<unsigned char>(c)) != 0) ||
         c == '_';
}

// Where a clause can stand: what goes before it and after it, and how deep the clause lies there.
struct Context {
  std::string_view before, after;
  Kind Kinds::*kind;
};
const std::array<Context, 6>& contexts() {
  static const std::array<Context, 6> all = {{
      {"try:\n    pass\n", "\n", &Kinds::except_clause},
      {"try:\n    pass\n", "\n", &Kinds::finally_clause},
      {"if a:\n    pass\n", "\n", &Kinds::elif_clause},
      {"if a:\n    pass\n", "\n", &Kinds::else_clause},
      {"", "\ndef a():\n    pass\n", &Kinds::decorator},
      {"match a:\n", "\n", &Kinds::case_clause},
  }};
  return all;
}

std::string dedented(const std::string& text) {
  std::vector<std::string> lines;
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  auto blank = [](const std::string& l) { return l.find_first_not_of(" \t\r") == std::string::npos; };
  while (!lines.empty() && blank(lines.back())) lines.pop_back();
  while (!lines.empty() && blank(lines.front())) lines.erase(lines.begin());
  std::size_t common = std::string::npos;
  for (const auto& line : lines) {
    if (!blank(line)) common = std::min(common, line.find_first_not_of(" \t"));
  }
  std::string out;
  for (const auto& line : lines) {
    if (!out.empty()) out += '\n';
    if (!blank(line)) out += line.substr(common);
  }
  return out;
}

// The end of the string literal or comment that begins here; `at` where none does.
std::size_t end_of_text(std::string_view text, std::size_t at) {
  if (text[at] == '#') return std::min(text.find('\n', at), text.size());
  if (text[at] != '"' && text[at] != '\'') return at;
  const std::string quote(text.substr(at, 3) == std::string(3, text[at]) ? 3 : 1, text[at]);
  for (std::size_t i = at + quote.size(); i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text.substr(i, quote.size()) == quote) {
      return i + quote.size();
    }
  }
  return text.size();
}

// `**` in front of each run that is an element of braces in which another element has a colon.
std::string with_entries(std::string_view text) {
  struct Open {
    char bracket;
    bool pair = false;
    std::vector<std::size_t> runs;  // elements that are one
    std::size_t element;            // where the present one begins
  };
  const std::string run = std::string(kMark) + std::string(kMark) + std::string(kMark);
  std::vector<Open> open;
  std::vector<std::size_t> found;
  const auto ends = [&](std::size_t at) {
    std::string_view element = text.substr(open.back().element, at - open.back().element);
    const std::size_t blanks = std::min(element.find_first_not_of(" \t\n"), element.size());
    element.remove_prefix(blanks);
    const bool name = element.substr(0, run.size()) == run &&
                      std::all_of(element.begin() + static_cast<std::ptrdiff_t>(run.size()), element.end(),
                                  [](char c) { return is_name_char(c) || c == ' ' || c == '\t' || c == '\n'; });
    if (name) open.back().runs.push_back(open.back().element + blanks);
    open.back().element = at + 1;
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (const std::size_t end = end_of_text(text, i); end > i) {
      i = end - 1;
    } else if (text[i] == '{' || text[i] == '[' || text[i] == '(') {
      open.push_back({text[i], false, {}, i + 1});
    } else if (!open.empty() && (text[i] == '}' || text[i] == ']' || text[i] == ')')) {
      ends(i);
      if (open.back().bracket == '{' && open.back().pair)
        found.insert(found.end(), open.back().runs.begin(), open.back().runs.end());
      open.pop_back();
    } else if (!open.empty() && text[i] == ',') {
      ends(i);
    } else if (!open.empty() && text[i] == ':') {
      open.back().pair = true;
    }
  }
  std::string out(text);
  std::sort(found.rbegin(), found.rend());
  for (const std::size_t at : found) out.insert(at, "**");
  return out;
}

}  // namespace

std::string with_placeholders(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool starts =
        text[i] == '$' && (i + 1 < text.size()) &&
        (text[i + 1] == '$' || (is_name_char(text[i + 1]) && !std::isdigit(static_cast<unsigned char>(text[i + 1]))));
    const bool goes_on = text[i] == '$' && i > 0 && text[i - 1] == '$';
    if (starts || goes_on) {
      out += kMark;
    } else {
      out += text[i];
    }
  }
  return out;
}

std::string without_placeholders(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    if (text.substr(i, kMark.size()) == kMark) {
      out += '$';
      i += kMark.size();
    } else {
      out += text[i++];
    }
  }
  return out;
}

class PatternCompiler {
 public:
  PatternCompiler(std::string text, PatternProblem* problem) : text_(std::move(text)), problem_(problem) {}

  std::optional<Pattern> compile() {
    if (!check_text()) return std::nullopt;
    pattern_.written_ = dedented(text_);
    const std::string snippet = with_placeholders(pattern_.written_);
    if (snippet.empty()) return fail("the pattern is empty", "write the code to look for", 0, 0);
    // `case [A, *B]: c` is an annotated assignment too, to an element of something called `case`: nobody means that.
    const bool is_case = snippet.rfind("case ", 0) == 0 && parse_in_context(snippet);
    if (!is_case && !parse(snippet, 0) && !parse_in_context(snippet) && !parse_with_entries(snippet))
      return std::nullopt;
    if (!collect_metavariables()) return std::nullopt;
    return std::move(pattern_);
  }

 private:
  std::nullopt_t fail(std::string message, std::string hint, std::size_t begin, std::size_t end) {
    if (problem_ != nullptr) {
      *problem_ = {std::move(message), std::move(hint), static_cast<std::uint32_t>(begin),
                   static_cast<std::uint32_t>(std::max(end, begin + 1))};
    }
    return std::nullopt;
  }

  bool check_text() {
    if (text_.find(kMark) != std::string::npos) {
      (void)fail("the pattern holds the letter U+1405, which suture uses for metavariables", "", text_.find(kMark), 0);
      return false;
    }
    for (std::size_t i = 0; i < text_.size(); ++i) {
      if (text_[i] != '$') continue;
      const std::size_t begin = i;
      while (i < text_.size() && text_[i] == '$') ++i;
      const std::size_t dollars = i - begin;
      const std::size_t name = i;
      while (i < text_.size() && is_name_char(text_[i])) ++i;
      const bool lower = i < text_.size() && std::islower(static_cast<unsigned char>(text_[i])) != 0;
      if (lower && !inside_string(begin)) {
        (void)fail("a metavariable is written in capital letters",
                   "write $" + std::string("NAME") + ", $$$NAMES, $_ or $$$", begin, i + 1);
        return false;
      }
      const bool legal = dollars == 3 || (dollars == 1 && i > name);
      if (!legal && !inside_string(begin)) {
        (void)fail("this is no metavariable", "write $NAME, $$$NAMES, $_ or $$$", begin, i);
        return false;
      }
      --i;
    }
    return true;
  }

  // Rough on purpose: only decides whether a `$` is worth complaining about. An odd number of quotes before it on its
  // line.
  [[nodiscard]] bool inside_string(std::size_t at) const {
    const std::size_t line = text_.rfind('\n', at) == std::string::npos ? 0 : text_.rfind('\n', at) + 1;
    const auto part = std::string_view(text_).substr(line, at - line);
    return std::count(part.begin(), part.end(), '"') % 2 == 1 || std::count(part.begin(), part.end(), '\'') % 2 == 1;
  }

  // Parses snippet as a program. false when it is not a clean parse (problem set).
  bool parse(const std::string& snippet, std::size_t /*offset*/) {
    auto source = std::make_shared<const Source>("pattern", snippet + "\n");
    ParseLimits limits;
    limits.max_depth = kMaxDepth;
    auto tree = parse_python(*source, limits);
    if (!tree) {
      (void)fail(tree.error().message, tree.error().hint, 0, 0);
      return false;
    }
    if (tree->broken() || has_empty_suite(*tree)) {
      point_at_error(*source, *tree);
      return false;
    }
    if (!is_python_3(*tree)) return false;
    pattern_.source_ = std::move(source);
    pattern_.tree_ = std::move(*tree);
    return take_roots();
  }

  // The grammar lets a suite be empty.
  static bool has_empty_suite(const Tree& tree) {
    for (NodeId id = 0; id < tree.size(); ++id) {
      if (tree.is(id, kinds().block) && tree.named_children(id).empty()) return true;
    }
    return false;
  }

  // The grammar still knows some Python 2.
  bool is_python_3(const Tree& tree) {
    for (NodeId id = 0; id < tree.size(); ++id) {
      const auto name = kind_name(tree[id].kind);
      const bool statement = name == "print_statement" || name == "exec_statement";
      if (!statement && name != "<>") continue;
      (void)fail("the pattern is not valid Python 3",
                 statement ? "print and exec are functions: write print(...)" : "write != for <>", 0, text_.size());
      return false;
    }
    return true;
  }

  bool take_roots() {
    const Tree& tree = pattern_.tree_;
    const Kinds& k = kinds();
    pattern_.roots_ = tree.named_children(tree.root());
    if (pattern_.roots_.empty()) {
      (void)fail("the pattern holds no code", "a comment alone matches nothing", 0, 0);
      return false;
    }
    pattern_.form_ = Pattern::Form::statements;
    if (pattern_.roots_.size() == 1 && tree.is(pattern_.roots_[0], k.expression_statement)) {
      const auto inner = tree.named_children(pattern_.roots_[0]);
      if (inner.size() == 1 && !tree.is(inner[0], k.assignment) && !tree.is(inner[0], k.augmented_assignment)) {
        pattern_.form_ = Pattern::Form::expression;
        pattern_.roots_ = inner;
      } else if (inner.size() > 1) {
        // `a, b` as a statement has its elements as direct children: it is an expression list without a node of its
        // own.
        pattern_.form_ = Pattern::Form::statements;
      }
    }
    return true;
  }

  // `{$$$A, "k": $V}`: a run of entries stands where Python has `**x`, the one entry that is no `k: v`.
  bool parse_with_entries(const std::string& snippet) {
    const PatternProblem first = problem_ != nullptr ? *problem_ : PatternProblem{};
    const std::string entries = with_entries(snippet);
    if (entries != snippet && (parse(entries, 0) || parse_in_context(entries))) return true;
    if (problem_ != nullptr) *problem_ = first;
    return false;
  }

  bool parse_in_context(const std::string& snippet) {
    const PatternProblem first = problem_ != nullptr ? *problem_ : PatternProblem{};
    for (const Context& context : contexts()) {
      std::string body = snippet;
      if (context.kind == &Kinds::case_clause) {
        std::string indented = "    ";
        for (char c : snippet) {
          indented += c;
          if (c == '\n') indented += "    ";
        }
        body = indented;
      }
      auto source =
          std::make_shared<const Source>("pattern", std::string(context.before) + body + std::string(context.after));
      auto tree = parse_python(*source);
      if (!tree || tree->broken() || has_empty_suite(*tree)) continue;
      const auto end = static_cast<std::uint32_t>(source->size() - context.after.size());
      const auto begin = static_cast<std::uint32_t>(context.before.size());
      std::vector<NodeId> found;
      for (NodeId id = 0; id < tree->size(); ++id) {
        if (tree->is(id, kinds().*context.kind) && (*tree)[id].begin >= begin && (*tree)[id].end <= end + 1) {
          if (found.empty() || !tree->contains(found.back(), id)) found.push_back(id);
        }
      }
      if (found.size() != 1) continue;
      pattern_.source_ = std::move(source);
      pattern_.tree_ = std::move(*tree);
      pattern_.form_ = Pattern::Form::clause;
      pattern_.roots_ = found;
      return true;
    }
    if (problem_ != nullptr) *problem_ = first;
    return false;
  }

  void point_at_error(const Source& source, const Tree& tree) {
    Range at{0, static_cast<std::uint32_t>(text_.size())};
    for (NodeId id = 0; id < tree.size(); ++id) {
      if (tree[id].error || tree[id].missing) {
        at = tree.range(id);
        break;
      }
    }
    // Back to the text as it was given: the mark is three bytes for one, and the text was dedented.
    const std::string before = without_placeholders(source.text({0, at.begin}));
    const std::string inside = without_placeholders(source.text(at));
    const std::size_t begin = position_in_text(before.size());
    const bool match = pattern_.written_.starts_with("match ");
    (void)fail(
        "the pattern is not valid Python",
        match ? "a match statement has cases: write `case $_:` with `$$$` below it, or `case $$$` alone"
              : "a pattern is an expression, statements, or one clause (except, elif, else, finally, case, @decorator)",
        begin, position_in_text(before.size() + std::max<std::size_t>(inside.size(), 1)));
  }

  // Position in the given text of byte `at` of the dedented one.
  [[nodiscard]] std::size_t position_in_text(std::size_t at) const {
    const std::string& written = pattern_.written_;
    const std::size_t line_index = static_cast<std::size_t>(
        std::count(written.begin(), written.begin() + static_cast<std::ptrdiff_t>(std::min(at, written.size())), '\n'));
    const std::size_t written_line =
        at == 0 ? 0 : (written.rfind('\n', at - 1) == std::string::npos ? 0 : written.rfind('\n', at - 1) + 1);
    // The first line that is not blank is line 0 of the dedented text.
    std::size_t begin = 0;
    while (begin < text_.size()) {
      const std::size_t end = std::min(text_.find('\n', begin), text_.size());
      if (text_.substr(begin, end - begin).find_first_not_of(" \t\r") != std::string::npos) break;
      begin = end + 1;
    }
    for (std::size_t i = 0; i < line_index && begin < text_.size(); ++i)
      begin = std::min(text_.find('\n', begin), text_.size() - 1) + 1;
    const std::size_t end = std::min(text_.find('\n', begin), text_.size());
    const std::string line = text_.substr(begin, end - begin);
    const std::size_t written_end = std::min(written.find('\n', written_line), written.size());
    const std::size_t dropped = line.size() - std::min(line.size(), written_end - written_line);
    return std::min(begin + dropped + (at - written_line), text_.size());
  }

  bool collect_metavariables() {
    const Tree& tree = pattern_.tree_;
    const Kinds& k = kinds();
    for (NodeId root : pattern_.roots_) {
      for (NodeId id = root; id < tree[root].subtree_end; ++id) {
        if (!tree.is(id, k.identifier)) continue;
        const auto text = pattern_.source_->text(tree.range(id));
        if (text.substr(0, kMark.size()) != kMark) {
          if (text.find(kMark) != std::string_view::npos) {
            (void)fail("a metavariable must be a whole name", "",
                       position_in_text(without_placeholders(pattern_.source_->text({0, tree[id].begin})).size()), 0);
            return false;
          }
          continue;
        }
        add(id, text);
      }
    }
    return true;
  }

  void add(NodeId id, std::string_view text) {
    Metavariable mv;
    std::size_t marks = 0;
    while (text.substr(0, kMark.size()) == kMark) {
      text.remove_prefix(kMark.size());
      ++marks;
    }
    mv.run = marks == 3;
    mv.name = text == "_" ? "" : std::string(text);
    const Tree& tree = pattern_.tree_;
    // Lift to the node that only wraps it, never above the root.
    NodeId top = id;
    const auto is_root = [&](NodeId n) {
      return std::find(pattern_.roots_.begin(), pattern_.roots_.end(), n) != pattern_.roots_.end();
    };
    while (!is_root(top) && wraps_one(tree[top].parent, top)) top = tree[top].parent;
    const NodeId splat = tree[top].parent;
    if (mv.run && tree.is(splat, kinds().dictionary_splat) && tree.is(tree[splat].parent, kinds().dictionary))
      top = splat;
    for (NodeId n = top; n <= id; ++n) {
      if (tree.contains(n, id)) pattern_.metavariables_[n] = mv;
    }
    if (tree.is(id, kinds().identifier)) {
      pattern_.has_runs_ = pattern_.has_runs_ || mv.run;
      const bool again = !mv.name.empty() && pattern_.binds(mv.name);
      pattern_.repeats_names_ = pattern_.repeats_names_ || again;
    }
    const bool known = std::any_of(pattern_.names_.begin(), pattern_.names_.end(),
                                   [&](const Metavariable& m) { return m.name == mv.name && m.run == mv.run; });
    if (!mv.name.empty() && !known) pattern_.names_.push_back(mv);
  }

  // A node that stands for its only child: the statement `$X`, the type `$T`, a dotted name of one part ...
  [[nodiscard]] bool wraps_one(NodeId parent, NodeId child) const {
    const Tree& tree = pattern_.tree_;
    const Kinds& k = kinds();
    if (tree.range(parent) != tree.range(child)) return false;
    return tree.is(parent, k.expression_statement) || tree.is(parent, k.type) || tree.is(parent, k.dotted_name) ||
           kind_name(tree[parent].kind) == "as_pattern_target" || kind_name(tree[parent].kind) == "with_item" ||
           kind_name(tree[parent].kind) == "case_pattern";
  }

  std::string text_;
  PatternProblem* problem_;
  Pattern pattern_;
};

const Metavariable* Pattern::metavariable(NodeId node) const {
  const auto it = metavariables_.find(node);
  return it == metavariables_.end() ? nullptr : &it->second;
}

bool Pattern::binds(const std::string& name) const {
  return std::any_of(names_.begin(), names_.end(), [&](const Metavariable& m) { return m.name == name; });
}

std::vector<NodeId> Pattern::only_runs(NodeId statement) const {
  const Kinds& k = kinds();
  const bool lists = tree_.is(statement, k.import_from_statement) || tree_.is(statement, k.import_statement) ||
                     tree_.is(statement, k.delete_statement);
  std::vector<NodeId> out;
  if (!lists) return out;
  for (const NodeId child : tree_.named_children(statement)) {
    if (tree_[child].field == fields().module_name && tree_.is(statement, k.import_from_statement)) continue;
    const auto elements = tree_.is(child, k.expression_list) ? tree_.named_children(child) : std::vector<NodeId>{child};
    for (const NodeId element : elements) {
      const Metavariable* mv = metavariable(element);
      if (mv == nullptr || !mv->run) return {};
      out.push_back(element);
    }
  }
  return out;
}

std::string Pattern::spelled(Range range) const {
  std::string out;
  for (NodeId id = 0; id < tree_.size(); ++id) {  // runs of entries: see parse_with_entries
    const Metavariable* mv = tree_.is(id, kinds().dictionary_splat) ? metavariable(id) : nullptr;
    if (mv == nullptr || !range.contains(tree_.range(id))) continue;
    out += without_placeholders(source_->text({range.begin, tree_[id].begin})) + mv->spelled();
    range.begin = tree_[id].end;
  }
  return out + without_placeholders(source_->text(range));
}

std::optional<Pattern> compile_pattern(const std::string& text, PatternProblem* problem) {
  return PatternCompiler(text, problem).compile();
}

}  // namespace suture
