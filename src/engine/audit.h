// The sites of audit rules in one file. Pure: bytes in, sites out.
//
// A file is parsed only where its text holds what some rule needs (engine/prefilter.h), and of it only the definitions that
// hold it (engine/outline.h).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "engine/compiled_rule.h"
#include "engine/prefilter.h"
#include "engine/receiver.h"

namespace suture {

// An argument of a site that is a call.
struct AuditArgument {
  std::string keyword;    // as it is passed; empty: by position
  std::string parameter;  // the name of the parameter that it is for; empty: not known
  std::string text;       // the code, on one line
  std::string origin;     // of a dtype: the code that it comes from in the end; empty: the same
  bool splat = false;     // *x, **x
};

struct AuditSite {
  std::size_t rule = 0;  // index into AuditRules::rules
  Range range;
  std::uint32_t line = 0, column = 0, end_line = 0, end_column = 0;  // 1-based, in characters; end_column is behind it
  std::uint32_t byte_column = 0;                                     // 0-based
  std::string scope;                                                 // "Class.function"; "<module>"
  std::string text;                                                  // the code, on one line, cut
  std::string callee, object;  // of a call: `a.b.plan`, and `a.b`, which is empty for a bare name
  std::vector<AuditArgument> arguments;
  bool broken = false;               // a syntax error overlaps it
  std::optional<Receiver> receiver;  // of a `plan`
  Replacements replaced;             // of a `plan`: what the file puts in the method's place
  std::vector<std::string> calls;    // of a `cast`: methods that the function around it calls
};

// Rules, compiled, and what can be told of them before a file is read.
class AuditRules {
 public:
  // Error (bad_rule): the first that does not compile. The rules outlive this.
  static Result<AuditRules> compile(const std::vector<const Rule*>& rules);

  [[nodiscard]] const std::vector<CompiledRule>& compiled() const { return rules_; }
  [[nodiscard]] const Audit& audit(std::size_t rule) const { return *rules_[rule].rule->audit; }
  [[nodiscard]] const Prefilter& prefilter() const { return *prefilter_; }
  // The most that is parsed of one file.
  static constexpr std::uint32_t kMostBytes = 4U << 20U;

 private:
  std::vector<CompiledRule> rules_;
  std::shared_ptr<const Prefilter> prefilter_;
};

enum class AuditDepth {
  excerpts,  // parse what can hold a site
  whole,     // parse everything: what the tests compare with
};

struct FileAudit {
  bool parsed = false;  // something of it was
  std::uint32_t parsed_bytes = 0;
  std::vector<AuditSite> sites;  // in source order
  std::optional<Error> problem;  // not read to the end: sites may be missing
};

FileAudit audit_file(const AuditRules& rules, const std::string& path, std::string_view bytes,
                     AuditDepth depth = AuditDepth::excerpts);

}  // namespace suture
