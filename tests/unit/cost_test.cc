// The published case, figure by figure, and what each way needs.
#include "engine/cost.h"

#include <gtest/gtest.h>

#include "shell/cost_text.h"

namespace suture {
namespace {

using Kind = WayOut::Kind;

CostCase published() {
  return {.slots = 495'552, .columns = 576, .layers = 78, .active = 500};
}
const WayOut& way(const Cost& cost, Kind kind) {
  return cost.ways.at(static_cast<std::size_t>(kind));
}

TEST(Cost, ThePublishedBytes) {
  const Cost cost = cost_of(published());
  EXPECT_EQ(way(cost, Kind::whole_cast).layer_bytes, 856'313'856);  // 856.3 MB
  EXPECT_NEAR(static_cast<double>(way(cost, Kind::whole_cast).step_bytes), 66.8e9, 0.05e9);
  EXPECT_NEAR(static_cast<double>(cost.wide_pool_bytes), 44.5e9, 0.05e9);                // a BF16 pool
  EXPECT_EQ(way(cost, Kind::shadow_of_every_layer).memory_bytes, cost.wide_pool_bytes);  // or a shadow of every layer
  EXPECT_EQ(way(cost, Kind::active_slots).layer_bytes, 864'000);                         // 0.864 MB
  EXPECT_NEAR(static_cast<double>(way(cost, Kind::active_slots).memory_bytes), 571e6, 0.5e6);
  EXPECT_EQ(way(cost, Kind::native_fp8).memory_bytes, 0);
  EXPECT_FALSE(way(cost, Kind::whole_cast).step_ms);
}

TEST(Cost, ThePublishedTimes) {
  CostCase of = published();
  of.cast_us = 828;
  of.step_ms = 95.6;
  of.after_ms = 74.1;
  const Cost cost = cost_of(of);
  EXPECT_NEAR(*cost.cast_step_ms, 64.6, 0.05);
  EXPECT_NEAR(*cost.best_step_ms, 31.0, 0.05);
  EXPECT_NEAR(*cost.trace_share, 0.676, 0.0005);
  EXPECT_NEAR(*cost.server_share, 0.225, 0.0005);
  const std::string words = share_words(cost);
  for (const char* part : {"64.6 of 95.6 ms", "67.6 %", "95.6 to 74.1 ms and not to 31.0", "22.5 %"})
    EXPECT_NE(words.find(part), std::string::npos) << words;
  EXPECT_EQ(words.find(". "), std::string::npos) << "one sentence: " << words;
}

TEST(Cost, BreakEven) {
  const Cost cost = cost_of(published());
  EXPECT_EQ(way(cost, Kind::active_slots).break_even, 495'552);
  EXPECT_EQ(way(cost, Kind::gather_then_cast).break_even, 297'331);
  CostCase all = published();
  all.active = 770'016;  // shared prefixes: more rows named than there are
  const Cost crowded = cost_of(all);
  EXPECT_EQ(way(crowded, Kind::active_slots).layer_bytes, way(crowded, Kind::whole_cast).layer_bytes);
  EXPECT_GT(way(crowded, Kind::gather_then_cast).layer_bytes, way(crowded, Kind::whole_cast).layer_bytes);
}

TEST(Cost, BandwidthAndRoom) {
  CostCase of = published();
  of.gigabytes_a_second = 1000;
  of.memory_bytes = 20e9;
  const Cost cost = cost_of(of);
  EXPECT_NEAR(*way(cost, Kind::whole_cast).step_ms, 66.79, 0.01);
  EXPECT_EQ(way(cost, Kind::active_slots).fits, true);
  EXPECT_EQ(way(cost, Kind::shadow_of_every_layer).fits, false);
  EXPECT_EQ(way(cost, Kind::wide_pool).fits, false);
}

TEST(Cost, APoolWithoutACast) {
  CostCase of = published();
  of.pool_size = of.query_size;
  const Cost cost = cost_of(of);
  EXPECT_TRUE(cost.ways.empty());
  EXPECT_FALSE(cost.cast_step_ms);
  EXPECT_EQ(cost.wide_pool_bytes, 44'528'320'512);
  EXPECT_NE(cost_text(cost, "").find("there is no cast"), std::string::npos);
}

TEST(Cost, WhatDoesNotFitTheKernels) {
  CostCase of = published();
  of.columns = 584;
  EXPECT_NE(way(cost_of(of), Kind::active_slots).unfit, "");
  EXPECT_NE(way(cost_of(of), Kind::native_fp8).unfit, "");
  of = published();
  of.e4m3 = false;
  EXPECT_NE(way(cost_of(of), Kind::native_fp8).unfit, "");
  EXPECT_EQ(way(cost_of(of), Kind::active_slots).unfit, "");
}

}  // namespace
}  // namespace suture
