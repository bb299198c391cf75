// suture explain: one patch in words. Reads no tree.
#include "shell/session.h"

namespace suture {
namespace {

Report run(const Session& session) {
  Report report;
  Result<Catalog> catalog = session.open_catalog();
  if (!catalog) return report.fail(catalog.error()), report;
  Result<std::vector<const Patch*>> patches = choose(*catalog, session.options().names);
  if (!patches) return report.fail(patches.error()), report;
  for (const Patch* patch : *patches) {
    report.catalog.push_back(*patch);
    report.out += explain_text(*patch);
  }
  return report;
}

}  // namespace

Command explain_command() {
  return {
      .name = "explain",
      .summary = "one patch in words: what it edits, what it needs, when it helps; needs no tree",
      .details = "",
      .positionals = {"PATCH", 1, 1},
      .trees = Command::Trees::none,
      .options = {},
      .run = run,
  };
}

}  // namespace suture
