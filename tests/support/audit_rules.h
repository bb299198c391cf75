// Audit rules for tests, compiled from the text of a rule file.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/audit.h"
#include "read/catalog.h"

namespace suture {

// The rules live as long as what is compiled of them.
struct CompiledAudit {
  std::vector<Rule> rules;
  std::optional<AuditRules> audit;

  explicit CompiledAudit(const std::string& yaml) {
    auto read = read_rules(std::make_shared<const Source>("rules.yaml", yaml));
    EXPECT_TRUE(read.ok()) << (read.ok() ? "" : to_text(read.error()));
    rules = std::move(*read);
    std::vector<const Rule*> pointers;
    for (const Rule& rule : rules) pointers.push_back(&rule);
    auto compiled = AuditRules::compile(pointers);
    EXPECT_TRUE(compiled.ok()) << (compiled.ok() ? "" : to_text(compiled.error()));
    audit = std::move(*compiled);
  }
  // The sites of a file as `told(site)` has them; both depths must agree.
  template <class Told>
  std::vector<std::string> sites(const std::string& code, Told told) const {
    const auto at = [&](AuditDepth depth) {
      std::vector<std::string> out;
      for (const AuditSite& site : audit_file(*audit, "a.py", code, depth).sites) out.push_back(told(site));
      return out;
    };
    std::vector<std::string> some = at(AuditDepth::excerpts);
    EXPECT_EQ(some, at(AuditDepth::whole)) << code;
    return some;
  }
};

}  // namespace suture
