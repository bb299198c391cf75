// What a trace says is wasted: casts of a whole pool, gathers that are larger than the pool, copies that change nothing. Each with its
// evidence, and with the patches that take it out.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/plan.h"
#include "engine/trace_table.h"

namespace suture {

// A place in a tree where the code of a finding stands. Whoever finds such places (the patches' own rules: sites_of below; an
// audit) hands them over as this.
struct CodeSite {
  std::string patch, rule;
  std::string path;  // relative to the folder that holds the package
  std::uint32_t line = 0;
  std::string text;
};

// Python functions around one call, the outermost first: "sglang/srt/x.py(27): forward".
struct CallStack {
  std::vector<std::string> frames;
  std::uint64_t calls = 0;  // of those that were looked at
};

struct Finding {
  enum class Kind { whole_pool_cast, oversized_gather, copy_without_change } kind = Kind::whole_pool_cast;
  std::uint32_t op = kNone;    // of TraceTable::ops
  std::uint32_t work = kNone;  // inferred: the kernel that tells it
  bool inferred = false;       // no operator, or none with shapes, was recorded; kernel name and launch shape tell
  RowTimes times;
  std::int64_t slots = 0, columns = 0;  // of the pool; columns 0: not known
  std::int64_t rows = 0;                // gather: rows that it reads
  std::string from, to;                 // types in short; from may be empty
  std::uint64_t in_steps = 0;           // steps that have such calls

  std::vector<CallStack> stacks;
  std::vector<std::string> patches;  // that take it out, the recommended one first
  std::vector<CodeSite> sites;
};
std::string_view finding_name(Finding::Kind kind);  // "whole-pool-cast"

struct FindingOptions {
  std::int64_t threshold = std::int64_t{64} << 20U;  // bytes that a call moves, at least
  std::int64_t columns = 576;  // of a row, where only the number of elements is known and it divides that
};

// The most expensive first.
std::vector<Finding> find_waste(const Trace& trace, const TraceSteps& steps, const TraceTable& table,
                                const FindingOptions& options = {});

// The calls of a finding.
bool is_of(const Finding& finding, const Trace& trace, const TraceTable& table, const GpuCall& call);

// The patches of the catalog that take out what is found, the recommended first.
std::vector<std::string> patches_for(const Finding& finding, const std::vector<Patch>& catalog);
// The sites of a patch's rules in a tree that are about the code of such a finding: those that replace it. `folder`: the package's.
std::vector<CodeSite> sites_of(Finding::Kind kind, const PatchOutcome& outcome, const Patch& patch,
                               const std::string& folder);

}  // namespace suture
