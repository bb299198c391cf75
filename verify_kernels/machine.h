// What the checks run on: a machine that casts and attends, on the CPU (cpu_machine.cc) or on a GPU (gpu_machine.cu).
// Both do the same data flow, so that what is planted and what must be caught is written once, in ways.cc and check.cc.
//
// A layer is two launches, a cast and an attention. What a launch gets by value is frozen when a graph is captured; what it
// reads from a buffer is what the buffer holds at the replay. That difference is what the faults live on that are
// planted here, and both machines keep it: a GPU by a captured CUDA graph, the CPU by a stored copy of the launches.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cases.h"

namespace verify {

// The BF16 buffers that hold keys, each of rows of 576 columns.
enum class Keys {
  whole,    // the pool, cast whole
  compact,  // row i: the i-th slot that the step names
  shadow,   // as large as the pool, at the pool's places; only the rows of the step's slots are written
};

// The index buffers.
enum class Ids {
  slots,       // the step's slots; every plan refills it
  sequential,  // 0, 1, 2, ...
  saved,       // what `slots` held when the first plan was made, and never again
};

// Where a cast reads how many slots are named.
enum class Count {
  live,   // a buffer that every plan refills
  saved,  // what it held at the first plan
};

struct CastLaunch {
  Keys to = Keys::whole;
  bool all = false;      // every slot, ids and count unread
  bool compact = false;  // row i of the target is the i-th slot; else the slot's own place
  Ids ids = Ids::slots;
  Count count = Count::live;
  int rows_late = 0;  // planted: written so many rows further on
  int left_out = 0;   // planted: so many of the last slots are left out
  float factor = 1;   // planted: a scale that nobody asked for
};

struct AttentionLaunch {
  Keys keys = Keys::whole;
  Ids ids = Ids::slots;
};

struct Layer {
  CastLaunch cast;
  AttentionLaunch attention;
};

class Machine {
 public:
  virtual ~Machine() = default;

  // Puts the case's pool and query there, makes the buffers for its largest step, and plans `fill`.
  virtual void load(const Case& c) = 0;
  // Refills the buffers `slots`, `count` and the rows of the attention.
  virtual void plan(const Plan& plan) = 0;
  // NaN in every buffer of keys and in the output.
  virtual void poison() = 0;

  virtual void run(const Layer& layer) = 0;
  virtual void capture(const Layer& layer) = 0;
  virtual void replay() = 0;

  // rows x heads x 512 of the output, the first `rows` rows.
  virtual std::vector<float> output(int rows) = 0;
  // The first `rows` rows of the shadow.
  virtual std::vector<std::uint16_t> shadow(std::int64_t rows) = 0;

  // A query row is read in so many pieces, merged at the end; for the bound of the error.
  virtual int splits() const = 0;
};

std::unique_ptr<Machine> make_cpu_machine();

// What is known of the GPU.
struct Gpu {
  std::string name;
  std::string compute_capability;
  std::string driver;
  std::string runtime;
  int multiprocessors = 0;
};

// The GPU that the checks run on. Throws Stop (gpu_errors.h) where there is none that can run them.
Gpu open_gpu();
std::unique_ptr<Machine> make_gpu_machine();

}  // namespace verify
