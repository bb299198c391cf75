// What `suture cost` says: words and JSON of a Cost.
#pragma once

#include <string>

#include "engine/cost.h"

namespace suture {

// `from`: where the figures come from, one line; may be empty.
std::string cost_text(const Cost& cost, const std::string& from);
std::string cost_json(const Cost& cost, const std::string& from);
// One sentence on what the cast's share of a step was in the trace and in the server (Amdahl); empty: the step is not known.
std::string share_words(const Cost& cost);

}  // namespace suture
