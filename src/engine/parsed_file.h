// A file of the tree, parsed once. Python source that says (PEP 263) that it is in another encoding than UTF-8 is parsed with
// each byte of a character outside ASCII read as a letter: offsets stay, the source keeps its bytes, and what is inserted must
// be ASCII. Encodings of which this cannot be said (UTF-16, UTF-7, ISO-2022) are refused, and so is a NUL byte, which no
// Python imports.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/source.h"
#include "engine/match.h"
#include "engine/state.h"
#include "read/syntax.h"

namespace suture {

struct ParsedFile {
  std::unique_ptr<const Source> source;
  Tree tree;
  std::optional<Error> problem;  // not readable as Python source; then there is no tree
  std::string encoding;          // that the file declares, where it is not UTF-8: only ASCII may be inserted
  [[nodiscard]] bool ascii_only() const { return !encoding.empty(); }
  [[nodiscard]] CodeView target() const { return {source.get(), &tree}; }
  // The first syntax error that the parser shows; a Location of line 0 where it shows none.
  [[nodiscard]] Location first_error() const;
};

std::shared_ptr<const ParsedFile> parse_file(const std::string& path, std::string_view bytes);
// Parts of it (parse_python), of a file that an outline is sure of: what else is looked for in a whole file is not there.
std::shared_ptr<const ParsedFile> parse_parts(const std::string& path, std::string_view bytes,
                                              const std::vector<Range>& parts);

// Parses each content once, whatever state it is seen in.
class ParseCache {
 public:
  std::shared_ptr<const ParsedFile> get(const std::string& path, const FileState& file) {
    return get(path, *file.bytes, file.sha256);
  }
  std::shared_ptr<const ParsedFile> get(const std::string& path, const std::string& bytes, const std::string& sha256);

 private:
  std::map<std::string, std::shared_ptr<const ParsedFile>> by_key_;  // path + sha256
};

}  // namespace suture
