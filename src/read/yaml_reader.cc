// yaml-cpp gives events; this builds the tree and refuses what yaml-cpp lets through: duplicate keys, missing values,
// quotes that are never closed, further documents, anchors. Its own errors are put into words that say what to do.
//
// Rejected: YAML::Load. It has no place for what it accepts, follows aliases (a bomb of them never ends), takes "010"
// for 8 and "yes" for true, and keeps the first of two equal keys in silence.
// Test: tests/unit/yaml_reader_test.cc.
#include "read/yaml_reader.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <optional>
#include <sstream>
#include <unordered_map>
#include <utility>

#include "base/text.h"
#include "read/yaml_span.h"

namespace suture {
namespace {

// Thrown through yaml-cpp, caught in read_yaml.
struct Refused {
  Error error;
};

// --- Before yaml-cpp sees the bytes -----------------------------------------

std::optional<Error> bad_size(const Source& source) {
  if (source.size() <= kMaxYamlBytes) return std::nullopt;
  Location where;
  where.file = source.name();
  return Error{Exit::bad_rule,
               "the file has " + std::to_string(source.size()) + " bytes; a rule or patch file has at most " +
                   std::to_string(kMaxYamlBytes),
               where, "check that this is the file that you meant; rules may be split over several files"};
}

// yaml-cpp takes 0x04 for the end of the file, NULs for UTF-16, and copies what is not UTF-8.
std::optional<Error> bad_bytes(const Source& source) {
  const std::string& bytes = source.bytes();
  const auto at_byte = [](std::size_t at) {
    return Range{static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(at) + 1};
  };
  if (const auto bad = first_bad_utf8(bytes)) {
    return yaml_error(source, at_byte(*bad), "this byte is not UTF-8", "save the file as UTF-8");
  }
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    const auto c = static_cast<unsigned char>(bytes[at]);
    const bool lone_cr = c == '\r' && bytes.compare(at, 2, "\r\n") != 0;
    const bool control = (c < 0x20 && c != '\t' && c != '\n' && c != '\r') || c == 0x7F;
    if (lone_cr)
      return yaml_error(source, at_byte(at), "a carriage return without a newline", "end lines with a newline");
    if (control) {
      return yaml_error(source, at_byte(at), "a control character",
                        "remove it, or write it as an escape in double quotes");
    }
  }
  return std::nullopt;
}

// --- Events -----------------------------------------------------------------

class Builder : public YAML::EventHandler {
 public:
  explicit Builder(const Source& source) : source_(source) {}

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (++documents_ > 1) refuse_second_document(offset(mark));
  }
  void OnDocumentEnd() override {}

