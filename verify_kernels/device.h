// CUDA calls that throw Stop, and memory that frees itself. Included by .cu files alone.
#pragma once

#include <cuda_runtime.h>

#include <utility>
#include <vector>

#include "gpu_errors.h"

namespace verify {

inline void cuda_check(cudaError_t error, const char* call) {
  if (error == cudaSuccess) return;
  if (error == cudaErrorMemoryAllocation) throw gpu_out_of_memory(call);
  throw cuda_failed(call, cudaGetErrorString(error));
}
#define VERIFY_CUDA(call) ::verify::cuda_check((call), #call)

template <typename T>
class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  explicit DeviceBuffer(std::size_t count) : count_(count) {
    const cudaError_t error = cudaMalloc(&data_, bytes());
    if (error == cudaSuccess) return;
    std::size_t free = 0;
    std::size_t total = 0;
    cudaGetLastError();
    cudaMemGetInfo(&free, &total);
    if (error == cudaErrorMemoryAllocation) throw gpu_out_of_memory(bytes(), free, total);
    cuda_check(error, "cudaMalloc");
  }
  DeviceBuffer(DeviceBuffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), count_(std::exchange(other.count_, 0)) {}
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(count_, other.count_);
    return *this;
  }
  ~DeviceBuffer() { cudaFree(data_); }

  T* data() const { return static_cast<T*>(data_); }
  std::size_t size() const { return count_; }

  // Waits for it: the source may go at once.
  void put(const std::vector<T>& values, cudaStream_t stream) {
    if (values.empty()) return;
    VERIFY_CUDA(cudaMemcpyAsync(data_, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice, stream));
    VERIFY_CUDA(cudaStreamSynchronize(stream));
  }
  std::vector<T> get(std::size_t count, cudaStream_t stream) const {
    std::vector<T> values(count);
    VERIFY_CUDA(cudaMemcpyAsync(values.data(), data_, count * sizeof(T), cudaMemcpyDeviceToHost, stream));
    VERIFY_CUDA(cudaStreamSynchronize(stream));
    return values;
  }
  // All bits set: a NaN in BF16 and in float.
  void poison(cudaStream_t stream) { VERIFY_CUDA(cudaMemsetAsync(data_, 0xff, bytes(), stream)); }

 private:
  // Nothing has no address in CUDA; a kernel may get one.
  std::size_t bytes() const { return (count_ == 0 ? 1 : count_) * sizeof(T); }

  void* data_ = nullptr;
  std::size_t count_ = 0;
};

// A stream and, on it, a graph that is captured once and replayed.
class Stream {
 public:
  Stream() { VERIFY_CUDA(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)); }
  ~Stream() { cudaStreamDestroy(stream_); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  operator cudaStream_t() const { return stream_; }
  void wait() const { VERIFY_CUDA(cudaStreamSynchronize(stream_)); }

 private:
  cudaStream_t stream_ = nullptr;
};

class Graph {
 public:
  Graph() = default;
  // What `issue` launches on the stream is captured, not run.
  template <typename Issue>
  Graph(cudaStream_t stream, Issue issue) {
    VERIFY_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    issue();
    cudaGraph_t graph = nullptr;
    VERIFY_CUDA(cudaStreamEndCapture(stream, &graph));
    const cudaError_t error = cudaGraphInstantiate(&exec_, graph, 0);
    cudaGraphDestroy(graph);
    cuda_check(error, "cudaGraphInstantiate");
  }
  Graph(Graph&& other) noexcept : exec_(std::exchange(other.exec_, nullptr)) {}
  Graph& operator=(Graph&& other) noexcept {
    std::swap(exec_, other.exec_);
    return *this;
  }
  ~Graph() {
    if (exec_ != nullptr) cudaGraphExecDestroy(exec_);
  }
  void launch(cudaStream_t stream) const { VERIFY_CUDA(cudaGraphLaunch(exec_, stream)); }

 private:
  cudaGraphExec_t exec_ = nullptr;
};

}  // namespace verify
