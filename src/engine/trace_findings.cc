// See trace_findings.h. Tests: tests/unit/trace_findings_test.cc, tests/trace/findings_test.py.
#include "engine/trace_findings.h"

#include <algorithm>
#include <array>
#include <set>
#include <variant>

#include "engine/trace_shapes.h"

namespace suture {
namespace {

using Kind = Finding::Kind;

constexpr std::int64_t kFewestSlots = 4096;  // fewer are no pool

// Which patches take out what. The catalog says whether there is such a patch, and which is to be recommended.
constexpr std::array<std::string_view, 3> kPoolPatches = {"sglang-cast-active-slots", "sglang-native-fp8-kv",
                                                          "sglang-gather-then-cast"};

bool is_pool(const Dims& dims, std::int64_t columns) {
  return dims.size() >= 2 && dims[0] >= kFewestSlots && dims[0] > columns;
}

struct Inputs {
  std::vector<Dims> dims, strides;
  std::vector<std::string> types;
};

// aten::copy_(to, from): of one shape, from the first dimension on.
bool copies_alike(const TraceOp& op, const Inputs& in) {
  return op.name == "aten::copy_" && in.dims.size() >= 2 && in.types.size() >= 2 && in.dims[0] == in.dims[1] &&
         !in.dims[0].empty();
}

std::optional<Finding> finding_of_copy(const TraceOp& op, const Inputs& in) {
  if (!copies_alike(op, in)) return std::nullopt;
  Finding finding;
  const std::int64_t elements = elements_of(in.dims[0]);
  finding.slots = in.dims[0][0];
  finding.columns = finding.slots > 0 ? elements / finding.slots : 0;
  finding.from = short_type(in.types[1]);
  finding.to = short_type(in.types[0]);
  if (in.types[0] != in.types[1]) {
    if (!is_float_type(in.types[0]) || !is_float_type(in.types[1]) || !is_pool(in.dims[0], finding.columns))
      return std::nullopt;
    finding.kind = Kind::whole_pool_cast;
    return finding;
  }
  // The same type and the same layout: only a clone would need it.
  if (in.strides.size() < 2 || in.strides[0] != in.strides[1]) return std::nullopt;
  finding.kind = Kind::copy_without_change;
  return finding;
}

// Rows that a gather reads: by the shape of its indices, else by the launch shape of PyTorch's row gather, one block a row.
std::int64_t gathered_rows(const Trace& trace, const TraceTable& table, std::uint32_t op, const Inputs& in) {
  const std::size_t indices = table.ops[op].name == "aten::index_select" ? 2 : 1;
  if (in.dims.size() > indices && !in.dims[indices].empty()) return elements_of(in.dims[indices]);
  std::int64_t rows = 0;
  for (const KernelRow& row : table.kernel_rows) {
    const GpuWork& work = trace.works[row.work];
    if (row.op != op || work.name.find("vectorized_gather_kernel") == std::string::npos) continue;
    const Dims grid = numbers_of(work.grid);
    if (!grid.empty()) rows = std::max(rows, grid[0]);
  }
  return rows;
}

std::optional<Finding> finding_of_gather(const Trace& trace, const TraceTable& table, std::uint32_t op,
                                         const Inputs& in) {
  const TraceOp& it = table.ops[op];
  if (it.name != "aten::index" && it.name != "aten::index_select" && it.name != "aten::embedding") return std::nullopt;
  if (in.dims.empty() || in.dims[0].size() < 2 || in.types.empty()) return std::nullopt;
  Finding finding;
  finding.kind = Kind::oversized_gather;
  finding.slots = in.dims[0][0];
  finding.columns = finding.slots > 0 ? elements_of(in.dims[0]) / finding.slots : 0;
  finding.rows = gathered_rows(trace, table, op, in);
  finding.from = finding.to = short_type(in.types[0]);
  if (!is_pool(in.dims[0], finding.columns) || finding.rows <= finding.slots) return std::nullopt;
  return finding;
}

std::int64_t bytes_of(const Finding& finding, const RowTimes& times, std::string_view type) {
  if (finding.kind != Kind::oversized_gather) return times.bytes;
  const std::int64_t elements = elements_of(Dims{finding.rows, finding.columns});
  return elements < 0 ? 0 : 2 * elements * type_size(type);
}

// The patches are for FP8 pools. Of what is inferred the type is not known.
bool is_fp8(const Finding& finding) {
  return finding.inferred || finding.from.starts_with("Float8");
}

// By work: whether some call of it names an operator whose inputs are recorded.
std::vector<char> with_shapes(const Trace& trace, const TraceTable& table) {
  std::vector<char> shaped(trace.works.size());
  for (const GpuCall& call : trace.calls) {
    if (call.path != kNone && !table.ops[trace.paths[call.path].op].dims.empty()) shaped[call.work] = 1;
  }
  return shaped;
}

// Without operators, or without their shapes: a casting copy that is launched for so many elements that only a pool has them.
std::optional<Finding> finding_of_kernel(const Trace& trace, const KernelRow& row, const FindingOptions& options) {
  const GpuWork& work = trace.works[row.work];
  if (!is_casting_copy(work)) return std::nullopt;
  const std::int64_t elements = elements_of(work);
  Finding finding;
  finding.kind = Kind::whole_pool_cast;
  finding.work = row.work;
  finding.inferred = true;
  finding.times = row.times;
  if (options.columns > 0 && elements % options.columns == 0) {
    finding.columns = options.columns;
    finding.slots = elements / options.columns;
  }
  if (work.name.find("lambda(c10::BFloat16)") != std::string::npos) finding.to = "BFloat16";
  if (work.name.find("lambda(c10::Half)") != std::string::npos) finding.to = "Half";
  // The source's type is not in the name; a byte is the least that it has.
  const std::int64_t bytes = elements * (1 + (finding.to.empty() ? 1 : 2));
  if (bytes < options.threshold) return std::nullopt;
  return finding;
}

}  // namespace

std::string_view finding_name(Kind kind) {
  switch (kind) {
    case Kind::whole_pool_cast:
      return "whole-pool-cast";
    case Kind::oversized_gather:
      return "oversized-gather";
    case Kind::copy_without_change:
      return "copy-without-change";
  }
  return "";
}

bool is_of(const Finding& finding, const Trace& trace, const TraceTable& table, const GpuCall& call) {
  if (finding.inferred) return call.work == finding.work;
  return call.path != kNone && table.op_of(trace, call) == finding.op;
}

std::vector<Finding> find_waste(const Trace& trace, const TraceSteps& steps, const TraceTable& table,
                                const FindingOptions& options) {
  std::vector<Finding> found;
  for (const OpRow& row : table.op_rows) {
    const TraceOp& op = table.ops[row.op];
    if (op.inferred || row.times.self_ns == 0) continue;
    const Inputs in{dims_of(op.dims), dims_of(op.strides), types_of(op.types)};
    std::optional<Finding> finding = finding_of_copy(op, in);
    if (!finding) finding = finding_of_gather(trace, table, row.op, in);
    if (!finding) continue;
    finding->op = row.op;
    finding->times = row.times;
    finding->times.bytes = bytes_of(*finding, row.times, in.types[0]);
    if (finding->times.bytes >= options.threshold) found.push_back(std::move(*finding));
  }
  const std::vector<char> shaped = with_shapes(trace, table);
  for (const KernelRow& row : table.kernel_rows) {
    if (shaped[row.work] != 0) continue;
    if (std::optional<Finding> finding = finding_of_kernel(trace, row, options)) {
      finding->op = row.op;
      found.push_back(std::move(*finding));
    }
  }
  std::vector<Finding> kept;
  for (Finding& finding : found) {
    std::set<std::uint32_t> in_steps;
    for (const GpuCall& call : trace.calls) {
      if (is_of(finding, trace, table, call) && call.step != kNone) in_steps.insert(call.step);
    }
    finding.in_steps = in_steps.size();
    // A cast that is made once is a program that loads its weights; once a step, and not from FP8, one that keeps them in another type.
    const bool weights = finding.kind == Kind::whole_pool_cast && !is_fp8(finding) && finding.times.calls_a_step < 2;
    const bool in_most = steps.steps.empty() || finding.in_steps * 2 >= steps.steps.size();
    const bool repeats = finding.times.calls >= 2 && in_most && (steps.steps.empty() || !weights);
    if (repeats) kept.push_back(std::move(finding));
  }
  std::stable_sort(kept.begin(), kept.end(),
                   [](const Finding& a, const Finding& b) { return a.times.self_ns > b.times.self_ns; });
  return kept;
}

std::vector<std::string> patches_for(const Finding& finding, const std::vector<Patch>& catalog) {
  std::vector<const Patch*> patches;
  if (finding.kind == Kind::copy_without_change || !is_fp8(finding)) return {};
  for (const Patch& patch : catalog) {
    if (std::find(kPoolPatches.begin(), kPoolPatches.end(), patch.name) == kPoolPatches.end()) continue;
    if (finding.kind == Kind::oversized_gather && patch.name == "sglang-gather-then-cast") continue;
    patches.push_back(&patch);
  }
  std::stable_sort(patches.begin(), patches.end(), [](const Patch* a, const Patch* b) {
    return a->recommend.value_or(1000) < b->recommend.value_or(1000);
  });
  std::vector<std::string> names;
  for (const Patch* patch : patches) names.push_back(patch->name);
  return names;
}

std::vector<CodeSite> sites_of(Kind kind, const PatchOutcome& outcome, const Patch& patch, const std::string& folder) {
  std::vector<CodeSite> sites;
  if (kind != Kind::whole_pool_cast) return sites;
  for (const RuleOutcome& rule : outcome.rules) {
    const auto source = std::find_if(patch.rules.begin(), patch.rules.end(),
                                     [&rule](const Rule& each) { return each.id == rule.rule; });
    // Of a patch's rules those that replace a cast are about the cast; the others are what that needs.
    const bool of_cast = source != patch.rules.end() && source->base.narrow.match &&
                         source->base.narrow.match->value.find(".to(") != std::string::npos && source->base.edit &&
                         std::holds_alternative<Replace>(*source->base.edit);
    if (!of_cast) continue;
    for (const Evidence& site : rule.sites)
      sites.push_back({patch.name, rule.rule, folder + "/" + site.path, site.where.line, site.text});
  }
  return sites;
}

}  // namespace suture
