#include "check.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <utility>

namespace verify {
namespace {

constexpr std::int64_t kShadowRows = 4096;  // a shadow up to this is read back and compared

std::string text(const char* format, auto... values) {
  char buffer[256];
  std::snprintf(buffer, sizeof buffer, format, values...);
  return buffer;
}

// Where an element of an output is.
std::string place(const Case& c, std::size_t index) {
  const std::size_t row_size = static_cast<std::size_t>(c.heads) * kValueColumns;
  return text("row %zu, head %zu, column %zu", index / row_size, index % row_size / kValueColumns,
              index % kValueColumns);
}

// The sentence for two outputs that are not the same bits; empty where they are.
std::string difference(const Case& c, const std::vector<float>& got, const std::vector<float>& want) {
  std::size_t different = 0;
  std::size_t nan = 0;
  std::size_t first = got.size();
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (std::bit_cast<std::uint32_t>(got[i]) == std::bit_cast<std::uint32_t>(want[i])) continue;
    if (different++ == 0) first = i;
    if (std::isnan(got[i])) ++nan;
  }
  if (different == 0) return {};
  return text("%zu of %zu values are not the reference's bits, %zu of them NaN; the first (", different, got.size(),
              nan) +
         place(c, first) +
         text(") is %.9g, not %.9g", static_cast<double>(got[first]), static_cast<double>(want[first]));
}

std::string nans(const Case& c, const std::vector<float>& output) {
  const auto at = std::find_if(output.begin(), output.end(), [](float value) { return std::isnan(value); });
  if (at == output.end()) return {};
  return "a NaN of a slot that nobody owns reached the output, first at " +
         place(c, static_cast<std::size_t>(at - output.begin()));
}

// The shadow's bits against the codec: the named rows, and no other.
std::string shadow_difference(const Case& c, const Plan& plan, const std::vector<std::uint16_t>& shadow) {
  std::vector<bool> named(static_cast<std::size_t>(c.slots), static_cast<std::int64_t>(plan.slots.size()) > c.slots);
  for (const std::int32_t slot : plan.slots) named[static_cast<std::size_t>(slot)] = true;
  for (std::size_t i = 0; i < shadow.size(); ++i) {
    const std::size_t slot = i / kColumns;
    if (!named[slot] && shadow[i] != kPoison) return text("slot %zu is not named, and was written", slot);
    if (!named[slot]) continue;
    const std::uint16_t want = bf16_of(static_cast<float>(decode(c.type, c.pool[i])));
    if (!same_bf16(shadow[i], want)) {
      return text("slot %zu, column %zu of the shadow is %04x, not %04x, for the code %02x", slot, i % kColumns,
                  static_cast<unsigned>(shadow[i]), static_cast<unsigned>(want), static_cast<unsigned>(c.pool[i]));
    }
  }
  return {};
}

// Small cases whole; of large ones the first and the last row.
std::vector<int> rows_to_compare(const Case& c, const Plan& plan) {
  if (!c.small && plan.compared > 1) return {0, plan.compared - 1};
  std::vector<int> rows;
  for (int row = 0; row < plan.compared; ++row) rows.push_back(row);
  return rows;
}

class CaseRun {
 public:
  CaseRun(Machine& machine, const Case& c, Plant plant, CaseReport& report)
      : machine_(machine), case_(c), plant_(plant), report_(report) {}

  void run() {
    machine_.load(case_);
    for (int step = 0; step < 2; ++step) {
      machine_.plan(case_.steps[step]);
      for (const Way way : kWays) eager(way, step);
    }
    for (const Way way : kWays) from_graph(way);
  }

 private:
  void eager(Way way, int step) {
    machine_.poison();
    machine_.run(layer_of(way, plant_, false));
    if (way == Way::whole) {
      want_[step] = machine_.output(case_.steps[step].compared);
      judge_reference(step);
    } else {
      judge(way, false, step);
    }
  }

  // Captured with the fill plan, as a server captures before there is any request, then replayed for both steps.
  void from_graph(Way way) {
    machine_.plan(case_.fill);
    machine_.poison();
    machine_.capture(layer_of(way, plant_, true));
    for (int step = 0; step < 2; ++step) {
      machine_.plan(case_.steps[step]);
      machine_.poison();
      machine_.replay();
      judge(way, true, step);
    }
  }

