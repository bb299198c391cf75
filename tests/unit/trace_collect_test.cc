// Joining events, steps, tables, findings and comparison, on small traces whose figures can be told by hand.
#include "engine/trace_collect.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/trace_compare.h"
#include "engine/trace_findings.h"
#include "engine/trace_shapes.h"
#include "engine/trace_stacks.h"
#include "support/trace_text.h"

namespace suture {
namespace {

using testing::ElementsAre;
using Events = std::vector<std::string>;

struct Analysed {
  Trace trace;
  TraceSteps steps;
  TraceTable table;
};
Analysed analysed(const Events& events, const std::string& told = "") {
  Analysed it;
  it.trace = collected(events);
  Result<TraceSteps> steps = find_steps(it.trace, told);
  EXPECT_TRUE(steps.ok()) << (steps.ok() ? "" : steps.error().message);
  if (steps) it.steps = *steps;
  it.table = make_table(it.trace, it.steps);
  return it;
}
const OpRow& row_of(const Analysed& it, const std::string& name) {
  for (const OpRow& row : it.table.op_rows) {
    if (it.table.ops[row.op].name == name) return row;
  }
  ADD_FAILURE() << "no operator " << name;
  static const OpRow none;
  return none;
}

const Events kNested = {op("aten::matmul", 0, 10, 1),    op("aten::mm", 1, 8, 2),
                        op("aten::add", 20, 5, 3),       kernel("gemm", 100, 7, 2, 11),
                        kernel("reduce", 108, 2, 2, 12), kernel("CUDAFunctor_add", 111, 1, 3, 13)};

TEST(TraceCollect, KernelsGoToTheOperatorThatLaunchedThemInAnyOrderOfTheFile) {
  Events backwards(kNested.rbegin(), kNested.rend());
  std::swap(backwards[3], backwards[5]);  // operators stay in the order of time
  for (const Events& events : {kNested, backwards}) {
    const Analysed it = analysed(events);
    EXPECT_EQ(row_of(it, "aten::mm").times.self_ns, 9000);
    EXPECT_EQ(row_of(it, "aten::mm").times.calls, 1U);
    EXPECT_DOUBLE_EQ(row_of(it, "aten::mm").times.median_us, 9);  // both kernels are of one call
    EXPECT_EQ(row_of(it, "aten::matmul").times.self_ns, 0);
    EXPECT_EQ(row_of(it, "aten::matmul").times.total_ns, 9000);
    EXPECT_EQ(row_of(it, "aten::add").times.total_ns, 1000);
    EXPECT_EQ(it.table.gpu_ns, 10000);
    EXPECT_DOUBLE_EQ(row_of(it, "aten::mm").times.share, 0.9);
  }
}

TEST(TraceCollect, TimesOnTheCpuAreOwnAndInAll) {
  const Analysed it = analysed({op("a", 0, 10, 1), op("b", 1, 3, 2), op("c", 2, 1, 3), op("b", 5, 4, 4)});
  EXPECT_EQ(row_of(it, "a").cpu_ns, 10000);
  EXPECT_EQ(row_of(it, "a").cpu_self_ns, 3000);
  EXPECT_EQ(row_of(it, "b").cpu_ns, 7000);
  EXPECT_EQ(row_of(it, "b").cpu_self_ns, 6000);
}

TEST(TraceCollect, BlanksInListsTellNothingApart) {
  const Analysed it = analysed({op("a", 0, 1, 1, R"("Input Dims": [[2, 3], []], "Input type": ["c10::Half", "a b"])"),
                                op("a", 2, 1, 2, R"("Input Dims":[[2,3],[]], "Input type":["c10::Half","a b"])"),
                                kernel("k", 50, 5, 0, 0, 7, R"("grid": [1, 2, 3], "block": [4, 5, 6])"),
                                kernel("k", 60, 5, 0, 0, 7, "\"grid\":[1,2,3], \"block\":[4,\n5,6]")});
  ASSERT_EQ(it.trace.ops.size(), 1U);
  EXPECT_EQ(it.trace.ops[0].dims, "[[2,3],[]]");
  EXPECT_EQ(it.trace.ops[0].types, R"(["c10::Half","a b"])");
  ASSERT_EQ(it.trace.works.size(), 1U);
  EXPECT_EQ(it.trace.works[0].grid, "[1,2,3]");
}

TEST(TraceCollect, ThreadsWhoseNamesReadAlikeAreTwo) {
  const auto named = [](std::string_view name, std::string_view pid, std::string_view tid, int ts, int dur) {
    return R"({"ph":"X","cat":"cpu_op","name":")" + std::string(name) + R"(","pid":")" + std::string(pid) +
           R"(","tid":")" + std::string(tid) + R"(","ts":)" + std::to_string(ts) + R"(,"dur":)" + std::to_string(dur) +
           "}";
  };
  for (const auto& [pid, tid] : {std::pair("a", " c"), std::pair("a", "b c"), std::pair("a b c", "")}) {
    const Analysed it = analysed({named("outer", "a b", "c", 0, 10), named("other", pid, tid, 1, 5)});
    EXPECT_EQ(row_of(it, "outer").cpu_self_ns, 10000) << pid << "|" << tid;
  }
  const Analysed near = analysed({named("outer", "ab", "c", 0, 10), named("other", "a", " c", 1, 5)});
  EXPECT_EQ(row_of(near, "outer").cpu_self_ns, 10000);
}

