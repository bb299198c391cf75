// suture list: the patches there are. Reads no tree.
#include "shell/session.h"

namespace suture {
namespace {

Report run(const Session& session) {
  Report report;
  Result<Catalog> catalog = session.open_catalog();
  if (!catalog) return report.fail(catalog.error()), report;
  report.catalog = catalog->patches;
  report.out = list_lines(report.catalog);
  return report;
}

}  // namespace

Command list_command() {
  return {
      .name = "list",
      .summary = "the patches there are: package, versions, what they do; needs no tree",
      .details = "",
      .positionals = {},
      .trees = Command::Trees::none,
      .options = {},
      .run = run,
  };
}

}  // namespace suture