  void OnAnchor(const YAML::Mark& mark, const std::string& /*name*/) override { refuse_indicator(offset(mark)); }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t /*anchor*/) override { refuse_indicator(offset(mark)); }

  void OnNull(const YAML::Mark& mark, YAML::anchor_t /*anchor*/) override { refuse_null(offset(mark)); }

  void OnScalar(const YAML::Mark& mark, const std::string& /*tag*/, YAML::anchor_t /*anchor*/,
                const std::string& value) override {
    const std::uint32_t begin = offset(mark);
    refuse_tag(begin);
    const std::optional<YamlSpan> span = yaml_span(source_, begin, value);
    if (!span) refuse_span(begin);
    if (span->style != YamlNode::Style::block) refuse_outdent(begin);
    spans_.push_back(span->whole);
    if (expects_key()) return add_key(value, *span);
    YamlNode node;
    node.style = span->style;
    node.value = value;
    node.at = span->at;
    add_value(std::move(node));
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& /*tag*/, YAML::anchor_t /*anchor*/,
                       YAML::EmitterStyle::value style) override {
    open(YamlNode::Kind::list, mark, style);
  }
  void OnMapStart(const YAML::Mark& mark, const std::string& /*tag*/, YAML::anchor_t /*anchor*/,
                  YAML::EmitterStyle::value style) override {
    open(YamlNode::Kind::map, mark, style);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapEnd() override { close(); }

  [[nodiscard]] std::optional<YamlNode> take_root() { return std::move(root_); }
  [[nodiscard]] const std::vector<Range>& spans() const { return spans_; }

  // yaml-cpp's own error, in words that say what to do.
  [[nodiscard]] Error explain(const YAML::Exception& problem) const;

 private:
  struct Frame {
    YamlNode node;
    bool awaits_value = false;                            // map: a key was read
    std::unordered_map<std::string, std::uint32_t> seen;  // map: key -> offset
  };

  // yaml-cpp counts from after the BOM, and past the end where the file ends too early.
  [[nodiscard]] std::uint32_t offset(const YAML::Mark& mark) const {
    const auto pos = static_cast<std::uint32_t>(std::max(mark.pos, 0));
    return std::min(pos + source_.bom(), source_.size());
  }
  [[nodiscard]] char byte(std::uint32_t at) const { return at < source_.size() ? source_.bytes()[at] : '\0'; }
  [[nodiscard]] std::uint32_t last_end() const { return spans_.empty() ? source_.bom() : spans_.back().end; }
  [[nodiscard]] bool in_flow() const { return !stack_.empty() && stack_.back().node.style == YamlNode::Style::flow; }
  [[nodiscard]] bool expects_key() const {
    return !stack_.empty() && stack_.back().node.kind == YamlNode::Kind::map && !stack_.back().awaits_value;
  }

  [[nodiscard]] Error error(Range at, std::string message, std::string hint) const {
    return yaml_error(source_, at, std::move(message), std::move(hint));
  }
  [[noreturn]] void refuse(Range at, std::string message, std::string hint) const {
    throw Refused{error(at, std::move(message), std::move(hint))};
  }

  void open(YamlNode::Kind kind, const YAML::Mark& mark, YAML::EmitterStyle::value style);
  void close();
  void add_key(const std::string& value, const YamlSpan& span);
  void add_value(YamlNode node);

  void refuse_tag(std::uint32_t at) const {
    if (byte(at) == '!') refuse_indicator(at);
  }
  [[noreturn]] void refuse_indicator(std::uint32_t at) const { throw Refused{indicator_error(at)}; }
  [[noreturn]] void refuse_second_document(std::uint32_t at) const;
  [[noreturn]] void refuse_null(std::uint32_t at) const;
  void refuse_outdent(std::uint32_t begin) const;
  [[noreturn]] void refuse_span(std::uint32_t begin) const;
  [[nodiscard]] std::optional<Error> unclosed_bracket() const;
  [[nodiscard]] Error indicator_error(std::uint32_t at) const;
  [[nodiscard]] Error unclosed_quote(std::uint32_t at) const;
  [[nodiscard]] std::string quoting_hint(std::uint32_t at) const;
  [[nodiscard]] bool tab_indents(std::uint32_t at) const;

  const Source& source_;
  std::vector<Frame> stack_;
  std::optional<YamlNode> root_;
  std::vector<Range> spans_;
  int documents_ = 0;
};

void Builder::open(YamlNode::Kind kind, const YAML::Mark& mark, YAML::EmitterStyle::value style) {
  const std::uint32_t begin = offset(mark);
  refuse_tag(begin);
  const Range at{begin, std::min(begin + 1, source_.size())};
  if (expects_key()) {
    refuse(at, std::string("a key must be a text, not ") + kind_words(kind), "put quotes around it, or name the key");
  }
  if (stack_.size() >= kMaxYamlDepth) {
    refuse(at, "nested deeper than " + std::to_string(kMaxYamlDepth) + " levels",
           "no rule or patch file needs that; look for a bracket that is not closed");
  }
  Frame frame;
  frame.node.kind = kind;
  frame.node.style = style == YAML::EmitterStyle::Flow ? YamlNode::Style::flow : YamlNode::Style::block;
  frame.node.at = at;
  stack_.push_back(std::move(frame));
}

void Builder::close() {
  YamlNode node = std::move(stack_.back().node);
  stack_.pop_back();
  node.at.end = std::max(node.at.end, last_end());
  add_value(std::move(node));
}

void Builder::add_key(const std::string& value, const YamlSpan& span) {
  Frame& frame = stack_.back();
  const auto [first, fresh] = frame.seen.emplace(value, span.at.begin);
  if (!fresh) {
    const Location where = source_.locate({first->second, first->second + 1});
    refuse(span.at, "the key " + in_quotes(value) + " stands twice in one map",
           "the first one is in line " + std::to_string(where.line) + "; keep one of the two");
  }
  frame.node.entries.push_back({value, span.at, {}});
  frame.awaits_value = true;
}

void Builder::add_value(YamlNode node) {
  if (stack_.empty()) {
    root_ = std::move(node);
    return;
  }
  Frame& frame = stack_.back();
  if (frame.node.kind == YamlNode::Kind::list) {
    frame.node.items.push_back(std::move(node));
  } else {
    frame.node.entries.back().value = std::move(node);
    frame.awaits_value = false;
  }
}

// --- What is refused --------------------------------------------------------