TEST(TraceCollect, AnOperatorWithinItselfCountsOnceInItsTotal) {
  const Analysed it =
      analysed({op("aten::to", 0, 10, 1), op("aten::to", 1, 8, 2), op("aten::copy_", 2, 6, 3), kernel("k", 50, 5, 3)});
  EXPECT_EQ(row_of(it, "aten::to").times.total_ns, 5000);
  EXPECT_EQ(row_of(it, "aten::to").times.calls, 2U);
}

TEST(TraceCollect, OperatorsOutOfOrderAreSaidAndKeepTheirOwnKernels) {
  const Analysed it = analysed({op("inner", 1, 2, 2), op("outer", 0, 10, 1), kernel("k", 50, 5, 2)});
  EXPECT_TRUE(it.trace.flat_ops);
  ASSERT_EQ(it.trace.warnings.size(), 1U);
  EXPECT_EQ(row_of(it, "inner").times.self_ns, 5000);
}

TEST(TraceCollect, IdsOf64BitsAreKeptApart) {
  const std::string big = "9007199254740993", other = "9007199254740992";
  const auto cpu = [](const std::string& name, int ts, const std::string& id) {
    return x_event("cpu_op", name, ts, 1, "\"External id\": " + id);
  };
  const auto gpu = [](int ts, const std::string& id) {
    return x_event("kernel", "k", ts, 2, "\"External id\": " + id);
  };
  const Analysed it = analysed({cpu("a", 0, big), cpu("b", 5, other), gpu(10, big), gpu(20, other)});
  EXPECT_EQ(row_of(it, "a").times.self_ns, 2000);
  EXPECT_EQ(row_of(it, "b").times.self_ns, 2000);
}

