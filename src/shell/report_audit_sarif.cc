// suture audit as SARIF 2.1.0 (OASIS), for pages that show the results of code scanning. One rule a kind of site, and one for each
// kind of remark.
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "shell/audit_report.h"

namespace suture {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kBase = "PACKAGE";  // the folder that holds the package's

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
         c == '_' || c == '~' || c == '/';
}

// RFC 3986
std::string as_uri(const std::string& path) {
  std::string out;
  for (const char c : path) {
    if (is_plain(c)) {
      out += c;
    } else {
      constexpr const char* kDigits = "0123456789ABCDEF";
      const auto byte = static_cast<unsigned char>(c);
      out += {'%', kDigits[byte >> 4U], kDigits[byte & 15U]};
    }
  }
  return out;
}

Json artifact(const AuditReport& report, const std::string& path) {
  return {{"uri", as_uri(report.folder + "/" + path)}, {"uriBaseId", kBase}};
}

Json location(const AuditReport& report, const ReportedSite& reported) {
  const AuditSite& site = reported.site;
  const Json region = {{"startLine", site.line},
                       {"startColumn", site.column},
                       {"endLine", site.end_line},
                       {"endColumn", site.end_column},
                       {"snippet", {{"text", site.text}}}};
  return {{"physicalLocation", {{"artifactLocation", artifact(report, reported.path)}, {"region", region}}},
          {"logicalLocations", Json::array({{{"fullyQualifiedName", site.scope}}})}};
}

class Writer {
 public:
  explicit Writer(const AuditReport& report) : report_(report) {}

  std::string write() {
    for (const ReportedSite& site : report_.sites) add(site);
    Json notes = Json::array();
    for (const Error& problem : report_.problems) notes.push_back(notification(problem));
    const Json driver = {{"name", "suture"}, {"version", SUTURE_VERSION}, {"rules", rules_}};
    const Json invocation = {{"executionSuccessful", report_.problems.empty()},
                             {"toolExecutionNotifications", std::move(notes)}};
    const Json run = {{"tool", {{"driver", driver}}},
                      {"invocations", Json::array({invocation})},
                      {"columnKind", "unicodeCodePoints"},
                      {"results", results_}};
    const Json document = {{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
                           {"version", "2.1.0"},
                           {"runs", Json::array({run})}};
    return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
  }

 private:
  void add(const ReportedSite& site) {
    std::string message = site.audit.message;
    if (site.plan) message = words(*site.plan);
    for (const SitePatch& patch : site.patches)
      message += ". " + patch.patch + " removes it, and is " + patch.verdict + " here";
    put(site.audit.kind, std::string(level_name(site.audit.level)), site.audit.message, message, site, {});
    for (const AuditRemark& remark : site.remarks) {
      const bool misfit = remark.kind == AuditRemark::Kind::misfit;
      const std::string summary = misfit ? "A call whose arguments the callee does not take"
                                         : "A KV cache that is planned as the model's dtype, and cast for it";
      put(std::string(remark_kind_name(remark.kind)), misfit ? "error" : "warning", summary, remark.message, site,
          remark.related);
    }
  }
  static std::string words(const PlanSite& plan) {
    if (plan.kind == PlanSite::Kind::wrapper) return "A plan of " + plan.type + " (" + plan.evidence + ")";
    if (plan.kind == PlanSite::Kind::other) return "A call of that name, of " + plan.type;
    return "A call of that name; " + plan.evidence;
  }

  void put(const std::string& id, const std::string& level, const std::string& summary, const std::string& message,
           const ReportedSite& site, const std::vector<std::pair<std::string, std::uint32_t>>& related) {
    const auto [known, fresh] = index_.emplace(id, rules_.size());
    if (fresh) {
      rules_.push_back(
          {{"id", id}, {"shortDescription", {{"text", summary}}}, {"defaultConfiguration", {{"level", level}}}});
    }
    Json result = {{"ruleId", id},
                   {"ruleIndex", known->second},
                   {"level", level},
                   {"message", {{"text", message}}},
                   {"locations", Json::array({location(report_, site)})}};
    if (!related.empty()) {
      result["relatedLocations"] = Json::array();
      for (const auto& [path, line] : related) {
        result["relatedLocations"].push_back(
            {{"physicalLocation", {{"artifactLocation", artifact(report_, path)}, {"region", {{"startLine", line}}}}}});
      }
    }
    results_.push_back(std::move(result));
  }

  Json notification(const Error& problem) const {
    Json json = {{"level", "error"}, {"message", {{"text", problem.message}}}};
    if (!problem.where) return json;
    Json place = {{"artifactLocation", artifact(report_, problem.where->file)}};
    if (problem.where->line > 0)
      place["region"] = {{"startLine", problem.where->line}, {"startColumn", problem.where->column}};
    json["locations"] = Json::array({{{"physicalLocation", std::move(place)}}});
    return json;
  }

  const AuditReport& report_;
  std::map<std::string, std::size_t> index_;
  Json rules_ = Json::array(), results_ = Json::array();
};

}  // namespace

std::string audit_sarif(const AuditReport& report) {
  return Writer(report).write();
}

}  // namespace suture
