// A patch as a value: patch.yaml and the files that it adds.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/source.h"
#include "read/rule.h"

namespace suture {

// `requires:` and `superseded:` entries. A condition holds when everything that it names holds:
// the package's version is in `versions`; in `file` (first existing candidate), within `in`, a match of
// `match`+`where`+`has` exists and none of the `not_` forms does; `literal` is a substring of the file.
struct Condition {
  std::optional<Text> package;  // a distribution name; absent: the patched package itself
  std::optional<Text> versions;
  std::vector<Text> file;  // candidates; relative to that package's folder
  std::vector<Text> in;
  Narrowing narrow;
  std::optional<Text> not_match, literal, not_literal;
  std::string note;  // what to say when it does not hold
  Range at;
};

struct AddedFile {
  Text path;  // relative to the package folder; no "..", not absolute
  Text from;  // relative to the patch's folder, else to the folder `shared` beside it (for files of several patches)
  std::string bytes;
  std::string file;  // what diagnostics call the file of the patch's folder
};

struct Patch {
  std::string name, summary, note;
  Range at;                      // of the name, for diagnostics
  Text package;                  // the distribution's name, PEP 503 normalised on reading
  std::optional<Text> folder;    // import folder where it differs from the name
  std::optional<Text> versions;  // PEP 440 specifier set
  std::vector<Text> conflicts;   // patch names; may name patches that are not there
  std::optional<int> recommend;  // lower is better
  std::vector<AddedFile> adds;
  std::vector<Text> rule_ids;
  std::vector<Rule> rules;       // resolved by the catalog, in order
  std::vector<Condition> needs;  // `requires:`
  std::vector<Condition> superseded;
  std::vector<Example> examples;  // of the whole patch
  std::shared_ptr<const Source> source;
  std::string page;  // README.md of the patch's folder; may be empty

  // SHA-256 over what the patch DOES: its rules and added files; not notes, summaries, `ok` texts, examples.
  // Filled by the catalog when the rules are resolved.
  std::string edition;

  [[nodiscard]] std::string import_folder() const;  // folder, else the name with "-" as "_"
};

// Reads one patch.yaml. `adds` have no bytes and `rules` are not resolved yet.
Result<Patch> read_patch(std::shared_ptr<const Source> yaml);
Error patch_error(const Patch& patch, Range at, std::string message, std::string hint = "");

}  // namespace suture