// Ids in rows, with gaps, downwards and beyond 32 bits, and more names than are remembered by their form.
TEST(TraceCollect, EveryKernelGoesToItsOperatorWhateverTheIds) {
  for (const std::uint64_t far : {std::uint64_t{0}, std::uint64_t{1} << 40U}) {
    std::vector<std::uint64_t> ids;
    for (std::uint64_t i = 1; i <= 3000; ++i) ids.push_back(i);
    for (std::uint64_t i = 0; i < 3000; ++i) ids.push_back(10000 + i * 7 % 3001);
    for (std::uint64_t i = 0; i < 1000; ++i) ids.push_back(30000 - i + far);
    std::vector<std::string> ops, kernels;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const std::string id = std::to_string(ids[i]), name = "op" + std::to_string(i % 5 == 0 ? i : i % 3);
      const double start = static_cast<double>(i) * 10;
      ops.push_back(x_event("cpu_op", name, start, 5, "\"External id\": " + id));
      ops.push_back(x_event("cuda_runtime", "cudaLaunchKernel", start + 1, 1, "\"correlation\": " + id));
      kernels.push_back(x_event("kernel", "k" + name, start, 1, "\"correlation\": " + id + ", \"External id\": " + id));
    }
    std::vector<std::string> events = ops;
    events.insert(events.end(), kernels.begin(), kernels.end());
    const Trace trace = collected(events);
    ASSERT_EQ(trace.calls.size(), ids.size());
    for (std::size_t i = 0; i < trace.calls.size(); ++i) {
      const GpuCall& call = trace.calls[i];
      ASSERT_NE(call.path, kNone) << i;
      ASSERT_NE(call.launch, kNone) << i;
      EXPECT_EQ("k" + trace.ops[trace.paths[call.path].op].name, trace.works[call.work].name) << i;
      EXPECT_EQ(trace.launches[call.launch].start_ns, call.start_ns + 1000) << i;
    }
  }
}

TEST(TraceCollect, BeginningsAndEnds) {
  const auto part = [](const std::string& phase, const std::string& name, int ts) {
    return R"({"ph": ")" + phase + R"(", "cat": "cpu_op", "name": ")" + name + R"(", "pid": 1, "tid": 1, "ts": )" +
           std::to_string(ts) + R"(, "args": {"External id": )" + std::to_string(ts + 100) + "}}";
  };
  const Analysed it = analysed({part("E", "stray", 0), part("B", "a", 1), part("B", "b", 2), part("E", "b", 4),
                                part("E", "a", 9), part("B", "open", 20), kernel("k", 30, 5, 102)});
  EXPECT_EQ(row_of(it, "a").cpu_ns, 8000);
  EXPECT_EQ(row_of(it, "a").cpu_self_ns, 6000);
  EXPECT_EQ(row_of(it, "b").times.self_ns, 5000);
  EXPECT_EQ(row_of(it, "a").times.total_ns, 5000);
  ASSERT_EQ(it.trace.warnings.size(), 2U);
  EXPECT_EQ(row_of(it, "open").cpu_ns, 0);
}

TEST(TraceCollect, AsyncEventsAndOthersAreNoCalls) {
  const Trace trace =
      collected({R"({"ph":"b","cat":"x","name":"a","ts":1,"id":1})", R"({"ph":"e","cat":"x","name":"a","ts":2,"id":1})",
                 R"({"ph":"C","name":"mem","ts":2,"args":{"v":1}})", R"({"ph":"M","name":"process_name","args":{}})"});
  EXPECT_TRUE(trace.calls.empty());
  EXPECT_TRUE(trace.warnings.empty());
}

// --- steps -------------------------------------------------------------------------------------------------------------

Events step_events(int count, const std::string& name) {
  Events events;
  int id = 0;
  for (int i = 0; i < count; ++i) {
    const double at = i * 100.0;
    if (!name.empty()) events.push_back(span(name + std::to_string(i) + "]", at, 90));
    for (int k = 0; k < 3; ++k) {
      ++id;
      events.push_back(launch(at + 10 + k, id));
      // The GPU lags behind: a step's kernels run while the CPU is in the next one.
      events.push_back(kernel(k == 0 ? "first" : "layer", at + 150 + k * 20, 15, 0, id));
    }
  }
  return events;
}

TEST(TraceSteps, AnnotationsByTheTimeOfTheLaunch) {
  const Analysed it = analysed(step_events(4, "step["));
  EXPECT_EQ(it.steps.how, TraceSteps::How::annotation);
  EXPECT_EQ(it.steps.name, "step[#]");
  ASSERT_EQ(it.steps.steps.size(), 4U);
  for (const TraceStep& step : it.steps.steps) EXPECT_EQ(step.calls, 3U);
  EXPECT_EQ(it.steps.steps[0].wall_ns(), 100000);
  EXPECT_EQ(it.steps.steps[3].wall_ns(), 55000);  // the last one ends with its last kernel
}

