#include "reference.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace verify {
namespace {

constexpr double kEpsilon = 1.0 / (1 << 23);
constexpr double kBf16 = 1.0 / (1 << 9);

// The slots of a row, decoded: length x 576.
std::vector<double> keys_of(const Case& c, const Plan& plan, const Row& row) {
  double table[256];
  for (int code = 0; code < 256; ++code) table[code] = decode(c.type, static_cast<std::uint8_t>(code));
  std::vector<double> keys;
  keys.reserve(static_cast<std::size_t>(row.length) * kColumns);
  for (std::int32_t j = 0; j < row.length; ++j) {
    const std::int64_t slot = plan.slots[static_cast<std::size_t>(row.start + j)];
    const std::uint8_t* codes = c.pool.data() + slot * kColumns;
    for (int d = 0; d < kColumns; ++d) keys.push_back(table[codes[d]]);
  }
  return keys;
}

// Scores, and the most that any is off by.
struct Scores {
  std::vector<double> values;
  double highest = -std::numeric_limits<double>::infinity();
  double off = 0;
};

Scores scores_of(const Case& c, const std::vector<double>& keys, const std::uint16_t* query) {
  double wide[kColumns];
  for (int d = 0; d < kColumns; ++d) wide[d] = static_cast<double>(float_of_bf16(query[d]));
  const double scale = static_cast<double>(c.scale);
  Scores scores;
  double magnitude = 0;
  double lowest = std::numeric_limits<double>::infinity();
  for (std::size_t at = 0; at < keys.size(); at += kColumns) {
    double sum = 0;
    double absolute = 0;
    for (int d = 0; d < kColumns; ++d) {
      const double product = wide[d] * keys[at + static_cast<std::size_t>(d)];
      sum += product;
      absolute += std::abs(product);
    }
    scores.values.push_back(scale * sum);
    scores.highest = std::max(scores.highest, scale * sum);
    lowest = std::min(lowest, scale * sum);
    magnitude = std::max(magnitude, scale * absolute);
  }
  if (keys.empty()) return scores;
  scores.off = (576 + 36) * kEpsilon * magnitude + 4 * kEpsilon * (scores.highest - lowest) + 4 * kEpsilon;
  return scores;
}

void exact_head(const std::vector<double>& keys, const Scores& scores, int splits, Exact& exact) {
  const std::size_t first = exact.values.size();
  exact.values.resize(first + kValueColumns, 0.0);
  exact.bound.resize(first + kValueColumns, 0.0);
  double total = 0;
  for (std::size_t j = 0; j < scores.values.size(); ++j) {
    const double p = std::exp(scores.values[j] - scores.highest);
    total += p;
    for (std::size_t d = 0; d < kValueColumns; ++d) {
      const double product = p * keys[j * kColumns + d];
      exact.values[first + d] += product;
      exact.bound[first + d] += std::abs(product);
    }
  }
  if (scores.values.empty()) return;
  const double m = static_cast<double>(scores.values.size());
  const double sums = (m + m / 8 + 4 * splits + 8) * kEpsilon;
  const double tolerance = 1.02 * (kBf16 + 2 * scores.off + 2 * sums);
  exact.tolerance = std::max(exact.tolerance, tolerance);
  for (std::size_t d = first; d < first + kValueColumns; ++d) {
    exact.values[d] /= total;
    exact.bound[d] = exact.bound[d] / total * tolerance + 1e-30;
  }
}

void compare_row(const Exact& exact, const float* out, int row, Comparison& comparison, double& error_square,
                 double& square) {
  for (std::size_t i = 0; i < exact.values.size(); ++i) {
    const double got = static_cast<double>(out[i]);
    double error = std::abs(got - exact.values[i]);
    if (std::isnan(error)) error = std::numeric_limits<double>::infinity();
    error_square += error * error;
    square += exact.values[i] * exact.values[i];
    comparison.largest_error = std::max(comparison.largest_error, error);
    // No slots: nothing but zero is right.
    const double share = error == 0            ? 0
                         : exact.bound[i] == 0 ? std::numeric_limits<double>::infinity()
                                               : error / exact.bound[i];
    if (share <= comparison.largest_share) continue;
    comparison.largest_share = share;
    comparison.row = row;
    comparison.head = static_cast<int>(i / kValueColumns);
    comparison.column = static_cast<int>(i % kValueColumns);
    comparison.got = got;
    comparison.want = exact.values[i];
  }
}

}  // namespace

Exact exact_row(const Case& c, const Plan& plan, int row, int splits) {
  const std::vector<double> keys = keys_of(c, plan, plan.rows[static_cast<std::size_t>(row)]);
  Exact exact;
  const std::uint16_t* query =
      c.query.data() + static_cast<std::size_t>(row) * static_cast<std::size_t>(c.heads) * kColumns;
  for (int head = 0; head < c.heads; ++head) {
    exact_head(keys, scores_of(c, keys, query + static_cast<std::ptrdiff_t>(head) * kColumns), splits, exact);
  }
  return exact;
}

Comparison compare(const Case& c, const Plan& plan, const std::vector<float>& output, const std::vector<int>& rows,
                   int splits) {
  Comparison comparison;
  double error_square = 0;
  double square = 0;
  const std::size_t size = static_cast<std::size_t>(c.heads) * kValueColumns;
  for (const int row : rows) {
    const Exact exact = exact_row(c, plan, row, splits);
    comparison.tolerance = std::max(comparison.tolerance, exact.tolerance);
    compare_row(exact, output.data() + static_cast<std::size_t>(row) * size, row, comparison, error_square, square);
  }
  comparison.relative_l2 = square == 0 ? std::sqrt(error_square) : std::sqrt(error_square / square);
  return comparison;
}

}  // namespace verify
