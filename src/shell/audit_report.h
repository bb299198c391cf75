// What `suture audit` found in one tree, as a value; printed as text, JSON and SARIF.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "effects/audit_tree.h"
#include "engine/plan_site.h"
#include "shell/report_text.h"

namespace suture {

// A cast site that a patch removes, and that patch's verdict in this tree.
struct SitePatch {
  std::string patch, rule, verdict;
};

// What suture says of a site besides that it is there.
struct AuditRemark {
  enum class Kind { waste, misfit } kind = Kind::waste;
  std::string message;
  std::vector<std::pair<std::string, std::uint32_t>> related;  // path and line
};
std::string_view remark_kind_name(AuditRemark::Kind kind);

struct ReportedSite {
  std::string path;  // relative to the package folder
  AuditSite site;
  std::string rule;
  Audit audit;
  std::optional<PlanSite> plan;
  std::vector<SitePatch> patches;
  std::vector<AuditRemark> remarks;
};

struct AuditReport {
  std::string folder;  // the package's, as paths begin
  std::vector<ReportedSite> sites;
  std::vector<Error> problems;  // of files: not read, or not to the end
  std::size_t files_read = 0, files_parsed = 0;
  std::uint64_t bytes_read = 0, bytes_parsed = 0;
  std::vector<std::pair<std::string, std::size_t>> by_kind;
  std::string signatures;  // where parameter names come from; empty: none were needed
  std::chrono::milliseconds time{0};
};

// Grouped by file, a line a site, aligned.
std::string audit_text(const AuditReport& report, Style style);
// The last line: files, sites by kind, time.
std::string audit_totals(const AuditReport& report);
// SARIF 2.1.0: one rule a kind.
std::string audit_sarif(const AuditReport& report);

}  // namespace suture
