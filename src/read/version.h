// PEP 440: versions and specifier sets, as `packaging` 24 orders and matches them, with one
// difference that is wanted here: prereleases, dev releases and local builds always count.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace suture {

struct Version {
  std::uint64_t epoch = 0;
  std::vector<std::uint64_t> release;
  std::optional<std::pair<char, std::uint64_t>> pre;  // 'a','b','r'
  std::optional<std::uint64_t> post, dev;
  std::vector<std::string> local;  // lower case parts
  std::string text;                // as written
};

std::optional<Version> parse_version(std::string_view text);
// <0, 0, >0
int compare(const Version& a, const Version& b);

struct Specifier {
  enum class Op { eq, eq_prefix, ne, ne_prefix, ge, le, gt, lt, compatible, arbitrary } op = Op::eq;
  Version version;
  std::string text;
};
struct SpecifierSet {
  std::vector<Specifier> all;  // empty: everything
  [[nodiscard]] bool contains(const Version& version) const;
};
// nullopt and, in *problem, what is wrong with which specifier.
std::optional<SpecifierSet> parse_specifiers(std::string_view text, std::string* problem = nullptr);

// PEP 503: lower case, runs of "-_." are one "-".
std::string normalize_name(std::string_view name);

}  // namespace suture