TEST(TraceSteps, ProfilerStepComesFirstAndWarmUpWithoutWorkIsNone) {
  Events events = step_events(3, "step[");
  events.push_back(span("ProfilerStep#7", 0, 95));
  events.push_back(span("ProfilerStep#8", 95, 205));
  events.push_back(span("ProfilerStep#9", 1000, 5));
  const Analysed it = analysed(events);
  EXPECT_EQ(it.steps.how, TraceSteps::How::profiler_step);
  ASSERT_EQ(it.steps.steps.size(), 2U);
  EXPECT_EQ(it.steps.steps[0].label, "ProfilerStep#7");
  EXPECT_EQ(it.steps.steps[1].calls, 6U);
}

TEST(TraceSteps, ReplaysOfAGraph) {
  Events events;
  for (int i = 0; i < 3; ++i) {
    events.push_back(launch(i * 10, i + 1, "cudaGraphLaunch"));
    for (int k = 0; k < 20; ++k) events.push_back(kernel("layer", 100 + i * 1000 + k * 20, 15, 0, i + 1));
  }
  const Analysed it = analysed(events);
  EXPECT_EQ(it.steps.how, TraceSteps::How::graph_launch);
  ASSERT_EQ(it.steps.steps.size(), 3U);
  EXPECT_EQ(it.steps.steps[1].calls, 20U);
}

TEST(TraceSteps, TheRepeatingPattern) {
  Events events = {kernel("warm up", 0, 5, 0, 900), kernel("layer", 10, 5, 0, 901)};
  for (int i = 0; i < 5; ++i) {
    events.push_back(kernel("embed", 100 + i * 100, 5, 0, 1 + i * 10));
    for (int k = 0; k < 4; ++k) events.push_back(kernel("layer", 110 + i * 100 + k * 10, 5, 0, 2 + i * 10 + k));
  }
  const Analysed it = analysed(events);
  EXPECT_EQ(it.steps.how, TraceSteps::How::pattern);
  EXPECT_EQ(it.steps.name, "embed");
  ASSERT_EQ(it.steps.steps.size(), 5U);
  EXPECT_EQ(it.steps.outside, 2U);
}

TEST(TraceSteps, AsTold) {
  Analysed it = analysed(step_events(4, ""), "2");
  EXPECT_EQ(it.steps.how, TraceSteps::How::given);
  ASSERT_EQ(it.steps.steps.size(), 2U);
  EXPECT_EQ(it.steps.steps[0].calls, 6U);
  it = analysed(step_events(4, "decode["), "decode");
  EXPECT_EQ(it.steps.steps.size(), 4U);
  Trace trace = collected(step_events(2, "decode["));
  EXPECT_FALSE(find_steps(trace, "prefill").ok());
  EXPECT_FALSE(find_steps(trace, "0").ok());
  EXPECT_FALSE(find_steps(trace, "7").ok());
}

TEST(TraceSteps, NoneInNoise) {
  const Analysed it = analysed({kernel("a", 0, 1, 0, 1), kernel("b", 2, 1, 0, 2), kernel("a", 4, 1, 0, 3)});
  EXPECT_EQ(it.steps.how, TraceSteps::How::none);
  EXPECT_EQ(it.steps.outside, 3U);
}

// --- tables ------------------------------------------------------------------------------------------------------------

TEST(TraceTable, OverlappingStreamsCountOnceOfTheWall) {
  // 0..10 alone, 10..20 both, 20..30 the other one alone, 30..40 idle, 40..50 the first.
  const Analysed it =
      analysed({kernel("a", 0, 20, 0, 1, 7), kernel("b", 10, 20, 0, 2, 9), kernel("a", 40, 10, 0, 3, 7)});
  EXPECT_DOUBLE_EQ(it.table.wall_ns, 50000);
  EXPECT_DOUBLE_EQ(it.table.busy_ns, 40000);
  ASSERT_EQ(it.table.kernel_rows.size(), 2U);
  EXPECT_DOUBLE_EQ(it.table.kernel_rows[0].times.wall_share, 25.0 / 50);
  EXPECT_DOUBLE_EQ(it.table.kernel_rows[1].times.wall_share, 15.0 / 50);
  EXPECT_DOUBLE_EQ(it.table.kernel_rows[0].times.share, 30.0 / 50);
}

