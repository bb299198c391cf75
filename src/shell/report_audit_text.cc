// suture audit, for people.
#include <algorithm>

#include "base/text.h"
#include "shell/audit_report.h"
#include "shell/words.h"

namespace suture {
namespace {

std::string painted(const std::string& text, const char* colour, Style style) {
  return style.color ? std::string("\x1b[") + colour + "m" + text + "\x1b[0m" : text;
}

std::string arguments_of(const AuditSite& site) {
  std::vector<std::string> all;
  for (const AuditArgument& argument : site.arguments) {
    const std::string& name = argument.keyword.empty() ? argument.parameter : argument.keyword;
    all.push_back(name.empty() ? argument.text : name + "=" + argument.text);
  }
  return join(all, ", ");
}

// "BatchMLAPagedAttentionWrapper: wrapper.plan(qo_indptr=q_indptr, ...)"
std::string described(const ReportedSite& reported) {
  const AuditSite& site = reported.site;
  if (!reported.plan) return site.text;
  const std::string call = site.callee + "(" + arguments_of(site) + ")";
  switch (reported.plan->kind) {
    case PlanSite::Kind::wrapper:
      return reported.plan->type + ": " + call;
    case PlanSite::Kind::other:
      return "other (" + reported.plan->type + "): " + call;
    case PlanSite::Kind::unknown:
      return "names not resolved, " + reported.plan->evidence + ": " + call;
  }
  return call;
}

struct Row {
  std::string place, kind, scope;
  const ReportedSite* site;
};

std::string lines_of(const Row& row, std::size_t place, std::size_t kind, std::size_t scope, Style style) {
  const std::string indent(place + 4, ' ');
  const std::size_t left = 2 + place + 2 + kind + 2 + scope + 2;
  std::string what = printable(described(*row.site));
  // On a terminal a line is a line; --json has all of it.
  if (style.width > left + 20) what = one_line(what, style.width - left);
  std::string text =
      "  " + pad(row.place, place + 2) + pad(row.kind, kind + 2) + pad(row.scope, scope + 2) + what + "\n";
  if (row.site->site.broken) text += indent + "a syntax error overlaps this\n";
  for (const AuditRemark& remark : row.site->remarks) {
    const bool error = remark.kind == AuditRemark::Kind::misfit;
    text += indent + painted(error ? "error" : "waste", error ? "31" : "33", style) + ": " + remark.message + "\n";
  }
  for (const SitePatch& patch : row.site->patches)
    text += indent + "removed by " + patch.patch + ", which is " + patch.verdict + " here\n";
  return text;
}

std::string file_lines(const std::string& shown, const std::vector<const ReportedSite*>& sites, Style style) {
  std::vector<Row> rows;
  std::size_t place = 0, kind = 0, scope = 0;
  for (const ReportedSite* each : sites) {
    const AuditSite& site = each->site;
    Row row{std::to_string(site.line) + ":" + std::to_string(site.column),
            each->audit.kind + (each->audit.possible ? "?" : ""), printable(site.scope), each};
    place = std::max(place, row.place.size());
    kind = std::max(kind, row.kind.size());
    scope = std::max(scope, count_characters(row.scope));
    rows.push_back(std::move(row));
  }
  std::string text = painted(printable(shown), "1", style) + "\n";
  for (const Row& row : rows) text += lines_of(row, place, kind, scope, style);
  return text;
}

std::string megabytes(std::uint64_t bytes) {
  const std::uint64_t tenths = (bytes + 50'000) / 100'000;
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " MB";
}

}  // namespace

std::string_view remark_kind_name(AuditRemark::Kind kind) {
  return kind == AuditRemark::Kind::waste ? "waste" : "misfit";
}

std::string audit_text(const AuditReport& report, Style style) {
  std::string text;
  for (std::size_t i = 0; i < report.sites.size();) {
    const std::string& path = report.sites[i].path;
    std::vector<const ReportedSite*> sites;
    for (; i < report.sites.size() && report.sites[i].path == path; ++i) sites.push_back(&report.sites[i]);
    text += (text.empty() ? "" : "\n") + file_lines(report.folder + "/" + path, sites, style);
  }
  return text;
}

std::string audit_totals(const AuditReport& report) {
  std::string text;
  if (!report.signatures.empty()) text += "note: parameter names are those of " + report.signatures + "\n";
  std::vector<std::string> kinds;
  for (const auto& [kind, count] : report.by_kind) kinds.push_back(std::to_string(count) + " " + kind);
  text += count_of(report.files_read, "file", "files") + " read (" + megabytes(report.bytes_read) + "), " +
          std::to_string(report.files_parsed) + " parsed (" + megabytes(report.bytes_parsed) + "), " +
          std::to_string(report.problems.size()) + " unreadable; " + (kinds.empty() ? "no site" : join(kinds, ", ")) +
          "; " + std::to_string(report.time.count()) + " ms\n";
  return text;
}

}  // namespace suture
