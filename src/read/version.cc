// PEP 440, by a scanner of our own. std::regex was rejected: it is slow and overflows the stack on long input.
//
// A separator that may stand before a number ("1.0a-1", "1.0a-") is consumed greedily, as the regular expression of
// `packaging` does. The two agree on the table of tests/unit/version_test.cc and on 400,000 random rows from its
// generator. One difference is wanted: `~=` takes its prefix from the release number, where packaging takes it from
// the text as written, so that there "~=v1.0" holds for nothing.
#include "read/version.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "base/text.h"

namespace suture {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_alnum(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z');
}
bool is_separator(char c) {
  return c == '-' || c == '_' || c == '.';
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

// --- Reading ----------------------------------------------------------------

class Scanner {
 public:
  explicit Scanner(std::string_view text) : rest_(text) {}

  [[nodiscard]] bool done() const { return rest_.empty(); }

  bool take(std::string_view word) {
    if (rest_.substr(0, word.size()) != word) return false;
    rest_.remove_prefix(word.size());
    return true;
  }

  bool take_separator() {
    const bool there = !rest_.empty() && is_separator(rest_.front());
    if (there) rest_.remove_prefix(1);
    return there;
  }

  // Digits; nullopt where there are none or they are more than 64 bits hold (no released version has such).
  std::optional<std::uint64_t> number() {
    std::uint64_t value = 0;
    std::size_t length = 0;
    for (; length < rest_.size() && is_digit(rest_[length]); ++length) {
      const auto digit = static_cast<std::uint64_t>(rest_[length] - '0');
      if (value > (std::numeric_limits<std::uint64_t>::max() - digit) / 10) return std::nullopt;
      value = value * 10 + digit;
    }
    if (length == 0) return std::nullopt;
    rest_.remove_prefix(length);
    return value;
  }

  std::string_view alnum() {
    const auto end = std::find_if_not(rest_.begin(), rest_.end(), is_alnum);
    const std::string_view word = rest_.substr(0, static_cast<std::size_t>(end - rest_.begin()));
    rest_.remove_prefix(word.size());
    return word;
  }

  // "[-_.]?WORD": nothing is consumed where the word is not there.
  template <std::size_t N>
  std::optional<std::size_t> labelled(const std::array<std::string_view, N>& words) {
    const std::string_view before = rest_;
    take_separator();
    for (std::size_t i = 0; i < N; ++i) {
      if (take(words[i])) return i;
    }
    rest_ = before;
    return std::nullopt;
  }

  // "[-_.]?[0-9]*" after a label: 0 where there is no number.
  std::optional<std::uint64_t> optional_number() {
    take_separator();
    return rest_.empty() || !is_digit(rest_.front()) ? std::optional<std::uint64_t>(0) : number();
  }

  [[nodiscard]] std::string_view rest() const { return rest_; }

 private:
  std::string_view rest_;
};

constexpr std::array<std::string_view, 8> kPre = {"alpha", "a", "beta", "b", "preview", "pre", "c", "rc"};
constexpr std::array<char, 8> kPreLetter = {'a', 'a', 'b', 'b', 'r', 'r', 'r', 'r'};
constexpr std::array<std::string_view, 3> kPost = {"post", "rev", "r"};
constexpr std::array<std::string_view, 1> kDev = {"dev"};

bool read_epoch_and_release(Scanner& scanner, Version& version) {
  std::optional<std::uint64_t> number = scanner.number();
  if (number && scanner.take("!")) {
    version.epoch = *number;
    number = scanner.number();
  }
  if (!number) return false;
  version.release.push_back(*number);
  while (scanner.rest().size() > 1 && scanner.rest()[0] == '.' && is_digit(scanner.rest()[1])) {
    scanner.take(".");
    number = scanner.number();
    if (!number) return false;
    version.release.push_back(*number);
  }
  return true;
}

bool read_suffixes(Scanner& scanner, Version& version) {
  if (const auto label = scanner.labelled(kPre)) {
    const auto number = scanner.optional_number();
    if (!number) return false;
    version.pre = {kPreLetter[*label], *number};
  }
  const bool implicit_post = scanner.rest().size() > 1 && scanner.rest()[0] == '-' && is_digit(scanner.rest()[1]);
  if (implicit_post) {
    scanner.take("-");
    version.post = scanner.number();
    if (!version.post) return false;
  } else if (scanner.labelled(kPost)) {
    version.post = scanner.optional_number();
    if (!version.post) return false;
  }
  if (scanner.labelled(kDev)) {
    version.dev = scanner.optional_number();
    if (!version.dev) return false;
  }
  return true;
}

std::string without_leading_zeros(std::string_view part) {
  if (!std::all_of(part.begin(), part.end(), is_digit)) return std::string(part);
  part.remove_prefix(std::min(part.find_first_not_of('0'), part.size() - 1));
  return std::string(part);
}

bool read_local(Scanner& scanner, Version& version) {
  if (!scanner.take("+")) return true;
  do {
    const std::string_view part = scanner.alnum();
    if (part.empty()) return false;
    version.local.push_back(without_leading_zeros(part));
  } while (scanner.take_separator());
  return true;
}

// --- Order ------------------------------------------------------------------

int order(std::uint64_t a, std::uint64_t b) {
  return a < b ? -1 : a > b ? 1 : 0;
}

int compare_release(const Version& a, const Version& b) {
  const std::size_t length = std::max(a.release.size(), b.release.size());
  for (std::size_t i = 0; i < length; ++i) {
    const std::uint64_t x = i < a.release.size() ? a.release[i] : 0;
    const std::uint64_t y = i < b.release.size() ? b.release[i] : 0;
    if (x != y) return order(x, y);
  }
  return 0;
}

// A dev release without a pre or post part comes before every pre-release, a release without a pre part after.
std::pair<int, std::uint64_t> pre_key(const Version& v) {
  if (v.pre) return {v.pre->first, v.pre->second};
  const bool dev_only = !v.post && v.dev;
  return {dev_only ? 0 : 256, 0};
}

int compare_local_part(const std::string& a, const std::string& b) {
  const bool a_number = is_digit(a.front()) && std::all_of(a.begin(), a.end(), is_digit);
  const bool b_number = is_digit(b.front()) && std::all_of(b.begin(), b.end(), is_digit);
  if (a_number != b_number) return a_number ? 1 : -1;  // numbers come after words
  if (a_number && a.size() != b.size()) return a.size() < b.size() ? -1 : 1;
  return a < b ? -1 : a > b ? 1 : 0;
}

int compare_local(const Version& a, const Version& b) {
  const std::size_t common = std::min(a.local.size(), b.local.size());
  for (std::size_t i = 0; i < common; ++i) {
    const int result = compare_local_part(a.local[i], b.local[i]);
    if (result != 0) return result;
  }
  return order(a.local.size(), b.local.size());
}

bool same_base(const Version& a, const Version& b) {
  return a.epoch == b.epoch && compare_release(a, b) == 0;
}

Version without_local(Version version) {
  version.local.clear();
  return version;
}

// "1.0.0rc1.post2.dev3+cu.12": the form that `===` compares.
std::string normalized(const Version& v) {
  std::string out = v.epoch > 0 ? std::to_string(v.epoch) + "!" : "";
  std::vector<std::string> release;
  for (const std::uint64_t part : v.release) release.push_back(std::to_string(part));
  out += join(release, ".");
  if (v.pre) out += (v.pre->first == 'r' ? "rc" : std::string(1, v.pre->first)) + std::to_string(v.pre->second);
  if (v.post) out += ".post" + std::to_string(*v.post);
  if (v.dev) out += ".dev" + std::to_string(*v.dev);
  if (!v.local.empty()) out += "+" + join(v.local, ".");
  return out;
}

// --- Specifiers -------------------------------------------------------------

bool has_prefix(const Version& version, std::uint64_t epoch, const std::vector<std::uint64_t>& prefix) {
  if (version.epoch != epoch) return false;
  for (std::size_t i = 0; i < prefix.size(); ++i) {
    if ((i < version.release.size() ? version.release[i] : 0) != prefix[i]) return false;
  }
  return true;
}

bool equals(const Version& version, const Version& wanted) {
  return compare(wanted.local.empty() ? without_local(version) : version, wanted) == 0;
}

// "<1.0" does not admit pre-releases of 1.0 itself, ">1.0" neither post releases nor local builds of it.
bool is_below(const Version& version, const Version& limit) {
  if (compare(version, limit) >= 0) return false;
  const bool limit_is_early = limit.pre || limit.dev;
  const bool version_is_early = version.pre || version.dev;
  return limit_is_early || !version_is_early || !same_base(version, limit);
}

bool is_above(const Version& version, const Version& limit) {
  if (compare(version, limit) <= 0) return false;
  if (!same_base(version, limit)) return true;
  return version.local.empty() && (limit.post || !version.post);
}

bool is_compatible(const Version& version, const Version& floor) {
  std::vector<std::uint64_t> prefix = floor.release;
  prefix.pop_back();
  return compare(without_local(version), floor) >= 0 && has_prefix(version, floor.epoch, prefix);
}

bool holds(const Specifier& specifier, const Version& version) {
  const Version& wanted = specifier.version;
  switch (specifier.op) {
    case Specifier::Op::eq:
      return equals(version, wanted);
    case Specifier::Op::ne:
      return !equals(version, wanted);
    case Specifier::Op::eq_prefix:
      return has_prefix(version, wanted.epoch, wanted.release);
    case Specifier::Op::ne_prefix:
      return !has_prefix(version, wanted.epoch, wanted.release);
    case Specifier::Op::ge:
      return compare(without_local(version), wanted) >= 0;
    case Specifier::Op::le:
      return compare(without_local(version), wanted) <= 0;
    case Specifier::Op::gt:
      return is_above(version, wanted);
    case Specifier::Op::lt:
      return is_below(version, wanted);
    case Specifier::Op::compatible:
      return is_compatible(version, wanted);
    case Specifier::Op::arbitrary:
      return normalized(version) == lower(wanted.text);
  }
  return false;
}

struct OpName {
  std::string_view text;
  Specifier::Op op;
};
// Longer ones first.
constexpr std::array<OpName, 8> kOps = {{{"===", Specifier::Op::arbitrary},
                                         {"==", Specifier::Op::eq},
                                         {"!=", Specifier::Op::ne},
                                         {"~=", Specifier::Op::compatible},
                                         {">=", Specifier::Op::ge},
                                         {"<=", Specifier::Op::le},
                                         {">", Specifier::Op::gt},
                                         {"<", Specifier::Op::lt}}};

// What is wrong with one specifier; empty: nothing, and *out is it.
std::string read_specifier(std::string_view text, Specifier* out) {
  const auto* name = std::find_if(kOps.begin(), kOps.end(), [&](const OpName& candidate) {
    return text.substr(0, candidate.text.size()) == candidate.text;
  });
  if (name == kOps.end()) {
    return in_quotes(text) + " does not begin with an operator (one of ==, !=, >=, <=, >, <, ~=, ===)";
  }
  std::string_view number = trim(text.substr(name->text.size()));
  out->op = name->op;
  out->text = std::string(text);
  if (name->op == Specifier::Op::arbitrary) {
    out->version.text = std::string(number);
    const bool bad = number.empty() || number.find_first_of(" \t\r\n;)") != std::string_view::npos;
    return bad ? in_quotes(text) + " has no version that '===' can compare" : "";
  }
  const bool equality = name->op == Specifier::Op::eq || name->op == Specifier::Op::ne;
  const bool wildcard = number.size() > 2 && number.substr(number.size() - 2) == ".*";
  if (wildcard && !equality) return in_quotes(text) + " uses '.*', which only == and != know";
  if (wildcard) number.remove_suffix(2);
  const std::optional<Version> version = parse_version(number);
  if (!version) return in_quotes(text) + " does not hold a version that PEP 440 knows";
  const bool plain = !version->pre && !version->post && !version->dev && version->local.empty();
  if (wildcard && !plain) return in_quotes(text) + " uses '.*' after more than a release number";
  if (!equality && !version->local.empty()) return in_quotes(text) + " names a local build, which only == and != know";
  if (name->op == Specifier::Op::compatible && version->release.size() < 2) {
    return in_quotes(text) + " needs a version of two parts or more, such as ~=1.0";
  }
  if (wildcard) out->op = name->op == Specifier::Op::eq ? Specifier::Op::eq_prefix : Specifier::Op::ne_prefix;
  out->version = *version;
  return "";
}

}  // namespace

std::optional<Version> parse_version(std::string_view text) {
  const std::string folded = lower(trim(text));
  Scanner scanner(folded);
  scanner.take("v");
  Version version;
  version.text = std::string(text);
  const bool read = read_epoch_and_release(scanner, version) && read_suffixes(scanner, version) &&
                    read_local(scanner, version) && scanner.done();
  return read ? std::optional<Version>(std::move(version)) : std::nullopt;
}

int compare(const Version& a, const Version& b) {
  if (a.epoch != b.epoch) return order(a.epoch, b.epoch);
  if (const int release = compare_release(a, b); release != 0) return release;
  if (pre_key(a) != pre_key(b)) return pre_key(a) < pre_key(b) ? -1 : 1;
  if (a.post != b.post) return a.post < b.post ? -1 : 1;  // none comes first
  if (a.dev != b.dev) {                                   // none comes last
    if (!a.dev || !b.dev) return a.dev ? -1 : 1;
    return order(*a.dev, *b.dev);
  }
  return compare_local(a, b);
}

bool SpecifierSet::contains(const Version& version) const {
  return std::all_of(all.begin(), all.end(), [&](const Specifier& s) { return holds(s, version); });
}

std::optional<SpecifierSet> parse_specifiers(std::string_view text, std::string* problem) {
  SpecifierSet set;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const std::string_view part = trim(text.substr(0, comma));
    text.remove_prefix(std::min(comma + 1, text.size()));
    if (part.empty()) continue;
    Specifier specifier;
    const std::string wrong = read_specifier(part, &specifier);
    if (!wrong.empty()) {
      if (problem != nullptr) *problem = wrong;
      return std::nullopt;
    }
    set.all.push_back(std::move(specifier));
  }
  return set;
}

std::string normalize_name(std::string_view name) {
  std::string out;
  for (const char c : lower(name)) {
    if (!is_separator(c)) {
      out += c;
    } else if (out.empty() || out.back() != '-') {
      out += '-';
    }
  }
  return out;
}

}  // namespace suture
