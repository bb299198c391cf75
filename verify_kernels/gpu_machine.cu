// The data flow on a GPU, and the GPU itself. A graph here is a captured CUDA graph.
#include <algorithm>
#include <numeric>

#include "attention.h"
#include "cast.h"
#include "device.h"
#include "machine.h"

namespace verify {
namespace {

class GpuMachine : public Machine {
 public:
  GpuMachine() {
    int device = 0;
    VERIFY_CUDA(cudaGetDevice(&device));
    VERIFY_CUDA(cudaDeviceGetAttribute(&multiprocessors_, cudaDevAttrMultiProcessorCount, device));
  }

  void load(const Case& c) override {
    case_ = &c;
    graph_ = Graph();
    const std::size_t named = most_slots_named(c);
    const auto slots = static_cast<std::size_t>(c.slots);
    const std::size_t rows = c.fill.rows.size();
    const std::size_t heads_of_rows = rows * static_cast<std::size_t>(c.heads);
    splits_ = splits_for(static_cast<int>(rows), c.heads, longest_row(c), multiprocessors_);
    resize(pool_, c.pool.size());
    pool_.put(c.pool, stream_);
    resize(query_, c.query.size());
    query_.put(c.query, stream_);
    // The compact buffer is no smaller than the pool, so that a wrong index reads poison and not somebody's memory; one
    // more row each for the cast that is planted to be late.
    resize(whole_, (slots + 1) * kColumns);
    resize(shadow_, (slots + 1) * kColumns);
    resize(compact_, (std::max(named, slots) + 1) * kColumns);
    for (DeviceBuffer<std::int32_t>* ids : {&slots_, &sequential_, &saved_}) resize(*ids, named);
    resize(count_, 1);
    resize(saved_count_, 1);
    resize(rows_, rows);
    resize(partial_, heads_of_rows * static_cast<std::size_t>(splits_) * kValueColumns);
    resize(state_, heads_of_rows * static_cast<std::size_t>(splits_));
    resize(output_, heads_of_rows * kValueColumns);
    fill_indices(c, named);
  }

  void plan(const Plan& plan) override {
    slots_.put(plan.slots, stream_);
    count_.put({static_cast<std::int32_t>(plan.slots.size())}, stream_);
    rows_.put(plan.rows, stream_);
  }

  void poison() override {
    for (DeviceBuffer<std::uint16_t>* keys : {&whole_, &compact_, &shadow_}) keys->poison(stream_);
    output_.poison(stream_);
    partial_.poison(stream_);
  }

  void run(const Layer& layer) override {
    issue(layer);
    stream_.wait();
  }

  void capture(const Layer& layer) override {
    graph_ = Graph(stream_, [this, &layer] { issue(layer); });
  }

  void replay() override {
    graph_.launch(stream_);
    stream_.wait();
  }

  std::vector<float> output(int rows) override {
    return output_.get(static_cast<std::size_t>(rows) * static_cast<std::size_t>(case_->heads) * kValueColumns,
                       stream_);
  }

  std::vector<std::uint16_t> shadow(std::int64_t rows) override {
    return shadow_.get(static_cast<std::size_t>(rows) * kColumns, stream_);
  }

  int splits() const override { return splits_; }

 private:
  // Kept from case to case where it is just as large; else freed before the next is made.
  template <typename T>
  static void resize(DeviceBuffer<T>& buffer, std::size_t count) {
    if (buffer.size() == count) return;
    buffer = DeviceBuffer<T>();
    buffer = DeviceBuffer<T>(count);
  }

  static int longest_row(const Case& c) {
    int longest = 0;
    for (const Plan& step : c.steps) {
      for (const Row& row : step.rows) longest = std::max(longest, row.length);
    }
    return longest;
  }

  void fill_indices(const Case& c, std::size_t named) {
    std::vector<std::int32_t> ids(named);
    std::iota(ids.begin(), ids.end(), 0);
    sequential_.put(ids, stream_);
    slots_.put(std::vector<std::int32_t>(named, 0), stream_);
    plan(c.fill);
    saved_.put(slots_.get(named, stream_), stream_);
    saved_count_.put(count_.get(1, stream_), stream_);
  }

