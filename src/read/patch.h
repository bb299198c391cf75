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
// - `package` is installed (another one: beside the tree, or where --with says), its version is in `versions`;
// - `file` is there: the first candidate that is (with `in`: the first that defines it); a glob is all files that it names. Or
//   `class` is defined at the top level of some file of the package, wherever that is;
// - within `in` (else the class, else the file) a match of `match`+`where`+`has`+`not_has` exists, or without `match` one of each
//   `has` and none of `not_has`; `literal` is a substring of the class or file;
// - no match of any not_match and no not_literal is there; `where` narrows `match` alone.
// Several files (a glob; a class that is defined twice): what must be there is in at least one of them, what must not be there
// in none. Where nothing was searched nothing is proved: a condition on a package, file, class or scope that is missing does
// not hold, not even one of not_ forms alone. So `requires` is blocked by it, and `superseded` is not met.
struct Condition {
  std::optional<Text> package;  // a distribution name; absent: the patched package itself
  std::optional<Text> folder;   // its import folder, where that is not the name and no metadata may say so
  std::optional<Text> versions;
  std::vector<Text> file;          // candidates; relative to that package's folder
  std::optional<Text> class_name;  // `class`; never beside `file`
  std::vector<Text> in;            // with `class`: parts of that class, named from the module on
  Narrowing narrow;                // match, where, has, not_has
  std::vector<Text> not_match;
  std::optional<Text> literal, not_literal;
  std::string note;       // the fact that holds, in words
  std::string otherwise;  // of `requires`: what happens to who applies the patch all the same
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
  std::vector<std::string> assumes;  // what must hold and no file can tell: sentences for a person
  std::vector<Example> examples;     // of the whole patch
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
