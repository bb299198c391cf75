// What `suture verify --backend` says: the answer of the harness in words, and the exit code it comes to.
#pragma once

#include <string>

#include "effects/backend_check.h"

namespace suture {

// One line a path, the table of the steps, the memory; data, for stdout.
std::string backend_text(const BackendAnswer& answer);

// Why it is no pass; nullopt: every path that the release has is equal, but for those that could not run beside the
// four that every release has (eager and graph decode, paged extend, the pool of the query's dtype).
std::optional<Error> backend_problem(const BackendAnswer& answer);

// "14 paths and 8 steps are equal bit for bit; 1 path did not run"
std::string backend_summary(const BackendAnswer& answer);

}  // namespace suture
