// A file of the tree, parsed once. Python source that is not UTF-8 but says so (PEP 263) in a single-byte encoding is parsed
// with each byte over 127 read as a letter: offsets stay, and only the bytes of edits are ever written.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

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
  bool ascii_only = false;       // single-byte encoding: only ASCII may be inserted
  [[nodiscard]] CodeView target() const { return {source.get(), &tree}; }
  // The first syntax error that the parser shows; a Location of line 0 where it shows none.
  [[nodiscard]] Location first_error() const;
};

std::shared_ptr<const ParsedFile> parse_file(const std::string& path, const std::string& bytes);

// Parses each content once, whatever state it is seen in.
class ParseCache {
 public:
  std::shared_ptr<const ParsedFile> get(const std::string& path, const FileState& file);

 private:
  std::map<std::string, std::shared_ptr<const ParsedFile>> by_key_;  // path + sha256
};

}  // namespace suture
