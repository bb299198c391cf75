// See audit.h. Tests: tests/unit/audit_test.cc, tests/audit.
#include "engine/audit.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "base/text.h"
#include "engine/audit_finder.h"
#include "engine/outline.h"
#include "engine/parsed_file.h"
#include "engine/sites.h"
#include "engine/word_flow.h"
#include "read/encoding.h"

namespace suture {
namespace {

constexpr std::size_t kMostText = 160;
constexpr std::size_t kMostLine = 1000;  // that a message shows
constexpr int kMostRounds = 4;  // of looking for what a receiver is elsewhere in the file; then all of it is parsed

bool is_word(char c) {
  return is_ascii_word(c) || static_cast<unsigned char>(c) > 127;
}
// Whether a word stands at `at`, and no part of a longer one.
bool word_at(std::string_view text, std::size_t at, std::string_view word) {
  return text.substr(at).starts_with(word) && (at == 0 || !is_word(text[at - 1])) &&
         (at + word.size() == text.size() || !is_word(text[at + word.size()]));
}

// --- sites -----------------------------------------------------------------------------------------------------------

bool speaks_of_dtype(std::string_view text) {
  return text.find("dtype") != std::string_view::npos || text.find("data_type") != std::string_view::npos;
}

// Columns in characters of places that are asked for in the order of the file, so that a line of many sites is counted once.
class Columns {
 public:
  explicit Columns(const Source& source) : source_(source) {}

  std::uint32_t at(std::uint32_t offset) {
    const std::uint32_t line = source_.line_of(offset);
    const std::uint32_t begin = source_.line_begin(line);
    if (line != line_ || offset < counted_) {
      line_ = line;
      counted_ = begin + (begin == 0 ? source_.bom() : 0);
      column_ = 1;
    }
    if (offset > counted_) column_ += static_cast<std::uint32_t>(count_characters(source_.text({counted_, offset})));
    counted_ = std::max(counted_, offset);
    return column_;
  }

 private:
  const Source& source_;
  std::uint32_t line_ = kNone, counted_ = 0, column_ = 1;
};

class SiteWriter {
 public:
  SiteWriter(const AuditRules& rules, const CodeView& target, const std::vector<Import>& imports)
      : rules_(rules), target_(target), tree_(*target.tree), receivers_(target, imports), begins_(*target.source) {}

  AuditSite write(const FoundSite& found) {
    AuditSite site;
    site.rule = found.rule;
    site.range = found.match.range(tree_);
    site.broken = found.match.broken;
    const Source& source = *target_.source;
    site.line = source.line_of(site.range.begin) + 1;
    site.column = begins_.at(site.range.begin);
    const std::uint32_t begin = source.line_begin(site.line - 1);
    site.byte_column = site.range.begin - begin - (begin == 0 ? source.bom() : 0);
    site.end_line = source.line_of(site.range.end) + 1;
    const Range last =
        site.end_line == site.line ? site.range : Range{source.line_begin(site.end_line - 1), site.range.end};
    site.end_column = (site.end_line == site.line ? site.column : 1) +
                      static_cast<std::uint32_t>(count_characters(source.text(last)));
    const NodeId node = found.match.nodes.front();
    site.scope = scope_name(target_, node);
    site.text = one_line(source.text(site.range), kMostText);
    if (!tree_.is(node, kinds().call)) return site;
    call(node, site);
    const std::string& kind = rules_.audit(found.rule).kind;
    if (kind == "plan") site.receiver = receivers_.of_call(node);
    if (kind == "cast") site.calls = methods_around(node);
    return site;
  }
  [[nodiscard]] const std::vector<WantedAttribute>& wanted() const { return receivers_.wanted(); }

