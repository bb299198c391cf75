// See plan_site.h. Tests: tests/unit/audit_test.cc.
#include "engine/plan_site.h"

#include <algorithm>
#include <utility>

#include "engine/outline.h"
#include "engine/parsed_file.h"
#include "engine/sites.h"

namespace suture {
namespace {

bool is_among(const std::vector<std::string>& list, const std::string& name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

// What only calls of a wrapper pass.
std::string telling_argument(const AuditSite& site, const WrapperTable& table) {
  for (const AuditArgument& argument : site.arguments) {
    if (is_among(table.keywords, argument.keyword)) return argument.keyword;
    if (is_among(table.names, argument.keyword)) return argument.keyword;
    if (!argument.splat && is_among(table.names, argument.text)) return argument.text;
  }
  return "";
}

// The one class whose signature takes the arguments and fits their names best; empty: none, or several.
std::string class_by_arguments(const AuditSite& site, const WrapperSignatures& signatures) {
  std::string best;
  std::size_t most = 0;
  bool unique = false;
  for (const auto& [name, signature] : signatures.by_class) {
    const Bound bound = bind(signature, site.arguments);
    if (!bound.misfit.empty() || bound.clashes > 0) continue;
    std::size_t likeness = bound.likenesses;
    for (const AuditArgument& argument : site.arguments) {
      likeness +=
          static_cast<std::size_t>(std::count_if(signature.parameters.begin(), signature.parameters.end(),
                                                 [&](const Parameter& p) { return p.name == argument.keyword; }));
    }
    unique = likeness > most ? true : unique && likeness < most;
    if (likeness > most) {
      most = likeness;
      best = name;
    }
  }
  return unique ? best : "";
}

std::string described(const Receiver& receiver) {
  return receiver.module.empty() ? receiver.name : receiver.module + "." + receiver.name;
}

void classify(const AuditSite& site, const WrapperTable& table, const WrapperSignatures& signatures, PlanSite& out) {
  const Receiver& receiver = *site.receiver;
  using What = Receiver::Kind;
  out.evidence = receiver.evidence;
  if (receiver.kind == What::type && table.holds_module(receiver.module) && table.find(receiver.name) != nullptr) {
    out.kind = PlanSite::Kind::wrapper;
    out.type = receiver.name;
    return;
  }
  if (receiver.kind != What::unknown) {
    out.kind = PlanSite::Kind::other;
    out.type = described(receiver);
    return;
  }
  const std::string telling = telling_argument(site, table);
  if (telling.empty()) {
    out.evidence = "its class cannot be told";
    return;
  }
  out.type = class_by_arguments(site, signatures);
  out.evidence = "it passes " + telling;
  if (out.type.empty()) return;
  out.kind = PlanSite::Kind::wrapper;
  out.evidence += ", and its arguments fit no other class";
}

const AuditArgument* argument_for(const AuditSite& site, const std::vector<std::string>& parameters) {
  for (const AuditArgument& argument : site.arguments) {
    if (is_among(parameters, argument.parameter)) return &argument;
  }
  return nullptr;
}

std::string origin(const AuditArgument& argument) {
  return argument.origin.empty() ? argument.text : argument.origin;
}

void read_dtypes(const AuditSite& site, const WrapperTable& table, PlanSite& out) {
  const AuditArgument* kv = argument_for(site, table.kv_dtype);
  const AuditArgument* q = argument_for(site, table.q_dtype);
  if (q != nullptr) out.q_dtype = origin(*q);
  if (kv == nullptr) return;
  out.kv_dtype = origin(*kv);
  out.kv_as_model = q != nullptr && out.kv_dtype == out.q_dtype;
}

}  // namespace

std::string_view plan_kind_name(PlanSite::Kind kind) {
  switch (kind) {
    case PlanSite::Kind::wrapper:
      return "wrapper";
    case PlanSite::Kind::other:
      return "other";
    case PlanSite::Kind::unknown:
      return "unknown";
  }
  return "?";
}

WrapperSignatures tabled_signatures(const WrapperTable& table, const std::optional<Version>& version) {
  WrapperSignatures out;
  for (const WrapperTable::Class& each : table.classes) {
    for (const WrapperTable::Entry& entry : each.table) {
      const auto range = parse_specifiers(entry.versions);
      if (version && !(range && range->contains(*version))) continue;
      std::optional<Signature> signature = read_signature(entry.parameters);
      if (!signature) continue;
      signature->type = each.name;
      out.by_class.insert_or_assign(each.name, std::move(*signature));
    }
  }
  return out;
}

std::optional<Signature> method_of_class(const std::string& path, const std::string& bytes, const std::string& name,
                                         const std::vector<std::string>& methods) {
  std::vector<Hit> hits;
  for (const std::string& method : methods) {
    const std::string text = "def " + method;
    for (std::size_t at = bytes.find(text); at != std::string::npos; at = bytes.find(text, at + 1))
      hits.push_back({static_cast<std::uint32_t>(at), 0});
  }
  std::sort(hits.begin(), hits.end(), [](const Hit& a, const Hit& b) { return a.at < b.at; });
  const Outline outline = outline_of(bytes, hits);
  std::vector<Excerpt> excerpts;
  for (const Hit& hit : hits) excerpts.push_back(excerpt_around(outline, hit.at));
  if (excerpts.empty()) return std::nullopt;
  const auto file = parse_parts(path, bytes, outline.sure ? ranges_of(excerpts) : std::vector<Range>());
  if (file->problem) return std::nullopt;
  std::optional<Signature> out;
  for (const std::string& method : methods) {
    for (const NodeId scope : find_scopes(file->target(), {name + "." + method})) {
      out = signature_of(file->target(), scope, true);
      out->type = name;
    }
    if (out) break;
  }
  return out;
}

PlanSite read_plan(AuditSite& site, const WrapperTable& table, const WrapperSignatures& signatures) {
  PlanSite out;
  classify(site, table, signatures, out);
  const auto signature = signatures.by_class.find(out.type);
  if (out.kind != PlanSite::Kind::wrapper || signature == signatures.by_class.end()) return out;
  const Bound bound = bind(signature->second, site.arguments);
  for (std::size_t i = 0; i < site.arguments.size(); ++i) site.arguments[i].parameter = bound.names[i];
  if (site.replaced.empty()) out.misfit = bound.misfit;  // else another function may be what is called
  read_dtypes(site, table, out);
  return out;
}

}  // namespace suture
