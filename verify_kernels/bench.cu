// Times: graphs of all layers, replayed; medians of CUDA events.
#include "bench.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "attention.h"
#include "cast.h"
#include "device.h"
#include "ways.h"

namespace verify {
namespace {

constexpr int kWarmUps = 3;
constexpr int kSweepReplays = 7;
constexpr std::int64_t kFew = 10'000;  // slots

// Codes of all magnitudes below 2, as in cases.cc, without the host.
__global__ void fill_codes(std::uint8_t* codes, std::size_t size, std::uint32_t seed) {
  const std::size_t stride = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  for (std::size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < size; i += stride) {
    std::uint32_t z = static_cast<std::uint32_t>(i) * 0x9e3779b9u + seed;
    z = (z ^ (z >> 16)) * 0x85ebca6bu;
    z = (z ^ (z >> 13)) * 0xc2b2ae35u;
    codes[i] = static_cast<std::uint8_t>((z ^ (z >> 16)) & 0xbf);
  }
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

class Clock {
 public:
  Clock() {
    VERIFY_CUDA(cudaEventCreate(&begin_));
    VERIFY_CUDA(cudaEventCreate(&end_));
  }
  ~Clock() {
    cudaEventDestroy(begin_);
    cudaEventDestroy(end_);
  }
  Clock(const Clock&) = delete;
  Clock& operator=(const Clock&) = delete;

  double microseconds(const Graph& graph, cudaStream_t stream) {
    VERIFY_CUDA(cudaEventRecord(begin_, stream));
    graph.launch(stream);
    VERIFY_CUDA(cudaEventRecord(end_, stream));
    VERIFY_CUDA(cudaEventSynchronize(end_));
    float milliseconds = 0;
    VERIFY_CUDA(cudaEventElapsedTime(&milliseconds, begin_, end_));
    return 1000.0 * static_cast<double>(milliseconds);
  }

 private:
  cudaEvent_t begin_ = nullptr;
  cudaEvent_t end_ = nullptr;
};

class Bencher {
 public:
  Bencher(const BenchOptions& options, const std::function<void(const std::string&)>& tell)
      : options_(options), tell_(tell), random_(options.seed), slots_(static_cast<std::int32_t>(options.slots)) {
    int device = 0;
    VERIFY_CUDA(cudaGetDevice(&device));
    VERIFY_CUDA(cudaDeviceGetAttribute(&multiprocessors_, cudaDevAttrMultiProcessorCount, device));
    const std::size_t columns = static_cast<std::size_t>(options.slots) * kColumns;
    for (auto* keys : {&whole_, &compact_, &shadow_}) *keys = DeviceBuffer<std::uint16_t>(columns);
    for (auto* ids : {&ids_, &sequential_}) *ids = DeviceBuffer<std::int32_t>(static_cast<std::size_t>(options.slots));
    count_ = DeviceBuffer<std::int32_t>(1);
    make_pools(columns);
    std::vector<std::int32_t> in_order(static_cast<std::size_t>(options.slots));
    for (std::size_t i = 0; i < in_order.size(); ++i) in_order[i] = static_cast<std::int32_t>(i);
    sequential_.put(in_order, stream_);
  }

  Bench run() {
    Bench bench;
    bench.copy_gb_s = copy_bandwidth();
    bench.whole_us =
        time([this](int layer) { cast(layer, Way::whole, Move::convert, default_cast_shape()); }, options_.repeats);
    for (const std::int64_t wanted : {500, 8192, 131072, 495552}) {
      const std::int64_t count = std::min(wanted, options_.slots);
      for (const char* order : {"slot order", "scattered", "pages of 64"})
        bench.casts.push_back(cast_time(count, order));
      if (count == options_.slots) break;
    }
    choose_one_shape(bench);
    for (const int heads : {16, 128}) {
      for (const auto& [requests, length] :
           {std::pair<int, std::int64_t>{1, 500}, {8, 1024}, {64, 2048}, {64, options_.slots / 64}}) {
        if (requests * length <= options_.slots) bench.layers.push_back(layer_time(requests, length, heads));
      }
    }
    return bench;
  }

 private:
  // A pool a layer, as many as fit beside what attention needs.
  void make_pools(std::size_t columns) {
    std::size_t free = 0;
    std::size_t total = 0;
    VERIFY_CUDA(cudaMemGetInfo(&free, &total));
    const std::size_t fit = free / 2 / columns;
    const auto pools = std::clamp<std::size_t>(fit, 1, static_cast<std::size_t>(options_.layers));
    for (std::size_t i = 0; i < pools; ++i) {
      pools_.emplace_back(columns);
      fill_codes<<<1024, 256, 0, stream_>>>(pools_.back().data(), columns,
                                            static_cast<std::uint32_t>(options_.seed + 77 * i));
      VERIFY_CUDA(cudaGetLastError());
    }
    stream_.wait();
  }

  template <typename Issue>
  Graph graph_of(Issue issue, int layers) {
    issue(0);  // loads the module before the capture
    stream_.wait();
    return Graph(stream_, [&] {
      for (int layer = 0; layer < layers; ++layer) issue(layer);
    });
  }

  // Microseconds a layer.
  template <typename Issue>
  double time(Issue issue, int repeats, int layers = 0) {
    if (layers == 0) layers = options_.layers;
    const Graph graph = graph_of(issue, layers);
    std::vector<double> times;
    for (int i = 0; i < kWarmUps; ++i) clock_.microseconds(graph, stream_);
    for (int i = 0; i < repeats; ++i) times.push_back(clock_.microseconds(graph, stream_) / layers);
    return median(times);
  }

  double copy_bandwidth() {
    const std::size_t bytes = static_cast<std::size_t>(options_.slots) * kColumns * 2;
    const double us = time(
        [this, bytes](int) {
          VERIFY_CUDA(cudaMemcpyAsync(whole_.data(), compact_.data(), bytes, cudaMemcpyDeviceToDevice, stream_));
        },
        options_.repeats, 4);
    return 2 * static_cast<double>(bytes) / us / 1000;
  }

  void cast(int layer, Way way, Move move, const CastShape& shape) {
    DeviceBuffer<std::uint16_t>& target = way == Way::whole ? whole_ : way == Way::gather ? compact_ : shadow_;
    launch_cast({.pool = pools_[static_cast<std::size_t>(layer) % pools_.size()].data(),
                 .target = target.data(),
                 .ids = ids_.data(),
                 .count = count_.data(),
                 .ids_size = slots_,
                 .slots = slots_,
                 .all = way == Way::whole,
                 .compact = way == Way::gather,
                 .rows_late = 0,
                 .left_out = 0,
                 .factor = 1},
                Fp8::e4m3fn, move, shape, multiprocessors_, stream_);
  }

  void name_slots(std::int64_t count, const std::string& order) {
    std::vector<std::int32_t> ids = shuffled(options_.slots, random_);
    if (order == "pages of 64") {
      const std::vector<std::int32_t> pages = shuffled(options_.slots / 64, random_);
      for (std::size_t i = 0; i < pages.size() * 64; ++i)
        ids[i] = pages[i / 64] * 64 + static_cast<std::int32_t>(i % 64);
    }
    if (order == "slot order") std::sort(ids.begin(), ids.begin() + count);
    ids_.put(ids, stream_);
    count_.put({static_cast<std::int32_t>(count)}, stream_);
  }

  // The time of every shape for the slots that are named now.
  std::vector<double> sweep(std::int64_t count, Move move) {
    std::vector<double> times;
    for (const CastShape& shape : cast_shapes()) {
      times.push_back(time([this, move, &shape](int layer) { cast(layer, Way::shadow, move, shape); }, kSweepReplays,
                           layers_for(count)));
    }
    return times;
  }

  static CastShape best_of(const std::vector<double>& times) {
    return cast_shapes()[static_cast<std::size_t>(std::min_element(times.begin(), times.end()) - times.begin())];
  }

  void note_ratios(const std::vector<double>& times) {
    const double best = *std::min_element(times.begin(), times.end());
    worst_ratios_.resize(times.size(), 0.0);
    for (std::size_t i = 0; i < times.size(); ++i) worst_ratios_[i] = std::max(worst_ratios_[i], times[i] / best);
  }

  void choose_one_shape(Bench& bench) const {
    bench.one_shape = best_of(worst_ratios_).name;
    bench.one_shape_ratio = *std::min_element(worst_ratios_.begin(), worst_ratios_.end());
  }

  // A graph of few slots has more layers, for its start is in the time.
  int layers_for(std::int64_t count) const { return options_.layers * (count < kFew ? 8 : 1); }

  // The replays of the three take turns, so that what the GPU does meanwhile meets all alike; of few slots there are more,
  // for there a median of 50 still moves by a per cent.
  CastTime cast_time(std::int64_t count, const std::string& order) {
    name_slots(count, order);
    const std::vector<double> swept = sweep(count, Move::convert);
    note_ratios(swept);
    const CastShape shapes[3] = {best_of(swept), best_of(sweep(count, Move::none)), default_cast_shape()};
    const Move moves[3] = {Move::convert, Move::none, Move::convert};
    const int layers = layers_for(count);
    const int repeats = options_.repeats * (count < kFew ? 8 : 1);
    Graph graphs[3];
    std::vector<double> times[3];
    for (int i = 0; i < 3; ++i) {
      graphs[i] = graph_of([&, i](int layer) { cast(layer, Way::shadow, moves[i], shapes[i]); }, layers);
    }
    for (int replay = 0; replay < kWarmUps + repeats; ++replay) {
      for (int i = 0; i < 3; ++i) {
        const double us = clock_.microseconds(graphs[i], stream_) / layers;
        if (replay >= kWarmUps) times[i].push_back(us);
      }
    }
    const double bytes = static_cast<double>(count) * kColumns * 3;
    tell_("  timed: " + std::to_string(count) + " slots, " + order + "\n");
    return {count, order, shapes[0].name, shapes[1].name, median(times[0]), median(times[1]), median(times[2]), bytes};
  }

  LayerTime layer_time(int requests, std::int64_t length, int heads) {
    const std::int64_t named = requests * length;
    name_slots(named, "scattered");
    std::vector<Row> rows;
    for (int i = 0; i < requests; ++i) {
      rows.push_back({static_cast<std::int32_t>(i * length), static_cast<std::int32_t>(length)});
    }
    const std::size_t heads_of_rows = static_cast<std::size_t>(requests) * static_cast<std::size_t>(heads);
    const int splits = splits_for(requests, heads, static_cast<int>(length), multiprocessors_);
    DeviceBuffer<Row> row_buffer(rows.size());
    row_buffer.put(rows, stream_);
    DeviceBuffer<std::uint16_t> query(heads_of_rows * kColumns);
    std::vector<std::uint16_t> queries(query.size());
    for (std::uint16_t& bits : queries) bits = bf16_of(static_cast<float>(random_.between(-4, 4)));
    query.put(queries, stream_);
    DeviceBuffer<float> partial(heads_of_rows * static_cast<std::size_t>(splits) * kValueColumns);
    DeviceBuffer<float2> state(heads_of_rows * static_cast<std::size_t>(splits));
    DeviceBuffer<float> output(heads_of_rows * kValueColumns);

    LayerTime result;
    result.batch = std::to_string(requests) + " x " + std::to_string(length);
    result.heads = heads;
    result.slots = named;
    for (const Way way : kWays) {
      const auto i = static_cast<std::size_t>(way);
      result.cast_us[i] =
          time([this, way](int layer) { cast(layer, way, Move::convert, default_cast_shape()); }, options_.repeats);
      const AttentionArguments arguments{.keys = (way == Way::whole    ? whole_
                                                  : way == Way::gather ? compact_
                                                                       : shadow_)
                                                     .data(),
                                         .ids = (way == Way::gather ? sequential_ : ids_).data(),
                                         .rows = row_buffer.data(),
                                         .query = query.data(),
                                         .partial = partial.data(),
                                         .state = state.data(),
                                         .output = output.data(),
                                         .row_count = requests,
                                         .heads = heads,
                                         .splits = splits,
                                         .scale = static_cast<float>(1 / std::sqrt(192.0))};
      result.attention_us[i] =
          time([this, &arguments](int) { launch_attention(arguments, stream_); }, std::min(options_.repeats, 11), 4);
    }
    return result;
  }

  const BenchOptions options_;
  const std::function<void(const std::string&)>& tell_;
  Random random_;
  std::int32_t slots_;
  int multiprocessors_ = 0;
  Stream stream_;
  Clock clock_;
  std::vector<double> worst_ratios_;  // of each shape, over what was swept so far
  DeviceBuffer<std::uint16_t> whole_, compact_, shadow_;
  DeviceBuffer<std::int32_t> ids_, sequential_, count_;
  std::vector<DeviceBuffer<std::uint8_t>> pools_;
};

}  // namespace

Bench run_bench(const BenchOptions& options, const std::function<void(const std::string&)>& tell) {
  return Bencher(options, tell).run();
}

}  // namespace verify