 private:
  void call(NodeId node, AuditSite& site) {
    const NodeId function = strip_parentheses(tree_, tree_.child(node, fields().function));
    site.callee = one_line(text_of(target_, function), kMostText);
    if (tree_.is(function, kinds().attribute))
      site.object = one_line(text_of(target_, tree_.child(function, fields().object)), kMostText);
    const NodeId arguments = tree_.child(node, fields().arguments);
    if (arguments == kNone) return;
    if (tree_.is(arguments, kinds().generator_expression))
      return site.arguments.push_back({"", "", one_line(text_of(target_, arguments), kMostText), "", false});
    const bool plans = rules_.audit(site.rule).kind == "plan";
    for (const NodeId each : tree_.named_children(arguments)) site.arguments.push_back(argument(each, plans));
  }
  AuditArgument argument(NodeId node, bool plans) {
    AuditArgument out;
    NodeId value = node;
    if (tree_.is(node, kinds().keyword_argument)) {
      out.keyword = text_of(target_, tree_.child(node, fields().name));
      value = tree_.child(node, fields().value);
    }
    out.splat = tree_.is(node, kinds().list_splat) || tree_.is(node, kinds().dictionary_splat);
    out.text = one_line(text_of(target_, value), kMostText);
    if (!plans || out.splat || !(speaks_of_dtype(out.text) || speaks_of_dtype(out.keyword))) return out;
    out.origin = receivers_.origin_of(value);
    if (out.origin == out.text) out.origin.clear();
    return out;
  }
  // The names of the methods that the function around a node calls on something else than its own object.
  std::vector<std::string> methods_around(NodeId node) const {
    std::set<std::string> out;
    for (NodeId at = node; at != kNone; at = tree_[at].parent) {
      if (!tree_.is(at, kinds().function_definition)) continue;
      for (NodeId id = at; id < tree_[at].subtree_end; ++id) {
        const NodeId name = tree_.is(id, kinds().call) ? callee_name(tree_, id) : kNone;
        const NodeId called = name == kNone ? kNone : tree_[name].parent;
        const bool method = called != kNone && tree_.is(called, kinds().attribute);
        if (method && text_of(target_, tree_.child(called, fields().object)) != "self")
          out.insert(text_of(target_, name));
      }
      break;
    }
    return {out.begin(), out.end()};
  }

  const AuditRules& rules_;
  CodeView target_;
  const Tree& tree_;
  ReceiverReader receivers_;
  Columns begins_;
};

// --- one file --------------------------------------------------------------------------------------------------------

class FileAuditor {
 public:
  FileAuditor(const AuditRules& rules, const std::string& path, std::string_view bytes, AuditDepth depth)
      : rules_(rules), path_(path), bytes_(bytes), whole_(depth == AuditDepth::whole) {}

  FileAudit run() {
    std::vector<Hit> hits;
    if (!whole_ && !rules_.prefilter().takes_all()) {
      hits = rules_.prefilter().scan(bytes_);
      if (hits.empty()) return {};
    }
    seekers_ = seekers_of(rules_.compiled(), path_);
    if (seekers_.empty()) return {};
    whole_ = whole_ || rules_.prefilter().takes_all();
    if (!whole_ && !choose_parts(std::move(hits))) return {};
    if (!whole_ && audit()) return std::move(out_);
    parts_.clear();
    (void)audit();
    return std::move(out_);
  }

 private:
  // What to parse; false: nothing of the file. Sets whole_ where nothing less will do.
  bool choose_parts(std::vector<Hit> hits) {
    const Prefilter& prefilter = rules_.prefilter();
    // The outline reads bytes, and of some encodings a byte of a character may be a quote or a backslash.
    const std::string encoding = declared_encoding(bytes_);
    whole_ = !encoding.empty() && encoding_kind(encoding) != EncodingKind::utf8;
    if (whole_) return true;
    outline_ = outline_of(bytes_, hits);
    whole_ = !outline_.sure;
    if (whole_) return true;
    std::vector<Excerpt> excerpts;
    std::vector<std::pair<Range, std::string>> expected;
    for (std::size_t i = 0; i < hits.size();) {
      const std::size_t first = i;
      Excerpt excerpt = excerpt_around(outline_, hits[i].at);
      std::set<std::size_t> found;
      do {
        found.insert(hits[i].anchor);
        ++i;
      } while (i < hits.size() && hits[i].at < excerpt.body.end);
      std::optional<WordFlow> flow;  // most needs fail before it is asked
      for (const Need& need : prefilter.needs()) {
        if (!found.contains(need.anchors[0])) continue;
        if (need.whole_file && prefilter.holds(need, bytes_, {0, static_cast<std::uint32_t>(bytes_.size())}))
          return whole_ = true;
        if (need.whole_file || !prefilter.holds(need, bytes_, excerpt.body)) continue;
        if (!flow) flow.emplace(prefilter, bytes_, outline_, excerpt.body);
        if (!flow->admits(need)) continue;
        if (rules_.audit(need.rule).kind == "plan" && !excerpt.heads.empty()) {
          for (std::size_t hit = first; hit < i; ++hit) expect_wanted(excerpt.heads.back(), hits[hit], expected);
        }
        excerpts.push_back(std::move(excerpt));
        break;
      }
    }
    excerpts_ = std::move(excerpts);
    for (const auto& [block, name] : expected) add_assignments(block, name);
    parts_ = ranges_of(excerpts_);
    return !parts_.empty();
  }

