// MLA attention in double precision, with a bound of what BF16 and float may make of it.
//
// The bound is derived, not tuned. Of one head of one query row, with probabilities p_j, keys k_j, values v_j, and
// A = sum_j p_j |v_j| (per column):
//   - Keys, values and queries are BF16 numbers, and the cast of either FP8 type to BF16 is exact: no term for them.
//   - A score is scale * sum of 576 exact products. Tensor cores may truncate where a float rounds: 2^-23 for each of the
//     n = 576 + 36 additions, so it is off by at most d = n 2^-23 scale sum |q k|, taken over the worst key.
//     Its use as exp2(s - max) adds 4 2^-23 |s - max| for the two roundings of the argument, and exp2 itself 2^-21.
//     p_j before the division is off by a factor 1 + e,   e = d + 4 2^-23 max |s - max| + 2^-21.
//   - p_j is rounded to BF16 for the product with v: 2^-9, the one large term. The sum of p is taken unrounded.
//   - Sums over the m slots of a row: 2^-23 for each addition and each rescaling, in each tile of 16 and each split:
//     c = (m + m / 8 + 4 splits + 8) 2^-23.
//   So |error| <= A (2^-9 + e + c) + |out| (e + c) <= A (2^-9 + 2 e + 2 c), to first order; 1.02 covers the rest.
// A padding row, and what p's underflow loses, is below 1e-30.
#pragma once

#include <vector>

#include "cases.h"

namespace verify {

struct Exact {
  std::vector<double> values;  // heads x 512
  std::vector<double> bound;   // of each
  double tolerance = 0;        // the largest of bound / A over the heads, a property of the type and the shape
};

// One query row of a step.
Exact exact_row(const Case& c, const Plan& plan, int row, int splits);

// What a whole result differs by.
struct Comparison {
  double largest_error = 0;  // absolute
  double largest_share = 0;  // error / bound
  double relative_l2 = 0;    // ||out - exact|| / ||exact||
  double tolerance = 0;
  int row = 0, head = 0, column = 0;  // where the share is largest
  double got = 0, want = 0;           // there
};

// `output`: rows x heads x 512. `rows`: which of them to compare.
Comparison compare(const Case& c, const Plan& plan, const std::vector<float>& output, const std::vector<int>& rows,
                   int splits);

}  // namespace verify
