// What a call of plan() is: of an attention wrapper, of something else, or not told; which parameter each argument is for; and whether it
// plans the KV cache as the model's dtype.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/audit.h"
#include "engine/signature.h"
#include "read/wrapper_table.h"

namespace suture {

// Signatures of the wrappers' planning method, by class, and where they come from.
struct WrapperSignatures {
  std::map<std::string, Signature> by_class;
  std::string source;  // "flashinfer-python 0.7.2 (/venv/.../flashinfer)", "suture's table for flashinfer-python 0.7.2"
  bool installed = false;  // read from the package
};

// suture's own, for a version; without one: for the newest.
WrapperSignatures tabled_signatures(const WrapperTable& table, const std::optional<Version>& version);
// Of the class in a file of the package; nullopt: it defines none of the methods.
std::optional<Signature> method_of_class(const std::string& path, const std::string& bytes, const std::string& name,
                                         const std::vector<std::string>& methods);

struct PlanSite {
  enum class Kind { wrapper, other, unknown };
  Kind kind = Kind::unknown;
  std::string type;               // the class (of `other`: whatever is known of it)
  std::string evidence;           // why, in words
  std::string misfit;             // the call would raise: why
  std::string kv_dtype, q_dtype;  // what they come from; empty: not passed
  bool kv_as_model = false;       // the KV cache is planned as the dtype of the model
};
std::string_view plan_kind_name(PlanSite::Kind kind);

// Names the parameters of the site's arguments where the wrapper is known.
PlanSite read_plan(AuditSite& site, const WrapperTable& table, const WrapperSignatures& signatures);

}  // namespace suture