  // The attributes that SiteWriter will most likely want for a planning call in the class of that head: what it is called on, and dtypes among
  // its arguments. A guess, which spares most files a second parse; what else is wanted is parsed then.
  void expect_wanted(Range head, const Hit& hit, std::vector<std::pair<Range, std::string>>& expected) const {
    const auto begins = [](std::uint32_t at) { return [at](const LogicalLine& line) { return line.begin <= at; }; };
    const auto& lines = outline_.lines;
    const auto line = std::partition_point(lines.begin(), lines.end(), begins(hit.at));
    const auto klass = std::partition_point(lines.begin(), lines.end(), begins(head.begin));
    if (line == lines.begin() || klass == lines.begin()) return;
    const Range block = block_of(static_cast<std::size_t>(klass - lines.begin()) - 1);
    const std::string_view text = bytes_.substr(0, std::prev(line)->end);
    constexpr std::string_view kSelf = "self.";
    for (std::size_t at = text.find(kSelf, std::prev(line)->begin); at != std::string_view::npos;
         at = text.find(kSelf, at + 1)) {
      const std::size_t begin = at + kSelf.size();
      std::size_t end = begin;
      while (end < text.size() && is_ascii_word(text[end])) ++end;
      std::pair<Range, std::string> one(block, text.substr(begin, end - begin));
      if (one.second.empty() || (at > hit.at && !speaks_of_dtype(one.second))) continue;
      if (std::find(expected.begin(), expected.end(), one) == expected.end()) expected.push_back(std::move(one));
    }
  }

  // false: what was parsed does not read as Python, or leads on and on; the rest of the file may explain it.
  bool audit() {
    for (int round = 0; round < kMostRounds; ++round) {
      out_ = FileAudit{};
      if (too_large()) return true;
      const auto file = parse_parts(path_, bytes_, parts_);
      out_.parsed = true;
      for (const Range& part : parts_) out_.parsed_bytes += part.size();
      if (parts_.empty()) out_.parsed_bytes = static_cast<std::uint32_t>(bytes_.size());
      out_.problem = file->problem;
      if (file->problem) return false;
      if (file->tree.broken()) {
        if (!parts_.empty()) return false;
        out_.problem =
            Error{Exit::refused, "the parser sees a syntax error here: sites in the code around it may be missing",
                  file->first_error(), ""};
        if (out_.problem->where->text.size() > kMostLine) out_.problem->where->text.clear();
      }
      if (!write_sites(file->target())) return true;
    }
    return false;
  }

  bool too_large() {
    std::size_t size = bytes_.size();
    if (!parts_.empty()) {
      size = 0;
      for (const Range& part : parts_) size += part.size();
    }
    if (size <= AuditRules::kMostBytes) return false;
    Location where;
    where.file = path_;
    out_.problem = Error{
        Exit::refused,
        "what is to be parsed of the file is larger than " + std::to_string(AuditRules::kMostBytes >> 20U) + " MiB",
        where, "is it Python source?"};
    return true;
  }

  // Whether more of the file has to be parsed for what the sites' receivers are.
  bool write_sites(const CodeView& target) {
    const std::vector<FoundSite> found = find_audit_sites(rules_, seekers_, target);
    const bool plans = std::any_of(found.begin(), found.end(),
                                   [&](const FoundSite& f) { return rules_.audit(f.rule).kind == "plan"; });
    std::vector<Import> imports;
    if (plans) imports = parts_.empty() ? imports_of(target) : outlined_imports();
    SiteWriter writer(rules_, target, imports);
    for (const FoundSite& each : found) out_.sites.push_back(writer.write(each));
    if (!plans) return false;
    const Replacements replaced = replacements_of(target, imports);
    for (AuditSite& site : out_.sites) {
      if (!site.receiver) continue;
      std::copy_if(replaced.begin(), replaced.end(), std::back_inserter(site.replaced), [&](const Replacement& r) {
        return site.callee == r.method || site.callee.ends_with("." + r.method);
      });
    }
    return !parts_.empty() && add_parts(writer.wanted());
  }

  // The import statements of the file, wherever they stand, each parsed by itself.
  std::vector<Import> outlined_imports() {
    std::string statements;
    for (const LogicalLine& line : outline_.lines) {
      const std::string_view text = trim(bytes_.substr(line.begin, line.end - line.begin));
      const std::size_t begin = import_in(text);
      if (begin != std::string_view::npos) statements += std::string(text.substr(begin)) + "\n";
    }
    const auto file = parse_file(path_, statements);
    return file->problem ? std::vector<Import>() : imports_of(file->target());
  }
  // Where an import statement begins in a logical line: with it, or behind a colon or semicolon (`try: import a`).
  static std::size_t import_in(std::string_view line) {
    if (word_at(line, 0, "import") || word_at(line, 0, "from")) return 0;
    if (line.find("import") == std::string_view::npos || line.find_first_of("\"'") != std::string_view::npos)
      return std::string_view::npos;
    for (std::size_t at = line.find_first_of(":;"); at != std::string_view::npos;
         at = line.find_first_of(":;", at + 1)) {
      const std::size_t begin = line.find_first_not_of(kGaps, at + 1);
      if (begin == std::string_view::npos) break;
      if (word_at(line, begin, "import") || word_at(line, begin, "from")) return begin;
    }
    return std::string_view::npos;
  }