TEST(TraceTable, SharesOfTheWallAndIdleTimeMakeOne) {
  Events events;
  std::uint32_t seed = 1;
  for (int i = 0; i < 400; ++i) {
    seed = seed * 1664525U + 1013904223U;
    events.push_back(kernel("k" + std::to_string(seed >> 29U), (seed >> 8U) % 5000, 1 + (seed >> 4U) % 40, 0, i + 1,
                            static_cast<int>((seed >> 13U) % 4)));
  }
  const Analysed it = analysed(events);
  double sum = 0;
  for (const KernelRow& row : it.table.kernel_rows) sum += row.times.wall_share;
  EXPECT_NEAR(sum, it.table.busy_ns / it.table.wall_ns, 1e-9);
  // The union, counted naively.
  std::vector<char> covered(6000);
  for (const GpuCall& call : it.trace.calls) {
    for (std::int64_t at = call.start_ns / 1000; at < (call.start_ns + call.duration_ns) / 1000; ++at)
      covered[static_cast<std::size_t>(at)] = 1;
  }
  EXPECT_DOUBLE_EQ(it.table.busy_ns, 1000.0 * static_cast<double>(std::count(covered.begin(), covered.end(), 1)));
}

TEST(TraceTable, MedianAndPercentile) {
  EXPECT_DOUBLE_EQ(median_of({1, 2, 10}), 2);
  EXPECT_DOUBLE_EQ(median_of({1, 2, 4, 10}), 3);
  std::vector<double> hundred;
  for (int i = 1; i <= 100; ++i) hundred.push_back(i);
  EXPECT_DOUBLE_EQ(p99_of(hundred), 99);
  EXPECT_DOUBLE_EQ(p99_of({5}), 5);
}

TEST(TraceTable, AKernelWithoutOperatorIsInferredAndMarked) {
  const Analysed it = analysed({op("aten::mm", 0, 5, 1), kernel("gemm_x", 10, 5, 1, 1), kernel("gemm_x", 20, 5, 0, 2),
                                kernel("nvjet_y", 30, 5, 0, 3), kernel("mystery", 40, 5, 0, 4)});
  EXPECT_EQ(it.table.without_operator, 3U);
  std::vector<std::string> inferred;
  for (const OpRow& row : it.table.op_rows) {
    if (it.table.ops[row.op].inferred) inferred.push_back(it.table.ops[row.op].name);
  }
  EXPECT_THAT(inferred, ElementsAre("aten::mm"));  // both, for neither says its launch shape
  for (const OpRow& row : it.table.op_rows) EXPECT_EQ(row.times.self_ns, it.table.ops[row.op].inferred ? 10000 : 5000);
}

// --- shapes ------------------------------------------------------------------------------------------------------------

TEST(TraceShapes, InputsAndBytes) {
  EXPECT_EQ(dims_of("[[495552, 1, 576], [], [[1, 8], [2, 3]], [5]]"),
            (std::vector<Dims>{{495552, 1, 576}, {}, {}, {5}}));
  EXPECT_EQ(dims_of("[]"), std::vector<Dims>{});
  EXPECT_EQ(dims_of("nonsense"), std::vector<Dims>{});
  const TraceOp copy{"aten::copy_", "[[495552, 1, 576], [495552, 1, 576], []]",
                     R"(["c10::BFloat16", "c10::Float8_e4m3fn", "Scalar"])", "", false};
  EXPECT_EQ(bytes_moved(copy), 856313856);
  EXPECT_EQ(short_inputs(copy), "[495552,1,576] BFloat16, [495552,1,576] Float8_e4m3fn");
  EXPECT_EQ(bytes_moved({"aten::mm", "[[1, 6144], [6144, 4608]]", R"(["c10::BFloat16", "c10::BFloat16"])", "", false}),
            2 * (6144 + 6144 * 4608 + 4608));
  EXPECT_EQ(bytes_moved({"aten::index", "[[5, 5], []]", R"(["float", ""])", "", false}), std::nullopt);
  EXPECT_EQ(bytes_moved({"aten::copy_", "", "", "", false}), std::nullopt);
  EXPECT_EQ(elements_of(Dims{1LL << 40, 1LL << 40}), -1);
}