void Builder::refuse_second_document(std::uint32_t at) const {
  const Range range{at, source_.line_end(source_.line_of(at))};
  const std::string_view between = source_.text({last_end(), std::max(last_end(), at)});
  const bool marked = source_.text(range).substr(0, 3) == "---" || between.find("\n...") != std::string_view::npos;
  if (marked) {
    refuse({at, std::min(at + 3, range.end)}, "a second YAML document begins here",
           "a file holds one document: remove this line, or split the file");
  }
  if (tab_indents(at)) refuse({at - 1, at}, "a tab indents this line", "YAML indents with spaces only");
  refuse(range, "this line belongs to nothing above it", "check its indentation");
}

void Builder::refuse_null(std::uint32_t at) const {
  refuse_tag(at);
  if (auto unclosed = unclosed_bracket()) throw Refused{*unclosed};
  const Range here{at, std::min(at + 1, source_.size())};
  if (stack_.empty()) refuse(here, "the document is empty", "a rule file has 'rules:', a patch file has 'patch:'");
  const Frame& frame = stack_.back();
  if (frame.node.kind == YamlNode::Kind::map && frame.awaits_value) {
    const YamlEntry& entry = frame.node.entries.back();
    const std::string hint = in_flow() ? "write a value after it; a text that holds a comma must be quoted"
                                       : "write a value after it (null and ~ are none), or remove the key";
    refuse(entry.key_at, "the key " + in_quotes(entry.key) + " has no value", hint);
  }
  if (frame.node.kind == YamlNode::Kind::map) {
    refuse(here, "a key is missing here", "remove the extra punctuation");
  }
  // The mark of an item that is not there is the next token's; its own "-" is what stands before.
  const std::size_t dash = source_.text({last_end(), std::max(last_end(), at)}).find('-');
  const bool own = !in_flow() && dash != std::string_view::npos;
  const std::uint32_t begin = own ? last_end() + static_cast<std::uint32_t>(dash) : at;
  refuse({begin, std::min(begin + 1, source_.size())}, "an item of the list is empty",
         "remove it; a text that YAML takes for nothing (null, ~) must be quoted");
}

// yaml-cpp takes "a:\nb" for {a: b}: a value in a line of its own must stand deeper than what it belongs to.
void Builder::refuse_outdent(std::uint32_t begin) const {
  if (stack_.empty() || in_flow() || expects_key()) return;
  const YamlNode& parent = stack_.back().node;
  const std::uint32_t line = source_.line_of(begin);
  const bool own_line = source_.indentation_at(begin).size() == begin - source_.line_begin(line);
  const std::uint32_t parent_column = parent.at.begin - source_.line_begin(source_.line_of(parent.at.begin));
  if (!own_line || begin - source_.line_begin(line) > parent_column) return;
  refuse({begin, begin + 1}, "this value stands no deeper than what it belongs to", "indent it");
}

void Builder::refuse_span(std::uint32_t begin) const {
  const char first = byte(begin);
  if (first == '"' || first == '\'') throw Refused{unclosed_quote(begin)};
  if (first == '|' || first == '>') {
    refuse({begin, begin + 1}, "this block cannot be read exactly",
           "begin it with |, |-, |+, > or >- alone on the line, and each of its lines with the same spaces");
  }
  refuse({begin, begin + 1}, "this text cannot be read exactly", "put it in quotes");
}

// The innermost bracket, where nothing follows that could close it.
std::optional<Error> Builder::unclosed_bracket() const {
  if (!in_flow() || !trim(source_.text({last_end(), source_.size()})).empty()) return std::nullopt;
  for (auto frame = stack_.rbegin(); frame != stack_.rend(); ++frame) {
    const std::uint32_t at = frame->node.at.begin;
    if (byte(at) == '[' || byte(at) == '{') return error({at, at + 1}, "this bracket is not closed", "close it");
  }
  return std::nullopt;
}

Error Builder::unclosed_quote(std::uint32_t at) const {
  return error({at, at + 1}, "this quote is not closed", std::string("end the text with ") + byte(at));
}

std::string Builder::quoting_hint(std::uint32_t at) const {
  const std::string_view rest = trim(source_.text({at, source_.line_end(source_.line_of(at))}));
  const bool simple = !in_flow() && rest.find('\'') == std::string_view::npos && rest.size() <= 60;
  return simple ? "if it is meant as text, write '" + std::string(rest) + "'"
                : "if it is meant as text, put it in single quotes";
}

Error Builder::indicator_error(std::uint32_t at) const {
  const char c = byte(at);
  const std::string why = c == '*'   ? "YAML takes it for an alias, and aliases are refused"
                          : c == '&' ? "YAML takes it for an anchor, and anchors are refused"
                          : c == '!' ? "YAML takes it for a tag, and tags are refused"
                                     : "YAML reserves that character";
  return error({at, at + 1},
               "a text that begins with " + in_quotes(std::string(1, c)) + " must be quoted (" + why + ")",
               quoting_hint(at));
}

