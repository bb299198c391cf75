#include "engine/parsed_file.h"

#include <algorithm>

#include "base/text.h"
#include "engine/precedence.h"
#include "read/encoding.h"

namespace suture {
namespace {

Error not_python(const Source& source, std::optional<std::size_t> at, std::string message, std::string hint) {
  Location where;
  where.file = source.name();
  if (at) {
    const auto offset = static_cast<std::uint32_t>(*at);
    where = source.locate({offset, offset + 1});
  }
  return Error{Exit::refused, std::move(message), std::move(where), std::move(hint)};
}

// Why Python (or suture) does not read the bytes as the file says that they are to be read.
std::optional<Error> encoding_problem(const Source& source) {
  const std::string& bytes = source.bytes();
  const std::string name = declared_encoding(bytes);
  const EncodingKind kind = name.empty() ? EncodingKind::utf8 : encoding_kind(name);
  if (kind == EncodingKind::other) {
    return not_python(source, bytes.find(name), "the file is in the encoding " + name + ", which suture does not read",
                      "UTF-8, single-byte encodings, EUC, GBK, GB18030, Big5 and Shift JIS are read");
  }
  if (kind != EncodingKind::utf8 && source.bom() > 0) {
    return not_python(source, bytes.find(name), "the file begins with the mark of UTF-8, and says that it is " + name,
                      "Python would not import it; reinstall the package");
  }
  if (kind == EncodingKind::utf8) {
    const std::optional<std::size_t> bad = first_bad_utf8(bytes);
    if (!bad) return std::nullopt;
    return not_python(source, bad, "the file is not UTF-8, and says no other encoding",
                      "Python would not import it; reinstall the package");
  }
  const AsciiView view = ascii_view(bytes, kind);
  if (!view.bad) return std::nullopt;
  const std::string called = kind == EncodingKind::ascii ? "ASCII" : name;
  return not_python(source, view.bad, "the file says that it is " + called + ", and is not: Python would not import it",
                    "reinstall the package");
}

std::optional<Error> nul_problem(const Source& source) {
  const std::size_t nul = source.bytes().find('\0');
  if (nul == std::string::npos) return std::nullopt;
  return not_python(source, nul, "the file holds a NUL byte: Python would not import it", "reinstall the package");
}

// The grammar's scanner counts indentation in a byte: a statement further to the right is read into a wrong block.
std::optional<Error> too_far_right(const ParsedFile& file) {
  constexpr std::size_t kColumns = 255;
  const Source& source = *file.source;
  for (std::uint32_t line = 0; line < source.line_count(); ++line) {
    if (source.line_end(line) - source.line_begin(line) <= kColumns) continue;
    if (source.indentation_at(source.line_begin(line)).size() <= kColumns) continue;
    return Error{Exit::refused, "a line is indented by more than 255 columns, which the parser misreads",
                 source.locate({source.line_begin(line), source.line_end(line)}), "nothing of the file was matched"};
  }
  return std::nullopt;
}

// Python takes the indentation of the first line, the grammar's scanner that of the line below: what follows is read into a wrong block.
std::optional<Error> begins_with_backslash(const ParsedFile& file) {
  const Source& source = *file.source;
  const Tree& tree = file.tree;
  for (NodeId id = 0; id < tree.size(); ++id) {
    if (!tree.is(id, kinds().line_continuation)) continue;
    const std::uint32_t begin = source.line_begin(source.line_of(tree[id].begin));
    if (begin + source.indentation_at(begin).size() != tree[id].begin) continue;
    const auto around = tree.children(tree[id].parent);
    const bool between = is_suite(tree, tree[id].parent) ||
                         std::any_of(around.begin(), around.end(), [&](NodeId c) { return is_suite(tree, c); });
    if (!between) continue;
    return Error{Exit::refused, "a statement begins with a backslash alone on its line, which the parser misreads",
                 source.locate(tree.range(id)), "nothing of the file was matched"};
  }
  return std::nullopt;
}

// The innermost node around the offset.
NodeId node_around(const Tree& tree, std::uint32_t offset) {
  NodeId at = tree.root();
  for (NodeId c = tree.first_child(at); c != kNone;) {
    const bool around = tree[c].begin <= offset && offset < tree[c].end;
    if (around) at = c;
    c = around ? tree.first_child(c) : tree.next_sibling(c);
  }
  return at;
}

// Whether the CR at the offset, which no LF follows, ends a line of code to Python: it does not within a string or brackets, nor
// on a line that is blank without it.
bool ends_code(const CodeView& target, std::uint32_t offset) {
  const Tree& tree = *target.tree;
  const std::string_view bytes = target.source->bytes();
  const std::size_t begin = bytes.substr(0, offset).rfind('\n') + 1;  // npos + 1: the file's first line
  const auto blank = [](std::string_view part) { return part.find_first_not_of(" \t\f\r") == std::string_view::npos; };
  const std::string_view behind = bytes.substr(offset, bytes.find('\n', offset) - offset);
  if (blank(bytes.substr(begin, offset - begin)) || blank(behind)) return false;
  const NodeId around = node_around(tree, offset);
  if (tree.is(around, kinds().comment)) return true;
  for (NodeId id = around; id != kNone; id = tree[id].parent) {
    if (tree.is(id, kinds().string)) return false;
  }
  NodeId next = around;
  while (next < tree.size() && tree[next].begin < offset) ++next;
  return next == tree.size() || !in_brackets(target, next);
}

// Python ends a line at a CR alone, and the grammar does not: what stands behind it is another statement, or no comment.
std::optional<Error> lone_cr(const ParsedFile& file) {
  const std::string& bytes = file.source->bytes();
  for (std::size_t at = bytes.find('\r'); at != std::string::npos; at = bytes.find('\r', at + 1)) {
    const auto offset = static_cast<std::uint32_t>(at);
    if (bytes.compare(at, 2, "\r\n") == 0 || !ends_code(file.target(), offset)) continue;
    return Error{Exit::refused, "a line ends in CR alone, which the parser does not take for a line end",
                 file.source->locate({offset, offset + 1}), "nothing of the file was matched"};
  }
  return std::nullopt;
}

// What the parser reads into other statements than Python, wherever it stands in the file.
std::optional<Error> misread(const ParsedFile& file) {
  for (const auto check : {too_far_right, begins_with_backslash, lone_cr}) {
    if (auto problem = check(file)) return problem;
  }
  return std::nullopt;
}

}  // namespace

Location ParsedFile::first_error() const {
  for (NodeId id = 0; id < tree.size(); ++id) {
    if (tree[id].error || tree[id].missing) return source->locate(tree.range(id));
  }
  Location nowhere;
  nowhere.file = source->name();
  return nowhere;
}

std::shared_ptr<const ParsedFile> parse_file(const std::string& path, std::string_view bytes) {
  return parse_parts(path, bytes, {});
}

std::shared_ptr<const ParsedFile> parse_parts(const std::string& path, std::string_view bytes,
                                              const std::vector<Range>& parts) {
  auto file = std::make_shared<ParsedFile>();
  file->source = std::make_unique<const Source>(path, std::string(bytes));
  file->problem = encoding_problem(*file->source);
  if (!file->problem) file->problem = nul_problem(*file->source);
  if (file->problem) return file;
  const std::string encoding = declared_encoding(bytes);
  if (!encoding.empty() && encoding_kind(encoding) != EncodingKind::utf8) file->encoding = encoding;
  auto tree = file->ascii_only()
                  ? parse_python(Source(path, ascii_view(bytes, encoding_kind(encoding)).text), {}, parts)
                  : parse_python(*file->source, {}, parts);
  if (tree) {
    file->tree = std::move(*tree);
    if (parts.empty()) file->problem = misread(*file);
  } else {
    file->problem = tree.error();
  }
  return file;
}

std::shared_ptr<const ParsedFile> ParseCache::get(const std::string& path, const std::string& bytes,
                                                  const std::string& sha256) {
  auto& slot = by_key_[path + "\n" + sha256];
  if (!slot) slot = parse_file(path, bytes);
  return slot;
}

}  // namespace suture