TEST(TraceShapes, KernelNames) {
  const std::string add =
      "void at::native::vectorized_elementwise_kernel<8, at::native::CUDAFunctor_add<c10::BFloat16>, std::array<char*, "
      "3ul> >(int)";
  EXPECT_EQ(short_kernel_name(add), "vectorized_elementwise_kernel<CUDAFunctor_add>");
  EXPECT_EQ(short_kernel_name("nvjet_sm90_tst_64x8"), "nvjet_sm90_tst_64x8");
  EXPECT_EQ(short_kernel_name("void (anonymous namespace)::softmax_warp_forward<c10::BFloat16, float>(int)"),
            "softmax_warp_forward");
  EXPECT_EQ(operator_by_kernel(add), "aten::add");
  EXPECT_EQ(elements_of(GpuWork{TraceKind::kernel, add, "[6, 1, 1]", "[128, 1, 1]", 0}), 6144);
  EXPECT_EQ(elements_of(GpuWork{TraceKind::kernel, "other", "[6, 1, 1]", "[128, 1, 1]", 0}), 0);
}

// --- findings ----------------------------------------------------------------------------------------------------------

std::string copy_args(const std::string& to, const std::string& from, const std::string& shape,
                      const std::string& strides = "[1, 1, 1]") {
  return R"("Input Dims": [)" + shape + ", " + shape + R"(, []], "Input type": [")" + to + R"(", ")" + from +
         R"(", "Scalar"], "Input Strides": [)" + strides + ", " + strides + ", []]";
}

Events copies(const std::string& args, int steps = 2, int layers = 2) {
  Events events;
  int id = 0;
  for (int i = 0; i < steps; ++i) {
    events.push_back(span("step[" + std::to_string(i) + "]", i * 10000, 9000));
    for (int k = 0; k < layers; ++k) {
      ++id;
      events.push_back(op("aten::copy_", i * 10000 + k * 100, 50, id, args));
      events.push_back(launch(i * 10000 + k * 100 + 10, id));
      events.push_back(kernel("direct_copy_kernel_cuda", i * 10000 + k * 2000 + 500, 850, id, id));
    }
  }
  return events;
}

std::vector<Finding> findings_of(const Events& events, FindingOptions options = {}) {
  const Analysed it = analysed(events);
  return find_waste(it.trace, it.steps, it.table, options);
}

const char* const kPool = "[495552, 1, 576]";

TEST(TraceFindings, ACastOfAWholePool) {
  const std::vector<Finding> found = findings_of(copies(copy_args("c10::BFloat16", "c10::Float8_e4m3fn", kPool)));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].kind, Finding::Kind::whole_pool_cast);
  EXPECT_EQ(found[0].slots, 495552);
  EXPECT_EQ(found[0].columns, 576);
  EXPECT_EQ(found[0].from, "Float8_e4m3fn");
  EXPECT_EQ(found[0].times.calls, 4U);
  EXPECT_DOUBLE_EQ(found[0].times.calls_a_step, 2);
  EXPECT_EQ(found[0].in_steps, 2U);
  EXPECT_FALSE(found[0].inferred);
}

