#include "engine/parsed_file.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

#include "base/text.h"

namespace suture {
namespace {

// The encoding that a PEP 263 cookie in the first two lines names, lower case with '-'; empty without one.
std::string declared_encoding(const std::string& bytes) {
  std::size_t begin = 0;
  for (int line = 0; line < 2 && begin < bytes.size(); ++line) {
    const std::size_t end = std::min(bytes.find('\n', begin), bytes.size());
    const std::string_view text = std::string_view(bytes).substr(begin, end - begin);
    const auto comment = text.find_first_not_of(" \t\f");
    const auto coding = text.find("coding");
    if (comment != std::string_view::npos && text[comment] == '#' && coding != std::string_view::npos) {
      std::size_t at = coding + 6;
      if (at < text.size() && (text[at] == ':' || text[at] == '=')) {
        ++at;
        while (at < text.size() && (text[at] == ' ' || text[at] == '\t')) ++at;
        std::string name;
        for (; at < text.size() && (std::isalnum(static_cast<unsigned char>(text[at])) != 0 || text[at] == '-' ||
                                    text[at] == '_' || text[at] == '.');
             ++at) {
          name += text[at] == '_' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(text[at])));
        }
        return name;
      }
    }
    begin = end + 1;
  }
  return "";
}

// Encodings in which each byte is a character and the lower half is ASCII.
bool is_single_byte(const std::string& encoding) {
  static constexpr std::array<std::string_view, 7> kPrefixes = {"latin-1", "latin1",      "iso-8859-", "iso8859-",
                                                                "cp125",   "windows-125", "koi8-"};
  return std::any_of(kPrefixes.begin(), kPrefixes.end(),
                     [&](std::string_view p) { return encoding.compare(0, p.size(), p) == 0; });
}

Error not_python(const Source& source, std::optional<std::size_t> at, std::string message, std::string hint) {
  Location where;
  where.file = source.name();
  if (at) {
    const auto offset = static_cast<std::uint32_t>(*at);
    where = source.locate({offset, offset + 1});
  }
  return Error{Exit::refused, std::move(message), std::move(where), std::move(hint)};
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

std::shared_ptr<const ParsedFile> parse_file(const std::string& path, const std::string& bytes) {
  auto file = std::make_shared<ParsedFile>();
  std::string readable = bytes;
  const std::optional<std::size_t> bad = first_bad_utf8(bytes);
  const std::string encoding = declared_encoding(bytes);
  if (bad && is_single_byte(encoding)) {
    file->ascii_only = true;
    for (char& c : readable) {
      if (static_cast<unsigned char>(c) > 127) c = 'x';
    }
  }
  file->source = std::make_unique<const Source>(path, std::move(readable));
  if (bad && !file->ascii_only) {
    file->problem =
        encoding.empty() || encoding == "utf-8" || encoding == "utf8"
            ? not_python(*file->source, bad, "the file is not UTF-8, and says no other encoding",
                         "Python would not import it; reinstall the package")
            : not_python(*file->source, bad, "the file is in the encoding " + encoding + ", which suture does not read",
                         "UTF-8 and single-byte encodings are read");
    return file;
  }
  auto tree = parse_python(*file->source);
  if (tree) {
    file->tree = std::move(*tree);
  } else {
    file->problem = tree.error();
  }
  return file;
}

std::shared_ptr<const ParsedFile> ParseCache::get(const std::string& path, const FileState& file) {
  auto& slot = by_key_[path + "\n" + file.sha256];
  if (!slot) slot = parse_file(path, *file.bytes);
  return slot;
}

}  // namespace suture
