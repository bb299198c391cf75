// From events, in the order of the file, to a Trace.
//
// Any order will do: a kernel may stand before or after the operator that launched it. Kept until the end are 40 bytes for each
// call on the GPU, up to 6 for each launch and 3 for each operator: 6 to 10 MB for a trace of 480 MB. Until the calls are joined, the two
// halves of their ids stand where their operator and their launch will.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/interner.h"
#include "engine/trace.h"

namespace suture {

// Rows of numbers, each number as its difference from the one above it, 7 bits a byte. Rows that differ as the one before did are
// counted: operators that come in the order in which they came before have the next id, and the next path.
template <std::size_t Columns>
class NumberLog {
 public:
  using Row = std::array<std::uint64_t, Columns>;
  void add(const Row& row);
  template <class Take>
  void each(Take take) const;

 private:
  static constexpr std::size_t kLongestNumber = 10;
  struct Chunk {
    std::array<std::uint8_t, 4096> bytes;
    std::size_t size = 0;
  };
  void put(std::uint64_t number);

  // A vector of bytes would hold everything twice for a moment when it grows.
  std::vector<std::unique_ptr<Chunk>> chunks_;
  Row last_{}, difference_{};
  std::uint64_t repeats_ = 0;  // of the difference, not written yet
};

// What tells a thread from others: its pid and its tid as JSON has them. Trace::threads holds these.
void set_thread_key(std::string& key, const TraceEvent& event);

class TraceCollector {
 public:
  // Events of one reading.
  void take(const TraceEvent& event);
  // Whatever it was told, joined. Nothing may be taken afterwards.
  Trace finish();

 private:
  // A call of an operator that may have others inside it.
  struct OpenOp {
    std::int64_t start_ns = 0, end_ns = 0, inside_ns = 0;
    std::uint32_t path = kNone;
  };
  struct Begun {  // "B", until its "E"
    TraceKind kind = TraceKind::other;
    std::uint32_t name = 0;
    std::int64_t start_ns = 0;
    std::uint64_t offset = 0;
  };
  struct Thread {
    std::vector<OpenOp> ops;
    std::vector<Begun> begun;
    std::int64_t last_start = INT64_MIN;
  };
  // What an event's form says (TraceEvent::form), so that its texts are looked up once.
  struct Known {
    std::uint32_t form = 0, thread = 0, stream = 0;
    std::uint32_t what = 0;  // an operator, a work, or whether a launch puts work on the GPU
  };
  static constexpr std::size_t kKnown = 4096;  // by the lower bits of the form
  template <class Find>
  Known known(const TraceEvent& event, Find find);
  std::uint32_t thread_of(const TraceEvent& event);
  std::uint32_t op_of(const TraceEvent& event);
  std::uint32_t work_of(const TraceEvent& event);
  std::uint32_t stream_of(const TraceEvent& event);
  std::uint32_t child(std::uint32_t parent, std::uint32_t op);
  void take_op(const TraceEvent& event);
  void open_op(const TraceEvent& event, std::int64_t end_ns, Thread& thread, std::uint32_t op);
  void close_op(Thread& thread);
  void take_work(const TraceEvent& event);
  void take_launch(const TraceEvent& event);
  void take_span(const TraceEvent& event);
  void begin(const TraceEvent& event);
  void end(const TraceEvent& event);
  void cover(std::int64_t start_ns, std::int64_t end_ns);
  void warn(const std::string& what, std::uint64_t offset);

  void sort_calls();
  void join_ops();
  void join_launches();
  void name_all();

  Interner ops_, works_, threads_, streams_, span_names_;
  std::vector<Thread> open_;  // by thread
  std::unordered_map<std::uint64_t, std::uint32_t> children_;
  std::vector<Known> known_ = std::vector<Known>(kKnown);
  std::pair<std::string, std::uint32_t> last_thread_{"", kNone};
  std::string key_;
  NumberLog<2> op_log_;      // External id, path
  NumberLog<3> launch_log_;  // correlation, start, thread
  bool any_time_ = false;
  Trace trace_;
};

}  // namespace suture