TEST(TraceFindings, WhatIsNone) {
  EXPECT_TRUE(findings_of(copies(copy_args("c10::BFloat16", "c10::Float8_e4m3fn", "[500, 1, 576]"))).empty())
      << "few slots";
  EXPECT_TRUE(findings_of(copies(copy_args("c10::BFloat16", "long int", kPool))).empty()) << "no numbers of the kind";
  EXPECT_TRUE(findings_of(copies(copy_args("c10::BFloat16", "c10::Float8_e4m3fn", kPool), 1, 1)).empty())
      << "once: weights";
  EXPECT_TRUE(findings_of(copies(copy_args("c10::BFloat16", "c10::Float8_e4m3fn", kPool)),
                          {.threshold = std::int64_t{1} << 30U})
                  .empty());
  EXPECT_TRUE(findings_of(copies(copy_args("float", "c10::BFloat16", "[100, 495552]"))).empty())
      << "the first dimension is no pool";
}

TEST(TraceFindings, ACopyThatChangesNothing) {
  const std::vector<Finding> found =
      findings_of(copies(copy_args("c10::BFloat16", "c10::BFloat16", kPool, "[576, 576, 1]")));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].kind, Finding::Kind::copy_without_change);
  const std::string other_layout =
      R"("Input Dims": [[495552, 1, 576], [495552, 1, 576], []], "Input type": ["float", "float", "Scalar"],
    "Input Strides": [[576, 576, 1], [1, 1, 495552], []])";
  std::string one_line;
  for (const char c : other_layout) one_line += c == '\n' ? ' ' : c;
  EXPECT_TRUE(findings_of(copies(one_line)).empty()) << "it changes the layout";
}

TEST(TraceFindings, AGatherThatIsLargerThanThePool) {
  const auto gathers = [](int rows) {
    Events events;
    for (int i = 0; i < 4; ++i) {
      events.push_back(op("aten::index", i * 100, 50, i + 1,
                          R"("Input Dims": [[495552, 1, 576], []], "Input type": ["c10::Float8_e4m3fn", ""])"));
      events.push_back(kernel("vectorized_gather_kernel<16, long>(char*)", i * 2000 + 500, 850, i + 1, i + 1, 7,
                              R"("grid": [)" + std::to_string(rows) + R"(, 1, 1], "block": [96, 1, 1])"));
    }
    return events;
  };
  const std::vector<Finding> found = findings_of(gathers(770016));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].kind, Finding::Kind::oversized_gather);
  EXPECT_EQ(found[0].rows, 770016);
  EXPECT_EQ(found[0].times.bytes, 2LL * 770016 * 576);
  EXPECT_TRUE(findings_of(gathers(500)).empty());
  EXPECT_TRUE(findings_of(gathers(495552)).empty());
}

TEST(TraceFindings, ACastOfAGraphIsInferredFromNameAndLaunchShape) {
  Events events;
  for (int i = 0; i < 2; ++i) {
    events.push_back(launch(i * 10, i + 1, "cudaGraphLaunch"));
    for (int k = 0; k < 20; ++k)
      events.push_back(kernel(k % 2 == 0 ? "void "
                                           "at::native::unrolled_elementwise_kernel<at::native::direct_copy_kernel_"
                                           "cuda(x)::{lambda(c10::BFloat16)#1}, 4, LoadWithCast<1>>(int)"
                                         : "layer",
                              100 + i * 100000 + k * 1000, 850, 0, i + 1, 7,
                              R"("grid": [557496, 1, 1], "block": [128, 1, 1])"));
  }
  const std::vector<Finding> found = findings_of(events);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_TRUE(found[0].inferred);
  EXPECT_EQ(found[0].slots, 495552);
  EXPECT_EQ(found[0].to, "BFloat16");
  EXPECT_EQ(found[0].times.calls, 20U);
  EXPECT_EQ(findings_of(events, {.columns = 577})[0].slots, 0);
}

TEST(TraceFindings, WithoutShapesTheKernelTells) {
  Events events;
  for (int i = 0; i < 4; ++i) {
    events.push_back(op("aten::copy_", i * 100, 50, i + 1));
    events.push_back(kernel("unrolled_elementwise_kernel<direct_copy_kernel_cuda LoadWithCast>", i * 2000 + 500, 850,
                            i + 1, i + 1, 7, R"("grid": [557496, 1, 1], "block": [128, 1, 1])"));
  }
  const std::vector<Finding> found = findings_of(events);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_TRUE(found[0].inferred);
  EXPECT_EQ(found[0].slots, 495552);
}