bool Builder::tab_indents(std::uint32_t at) const {
  const std::string_view indentation = source_.indentation_at(at);
  return indentation.find('\t') != std::string_view::npos;
}

// yaml-cpp's marks are one past the '*' for aliases, and at the end of the file for what is not closed.
Error Builder::explain(const YAML::Exception& problem) const {
  const std::uint32_t at = offset(problem.mark);
  const Range here{at, std::min(at + 1, source_.size())};
  const std::string& text = problem.msg;
  const auto says = [&](std::string_view words) { return text.find(words) != std::string::npos; };
  if (tab_indents(at)) {
    const auto tab = static_cast<std::uint32_t>(source_.indentation_at(at).find('\t'));
    const std::uint32_t line = source_.line_of(at);
    const std::uint32_t begin = std::max(source_.line_begin(line), line == 0 ? source_.bom() : 0) + tab;
    return error({begin, begin + 1}, "a tab indents this line", "YAML indents with spaces only");
  }
  if (byte(at) == '*') return indicator_error(at);
  if (at > 0 && byte(at - 1) == '*' && says("alias")) return indicator_error(at - 1);
  if (std::string_view("@`%&!").find(byte(at)) != std::string_view::npos && at < source_.size())
    return indicator_error(at);
  if (says("EOF in scalar")) {
    const std::size_t quote = source_.bytes().find_first_of("\"'", last_end());
    if (quote != std::string::npos) return unclosed_quote(static_cast<std::uint32_t>(quote));
  }
  if (says("flow not found") && in_flow()) {
    if (auto unclosed = unclosed_bracket()) return *unclosed;
    return error(here, "a ',' or the closing bracket is missing before this", "a text with punctuation must be quoted");
  }
  if (says("illegal map value")) {
    return error(here, "a second ':' that YAML takes for a key's", "quote the text, or write it as a block (|)");
  }
  if (says("end of map not found") || says("end of sequence not found")) {
    return error(here, "this does not belong to the value before it",
                 "check the indentation; quote the whole text, or write it as a block (|)");
  }
  if (says("unknown escape") && at > 0) {  // the mark is past the escape
    const auto backslash = static_cast<std::uint32_t>(std::min<std::size_t>(source_.bytes().rfind('\\', at - 1), at));
    return error({backslash, at}, "an escape that YAML does not know", "in single quotes a backslash is a backslash");
  }
  return error(here, "not valid YAML: " + text, "quote the text, or write it as a block (|)");
}

std::optional<Error> stray_error(const Source& source, const std::vector<Range>& spans) {
  const std::optional<YamlStray> stray = first_stray_byte(source, spans);
  if (!stray) return std::nullopt;
  const Range at{stray->at, stray->at + 1};
  if (stray->tab) return yaml_error(source, at, "a tab indents this line", "YAML indents with spaces only");
  if (source.text(at) == "?") {
    return yaml_error(source, at, "explicit keys ('?') are refused", "write the key and a colon");
  }
  if (source.text(at) == "%") return yaml_error(source, at, "directives are refused", "remove the line");
  return yaml_error(source, at, "this is part of no key and no value", "quote the text, or remove this");
}

}  // namespace

Result<YamlNode> read_yaml(const Source& source) {
  if (auto problem = bad_size(source)) return *problem;
  if (auto problem = bad_bytes(source)) return *problem;
  Builder builder(source);
  try {
    std::istringstream stream(source.bytes().substr(source.bom()));
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const Refused& refused) {
    return refused.error;
  } catch (const YAML::Exception& problem) {
    return builder.explain(problem);
  }
  if (auto problem = stray_error(source, builder.spans())) return *problem;
  std::optional<YamlNode> root = builder.take_root();
  if (root) return std::move(*root);
  Location where;
  where.file = source.name();
  return Error{Exit::bad_rule, "the file holds no YAML document", where,
               "a rule file has 'rules:', a patch file has 'patch:'"};
}

const char* kind_words(YamlNode::Kind kind) {
  switch (kind) {
    case YamlNode::Kind::scalar:
      return "a text";
    case YamlNode::Kind::list:
      return "a list";
    case YamlNode::Kind::map:
      return "a map";
  }
  return "";
}

Error yaml_error(const Source& source, Range at, std::string message, std::string hint) {
  return Error{Exit::bad_rule, std::move(message), source.locate(at), std::move(hint)};
}

}  // namespace suture