  DeviceBuffer<std::uint16_t>& buffer(Keys keys) {
    return keys == Keys::whole ? whole_ : keys == Keys::compact ? compact_ : shadow_;
  }
  DeviceBuffer<std::int32_t>& ids(Ids which) {
    return which == Ids::slots ? slots_ : which == Ids::sequential ? sequential_ : saved_;
  }

  void issue(const Layer& layer) {
    const CastLaunch& cast = layer.cast;
    const DeviceBuffer<std::int32_t>& named = ids(cast.ids);
    const CastArguments arguments{
        .pool = pool_.data(),
        .target = buffer(cast.to).data(),
        .ids = named.data(),
        .count = (cast.count == Count::live ? count_ : saved_count_).data(),
        .ids_size = static_cast<std::int32_t>(named.size()),
        .slots = static_cast<std::int32_t>(case_->slots),
        .all = cast.all,
        .compact = cast.compact,
        .rows_late = cast.rows_late,
        .left_out = cast.left_out,
        .factor = cast.factor,
    };
    launch_cast(arguments, case_->type, cast.factor == 1 ? Move::convert : Move::scaled, default_cast_shape(),
                multiprocessors_, stream_);
    launch_attention({.keys = buffer(layer.attention.keys).data(),
                      .ids = ids(layer.attention.ids).data(),
                      .rows = rows_.data(),
                      .query = query_.data(),
                      .partial = partial_.data(),
                      .state = state_.data(),
                      .output = output_.data(),
                      .row_count = static_cast<int>(rows_.size()),
                      .heads = case_->heads,
                      .splits = splits_,
                      .scale = case_->scale},
                     stream_);
  }

  const Case* case_ = nullptr;
  int multiprocessors_ = 0;
  int splits_ = 1;
  Stream stream_;
  Graph graph_;
  DeviceBuffer<std::uint8_t> pool_;
  DeviceBuffer<std::uint16_t> query_, whole_, compact_, shadow_;
  DeviceBuffer<std::int32_t> slots_, sequential_, saved_, count_, saved_count_;
  DeviceBuffer<Row> rows_;
  DeviceBuffer<float> partial_, output_;
  DeviceBuffer<float2> state_;
};

// The driver, before any other call: without one, the runtime says that it is too old.
void check_driver(int driver, int runtime) {
  if (driver == 0) throw no_driver();
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error == cudaErrorInsufficientDriver) throw driver_too_old(driver, runtime);
  if (error == cudaErrorNoDevice || (error == cudaSuccess && count == 0)) throw no_gpu();
  cuda_check(error, "cudaGetDeviceCount");
}

}  // namespace

Gpu open_gpu() {
  int driver = 0;
  int runtime = 0;
  cudaDriverGetVersion(&driver);
  cudaRuntimeGetVersion(&runtime);
  check_driver(driver, runtime);
  cudaDeviceProp properties;
  VERIFY_CUDA(cudaGetDeviceProperties(&properties, 0));
  VERIFY_CUDA(cudaSetDevice(0));
  const std::string capability = std::to_string(properties.major) + "." + std::to_string(properties.minor);
  if (properties.major < 8) throw gpu_too_old(properties.name, capability);
  const cudaError_t code = cast_has_code();
  if (code == cudaErrorNoKernelImageForDevice || code == cudaErrorInvalidDeviceFunction) {
    throw no_code_for(properties.name, capability);
  }
  // The driver compiles the PTX of this build, and is older than it.
  if (code == cudaErrorUnsupportedPtxVersion) throw driver_too_old(driver, runtime);
  cuda_check(code, "cudaFuncGetAttributes");
  return {properties.name, capability, cuda_version(driver), cuda_version(runtime), properties.multiProcessorCount};
}

std::unique_ptr<Machine> make_gpu_machine() {
  return std::make_unique<GpuMachine>();
}

}  // namespace verify