TEST(TraceFindings, WeightsInAnotherTypeOnceAStepAreNoPool) {
  EXPECT_TRUE(findings_of(copies(copy_args("c10::BFloat16", "float", "[128256, 4096]"), 3, 1)).empty());
  EXPECT_EQ(findings_of(copies(copy_args("c10::BFloat16", "float", "[128256, 4096]"), 3, 2)).size(), 1U);
}

TEST(TraceFindings, PatchesAreForFp8Pools) {
  std::vector<Patch> catalog(3);
  catalog[0].name = "other";
  catalog[1].name = "sglang-gather-then-cast";
  catalog[1].recommend = 3;
  catalog[2].name = "sglang-cast-active-slots";
  catalog[2].recommend = 1;
  Finding finding;
  finding.from = "Float8_e5m2";
  EXPECT_THAT(patches_for(finding, catalog), ElementsAre("sglang-cast-active-slots", "sglang-gather-then-cast"));
  finding.from = "float";
  EXPECT_THAT(patches_for(finding, catalog), ElementsAre());
  finding.inferred = true;
  finding.kind = Finding::Kind::oversized_gather;
  EXPECT_THAT(patches_for(finding, catalog), ElementsAre("sglang-cast-active-slots"));
  finding.kind = Finding::Kind::copy_without_change;
  EXPECT_THAT(patches_for(finding, catalog), ElementsAre());
}

TEST(TraceStacks, FunctionsAroundTheLaunch) {
  Events events = copies(copy_args("c10::BFloat16", "c10::Float8_e4m3fn", kPool));
  for (int i = 0; i < 2; ++i) {
    events.push_back(x_event("python_function", "server.py(1): step", i * 10000, 9000));
    events.push_back(x_event("python_function", "backend.py(9): forward_decode", i * 10000 + 1, 400));
    events.push_back(
        x_event("python_function", "<built-in method to of Tensor object at 0x7f00aa>", i * 10000 + 2, 390));
    events.push_back(x_event("python_function", "elsewhere.py(1): f", i * 10000 + 500, 10));
  }
  Analysed it = analysed(events);
  std::vector<Finding> found = find_waste(it.trace, it.steps, it.table);
  ASSERT_EQ(found.size(), 1U);
  StackCollector stacks(it.trace, it.table, found);
  ASSERT_TRUE(stacks.wanted());
  PieceSource source(trace_of(events));
  const auto take = [&stacks](const TraceEvent& event) { stacks.take(event); };
  ASSERT_TRUE(read_trace(source, take).ok());
  stacks.finish(found);
  ASSERT_EQ(found[0].stacks.size(), 1U);
  EXPECT_THAT(found[0].stacks[0].frames, ElementsAre("server.py(1): step", "backend.py(9): forward_decode",
                                                     "<built-in method to of Tensor object>"));
  EXPECT_EQ(found[0].stacks[0].calls, 4U);
}

TEST(TraceCompare, MatchedByNameAndInputs) {
  const Analysed before = analysed(copies(copy_args("c10::BFloat16", "c10::Float8_e4m3fn", kPool)));
  Events fewer = copies(copy_args("c10::BFloat16", "c10::Float8_e4m3fn", "[500, 1, 576]"), 4);
  const Analysed after = analysed(fewer);
  const TraceChange change =
      compare_traces({before.trace, before.steps, before.table}, {after.trace, after.steps, after.table});
  EXPECT_TRUE(change.per_step);
  ASSERT_EQ(change.rows.size(), 2U);
  EXPECT_DOUBLE_EQ(change.rows[0].before_us + change.rows[1].before_us, 1700);
  EXPECT_DOUBLE_EQ(change.rows[0].after_us + change.rows[1].after_us, 1700);
  EXPECT_NE(change.rows[0].inputs, change.rows[1].inputs);
}

}  // namespace
}  // namespace suture