  // The functions in which a class assigns the wanted attributes, and those in which a planning method is replaced.
  bool add_parts(const std::vector<WantedAttribute>& wanted) {
    std::set<std::string> methods;
    for (const AuditSite& site : out_.sites) {
      if (site.receiver) methods.insert(site.callee.substr(site.callee.rfind('.') + 1));
    }
    for (const std::string& method : methods) add_assignments({0, static_cast<std::uint32_t>(bytes_.size())}, method);
    for (const WantedAttribute& attribute : wanted) {
      for (std::size_t i = 0; i < outline_.lines.size(); ++i) {
        if (is_class(outline_.lines[i], attribute.owner)) add_assignments(block_of(i), attribute.name);
      }
    }
    std::vector<Range> more = ranges_of(excerpts_);
    if (more == parts_) return false;
    parts_ = std::move(more);
    return true;
  }
  [[nodiscard]] bool is_class(const LogicalLine& line, std::string_view name) const {
    if (line.kind != LogicalLine::Kind::klass) return false;
    const std::string_view text = trim(bytes_.substr(line.begin, line.end - line.begin));
    const std::size_t at = text.find_first_not_of(kGaps, std::string_view("class").size());
    return at != std::string_view::npos && word_at(text, at, name);
  }
  [[nodiscard]] Range block_of(std::size_t line) const {
    std::size_t end = line + 1;
    while (end < outline_.lines.size() && outline_.lines[end].indent > outline_.lines[line].indent) ++end;
    return {outline_.lines[line].begin, outline_.lines[end - 1].end};
  }
  // What may be `X.name = ...`, `X.name: T`, `X.name[...] = ...`, `X.name.append(...)`, `(X.name, ...) = ...`.
  void add_assignments(Range block, const std::string& name) {
    const std::string_view text = bytes_.substr(0, block.end);
    for (std::size_t at = text.find(name, block.begin); at != std::string_view::npos; at = text.find(name, at + 1)) {
      if (word_at(text, at, name) && follows_dot(text, at) && is_set(text, at + name.size()))
        excerpts_.push_back(excerpt_around(outline_, static_cast<std::uint32_t>(at)));
    }
  }
  // Whether an attribute begins at `at`. Before a comment the dot is not looked for.
  static bool follows_dot(std::string_view text, std::size_t at) {
    const std::size_t before = text.substr(0, at).find_last_not_of(kGaps);
    if (before == std::string_view::npos) return false;
    if (text[before] == '.') return true;
    const std::size_t newline = text.find('\n', before);
    const std::size_t begin = text.rfind('\n', before) + 1;  // npos + 1 is 0
    return newline < at && text.substr(begin, before - begin).find('#') != std::string_view::npos;
  }
  static bool is_set(std::string_view text, std::size_t behind) {
    const std::size_t at = text.find_first_not_of(kGaps, behind);
    if (at == std::string_view::npos) return false;
    const char c = text[at];
    if (c == '=') return text.substr(at, 2) != "==";
    if (c == ':' || c == '[' || c == ',' || c == ')' || c == '#') return true;
    if (c != '.') return false;
    const std::size_t method = text.find_first_not_of(kGaps, at + 1);
    return method != std::string_view::npos && (word_at(text, method, "append") || word_at(text, method, "insert"));
  }

  const AuditRules& rules_;
  const std::string& path_;
  std::string_view bytes_;
  bool whole_;
  std::vector<Seeker> seekers_;
  Outline outline_;
  std::vector<Excerpt> excerpts_;
  std::vector<Range> parts_;
  FileAudit out_;
};

}  // namespace

Result<AuditRules> AuditRules::compile(const std::vector<const Rule*>& rules) {
  AuditRules out;
  for (const Rule* rule : rules) {
    Result<CompiledRule> compiled = compile_rule(*rule);
    if (!compiled) return compiled.error();
    out.rules_.push_back(std::move(*compiled));
  }
  out.prefilter_ = std::make_shared<const Prefilter>(out.rules_);
  return out;
}

FileAudit audit_file(const AuditRules& rules, const std::string& path, std::string_view bytes, AuditDepth depth) {
  return FileAuditor(rules, path, bytes, depth).run();
}

}  // namespace suture