  void judge_reference(int step) {
    ++report_.comparisons;
    note(Way::whole, false, step, nans(case_, want_[step]));
    if (!case_.small && step > 0) return;  // seconds of CPU time for each, and of the same kind as the first
    const Plan& plan = case_.steps[step];
    const Comparison found = compare(case_, plan, want_[step], rows_to_compare(case_, plan), machine_.splits());
    if (!(found.largest_share <= 1)) {
      note(Way::whole, false, step,
           text("row %d, head %d, column %d is %.9g, in double precision %.9g: %.3g times the bound", found.row,
                found.head, found.column, found.got, found.want, found.largest_share));
    }
    keep_worst(found);
  }

  void keep_worst(const Comparison& found) {
    Comparison& worst = report_.exact;
    const double l2 = std::max(worst.relative_l2, found.relative_l2);
    const double error = std::max(worst.largest_error, found.largest_error);
    const double tolerance = std::max(worst.tolerance, found.tolerance);
    if (found.largest_share >= worst.largest_share) worst = found;
    worst.relative_l2 = l2;
    worst.largest_error = error;
    worst.tolerance = tolerance;
  }

  void judge(Way way, bool in_graph, int step) {
    const Plan& plan = case_.steps[step];
    ++report_.comparisons;
    note(way, in_graph, step, difference(case_, machine_.output(plan.compared), want_[step]));
    if (way != Way::shadow || case_.slots > kShadowRows) return;
    ++report_.comparisons;
    note(way, in_graph, step, shadow_difference(case_, plan, machine_.shadow(case_.slots)));
  }

  void note(Way way, bool in_graph, int step, const std::string& what) {
    if (!what.empty()) report_.findings.push_back({way, in_graph, step, what});
  }

  Machine& machine_;
  const Case& case_;
  const Plant plant_;
  CaseReport& report_;
  std::vector<float> want_[2];
};

// The cast of every code there is.
CaseReport run_codes(Machine& machine, Fp8 type, Plant plant) {
  const Case c = all_codes(type);
  CaseReport report;
  report.name = c.name;
  report.type = type;
  report.heads = c.heads;
  report.comparisons = 1;
  machine.load(c);
  machine.plan(c.steps[0]);
  machine.poison();
  machine.run(layer_of(Way::shadow, plant, false));
  const std::string what = shadow_difference(c, c.steps[0], machine.shadow(c.slots));
  if (!what.empty()) report.findings.push_back({Way::shadow, false, 0, what});
  return report;
}

}  // namespace

CaseReport run_case(Machine& machine, const CaseSpec& spec, std::uint64_t seed, Plant plant) {
  const Case c = make_case(spec, seed);
  CaseReport report;
  report.name = spec.name;
  report.type = spec.type;
  report.heads = spec.heads;
  report.seed = seed;
  CaseRun(machine, c, plant, report).run();
  return report;
}

Report run_cases(Machine& machine, const std::vector<CaseSpec>& specs, std::uint64_t seed, Plant plant,
                 const std::function<void(const CaseReport&)>& tell) {
  Report report;
  const auto add = [&report, &tell](CaseReport one) {
    report.comparisons += one.comparisons;
    if (!one.findings.empty()) ++report.failed;
    tell(one);
    report.cases.push_back(std::move(one));
  };
  for (const Fp8 type : {Fp8::e4m3fn, Fp8::e5m2}) add(run_codes(machine, type, plant));
  // Every case has a seed of its own, which its line names.
  for (std::size_t i = 0; i < specs.size(); ++i) add(run_case(machine, specs[i], seed + i, plant));
  return report;
}

std::string beside_the_plant(const Report& report, Plant plant) {
  for (const CaseReport& c : report.cases) {
    for (const Finding& finding : c.findings) {
      if (!is_planted(plant, finding.way, finding.in_graph))
        return c.name + ", " + name_of(finding.way) + ": " + finding.what;
    }
  }
  return {};
}

std::vector<Catch> catches(const Report& report, Plant plant) {
  std::vector<Catch> all;
  for (const Way way : kWays) {
    for (const bool in_graph : {false, true}) {
      if (!is_planted(plant, way, in_graph)) continue;
      Catch found{way, in_graph, 0, {}};
      for (const CaseReport& c : report.cases) {
        const auto at = std::find_if(c.findings.begin(), c.findings.end(), [way, in_graph](const Finding& finding) {
          return finding.way == way && finding.in_graph == in_graph;
        });
        if (at == c.findings.end()) continue;
        if (found.caught++ == 0) found.first = c.name + ": " + at->what;
      }
      all.push_back(found);
    }
  }
  return all;
}

}  // namespace verify
