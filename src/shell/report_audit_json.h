// The part of a --json document that `suture audit` fills: "audit" of a tree.
#pragma once

#include <nlohmann/json.hpp>

#include "shell/audit_report.h"

namespace suture {

nlohmann::ordered_json audit_json(const AuditReport& report);
// Of report_json.cc.
nlohmann::ordered_json error_json(const Error& error);

}  // namespace suture
