// What a call passes to which parameter, and whether the callee takes it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/audit.h"
#include "engine/code.h"

namespace suture {

struct Parameter {
  std::string name;
  bool required = false;
  bool keyword_only = false;
};

struct Signature {
  std::string type, method;  // type empty: a function
  std::vector<Parameter> parameters;
  bool star = false, double_star = false;  // takes *args, **kwargs
};

// Of a function's definition; `method`: without its first parameter.
Signature signature_of(const CodeView& code, NodeId definition, bool method);
// "a, b=None, *, c" as they stand between a definition's parentheses; nullopt: not that.
std::optional<Signature> read_signature(const std::string& parameters);

struct Bound {
  std::vector<std::string> names;  // for each argument; empty: not told
  std::string misfit;              // why the call would raise, in words; empty: it fits, or that cannot be told
  std::size_t clashes = 0;         // positional arguments whose own name is another parameter's
  std::size_t likenesses = 0;      // positional arguments that are called as their parameter, or as its end
};
Bound bind(const Signature& signature, const std::vector<AuditArgument>& arguments);

}  // namespace suture
