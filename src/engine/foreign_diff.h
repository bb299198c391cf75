// What somebody changed in a file, as far as suture knows what it was: the bytes that it left there itself. RECORD has
// only a hash of what was shipped.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/source.h"
#include "engine/state.h"

namespace suture {

struct ForeignDiff {
  std::string text;  // unified; empty where nothing of it is near
  std::string note;  // what was left out of it; empty: nothing
};

// From the bytes that suture left to those that are there, in hunks that touch `near` (ranges of the present bytes; none:
// all hunks). nullopt: no receipt has the bytes.
std::optional<ForeignDiff> foreign_diff(const TreeState& state, const std::string& path,
                                        const std::vector<Range>& near);

}  // namespace suture
