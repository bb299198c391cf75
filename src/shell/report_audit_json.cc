#include "shell/report_audit_json.h"

#include "shell/report_json.h"

namespace suture {
namespace {

using Json = nlohmann::ordered_json;

Json argument_json(const AuditArgument& argument) {
  Json json = {{"text", argument.text}};
  json["keyword"] = argument.keyword.empty() ? Json() : Json(argument.keyword);
  json["parameter"] = argument.parameter.empty() ? Json() : Json(argument.parameter);
  if (!argument.origin.empty()) json["origin"] = argument.origin;
  return json;
}

Json plan_json(const PlanSite& plan) {
  Json json = {{"kind", plan_kind_name(plan.kind)}};
  json["class"] = plan.type.empty() ? Json() : Json(plan.type);
  json["evidence"] = plan.evidence;
  json["q_dtype"] = plan.q_dtype.empty() ? Json() : Json(plan.q_dtype);
  json["kv_dtype"] = plan.kv_dtype.empty() ? Json() : Json(plan.kv_dtype);
  json["kv_as_model"] = plan.kv_as_model;
  return json;
}

Json remark_json(const AuditRemark& remark) {
  Json json = {{"kind", remark_kind_name(remark.kind)}, {"message", remark.message}};
  json["related"] = Json::array();
  for (const auto& [path, line] : remark.related) json["related"].push_back({{"path", path}, {"line", line}});
  return json;
}

Json site_json(const ReportedSite& reported) {
  const AuditSite& site = reported.site;
  Json json = {{"path", reported.path},
               {"line", site.line},
               {"column", site.column},
               {"byte_column", site.byte_column},
               {"end_line", site.end_line},
               {"end_column", site.end_column},
               {"kind", reported.audit.kind},
               {"rule", reported.rule},
               {"level", level_name(reported.audit.level)},
               {"possible", reported.audit.possible},
               {"message", reported.audit.message},
               {"scope", site.scope},
               {"text", site.text}};
  json["callee"] = site.callee.empty() ? Json() : Json(site.callee);
  json["receiver"] = site.object.empty() ? Json() : Json(site.object);
  json["arguments"] = Json::array();
  for (const AuditArgument& argument : site.arguments) json["arguments"].push_back(argument_json(argument));
  json["broken"] = site.broken;
  if (reported.plan) json["plan"] = plan_json(*reported.plan);
  json["patches"] = Json::array();
  for (const SitePatch& patch : reported.patches)
    json["patches"].push_back({{"patch", patch.patch}, {"rule", patch.rule}, {"verdict", patch.verdict}});
  json["remarks"] = Json::array();
  for (const AuditRemark& remark : reported.remarks) json["remarks"].push_back(remark_json(remark));
  return json;
}

}  // namespace

Json audit_json(const AuditReport& report) {
  Json json = {{"folder", report.folder}};
  json["sites"] = Json::array();
  for (const ReportedSite& site : report.sites) json["sites"].push_back(site_json(site));
  json["problems"] = Json::array();
  for (const Error& error : report.problems) json["problems"].push_back(error_json(error));
  json["files_read"] = report.files_read;
  json["files_parsed"] = report.files_parsed;
  json["bytes_read"] = report.bytes_read;
  json["bytes_parsed"] = report.bytes_parsed;
  json["kinds"] = Json::object();
  for (const auto& [kind, count] : report.by_kind) json["kinds"][kind] = count;
  json["signatures"] = report.signatures.empty() ? Json() : Json(report.signatures);
  json["milliseconds"] = report.time.count();
  return json;
}

}  // namespace suture
