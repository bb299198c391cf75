// See trace_shapes.h. Tests: tests/unit/trace_shapes_test.cc.
#include "engine/trace_shapes.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "base/text.h"
#include "read/json_text.h"

namespace suture {
namespace {

using View = std::string_view;

// One list of whole numbers at `at`, which is behind its `[`; at the end `at` is behind its `]`.
bool read_numbers(View json, std::size_t& at, Dims& dims) {
  while (at < json.size() && json[at] != ']') {
    if (json[at] == ',' || json[at] == ' ' || json[at] == '\n') {
      ++at;
      continue;
    }
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(json.data() + at, json.data() + json.size(), number);
    if (error != std::errc()) return false;
    dims.push_back(number);
    at = static_cast<std::size_t>(end - json.data());
  }
  ++at;
  return true;
}

// Behind the bracket that closes the one at `at`.
std::size_t behind_list(View json, std::size_t at) {
  int depth = 0;
  for (; at < json.size(); ++at) {
    if (json[at] == '[') ++depth;
    if (json[at] == ']' && --depth == 0) return at + 1;
  }
  return json.size();
}

}  // namespace

std::vector<Dims> dims_of(View json) {
  std::vector<Dims> all;
  if (json.empty() || json[0] != '[') return all;
  for (std::size_t at = 1; at < json.size();) {
    if (json[at] != '[') {
      ++at;
      continue;
    }
    Dims dims;
    std::size_t end = at + 1;
    if (!read_numbers(json, end, dims)) {
      dims.clear();
      end = behind_list(json, at);
    }
    all.push_back(std::move(dims));
    at = end;
  }
  return all;
}

std::vector<std::string> types_of(View json) {
  std::vector<std::string> all;
  for (std::size_t at = json.find('"'); at != View::npos; at = json.find('"', at)) {
    const std::size_t end = json.find('"', at + 1);
    if (end == View::npos) break;
    all.emplace_back(json.substr(at + 1, end - at - 1));
    at = end + 1;
  }
  return all;
}

Dims numbers_of(View json) {
  Dims dims;
  std::size_t at = 1;
  if (json.empty() || json[0] != '[' || !read_numbers(json, at, dims)) return {};
  return dims;
}

std::int64_t elements_of(const Dims& dims) {
  std::int64_t count = 1;
  for (const std::int64_t dim : dims) {
    if (dim < 0 || (dim > 0 && count > (std::int64_t{1} << 55U) / dim)) return -1;
    count *= dim;
  }
  return count;
}

std::int64_t type_size(View type) {
  if (type.starts_with("c10::")) type.remove_prefix(5);
  if (type.starts_with("Float8") || type == "bool" || type == "unsigned char" || type == "signed char") return 1;
  if (type == "BFloat16" || type == "Half" || type == "short" || type == "short int") return 2;
  if (type == "float" || type == "int") return 4;
  if (type == "double" || type == "long" || type == "long int" || type == "complex<float>") return 8;
  return type == "complex<double>" ? 16 : 0;
}

bool is_float_type(View type) {
  return type_size(type) > 0 && (type.find("loat") != View::npos || type == "c10::Half" || type == "double");
}

std::string short_type(View type) {
  if (type.starts_with("c10::")) type.remove_prefix(5);
  return std::string(type);
}

std::string short_inputs(const TraceOp& op) {
  const std::vector<Dims> dims = dims_of(op.dims);
  const std::vector<std::string> types = types_of(op.types);
  std::string out;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const std::string type = i < types.size() ? types[i] : "";
    if (dims[i].empty() && type_size(type) == 0) continue;
    if (type == "ScalarList" || type == "TensorList") continue;
    if (!out.empty()) out += ", ";
    out += '[';
    for (std::size_t k = 0; k < dims[i].size(); ++k) out += (k > 0 ? "," : "") + std::to_string(dims[i][k]);
    out += ']';
    if (!type.empty()) out += " " + short_type(type);
  }
  return out;
}

// --- bytes -----------------------------------------------------------------------------------------------------------

namespace {

template <std::size_t N>
bool is_among(View name, const std::array<View, N>& names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

constexpr std::array<View, 22> kUnary = {
    "silu",  "silu_",      "gelu",    "relu",  "relu_",    "sigmoid",  "tanh",
    "exp",   "neg",        "sqrt",    "rsqrt", "abs",      "log",      "cos",
    "sin",   "reciprocal", "softmax", "clone", "_softmax", "rms_norm", "_fused_rms_norm",
    "square"};
constexpr std::array<View, 12> kBinary = {"add", "add_", "sub", "sub_",    "mul",     "mul_",
                                          "div", "div_", "pow", "maximum", "minimum", "eq"};

struct Inputs {
  std::vector<Dims> dims;
  std::vector<std::string> types;
  [[nodiscard]] std::int64_t size(std::size_t i) const { return i < types.size() ? type_size(types[i]) : 0; }
  // -1: no tensor of a known type
  [[nodiscard]] std::int64_t bytes(std::size_t i) const {
    if (i >= dims.size() || size(i) == 0 || elements_of(dims[i]) < 0) return -1;
    return elements_of(dims[i]) * size(i);
  }
};

std::optional<std::int64_t> of_product(const Inputs& in, std::size_t first) {
  const std::int64_t a = in.bytes(first), b = in.bytes(first + 1);
  if (a < 0 || b < 0 || in.dims[first].size() < 2 || in.dims[first + 1].size() < 2) return std::nullopt;
  const Dims& left = in.dims[first];
  Dims out(left.begin(), left.end() - 1);
  out.push_back(in.dims[first + 1].back());
  const std::int64_t results = elements_of(out);
  if (results < 0) return std::nullopt;
  return a + b + results * in.size(first);
}

}  // namespace

std::optional<std::int64_t> bytes_moved(const TraceOp& op) {
  if (!op.name.starts_with("aten::")) return std::nullopt;
  const View name = View(op.name).substr(6);
  const Inputs in{dims_of(op.dims), types_of(op.types)};
  if (in.bytes(0) < 0) return std::nullopt;
  if (name == "copy_") {
    if (in.bytes(1) < 0) return std::nullopt;
    return in.bytes(0) + in.bytes(1);
  }
  if (name == "mm" || name == "bmm") return of_product(in, 0);
  if (name == "addmm") return of_product(in, 1);
  if (is_among(name, kUnary)) return 2 * in.bytes(0);
  if (!is_among(name, kBinary)) return std::nullopt;
  const std::int64_t second = in.bytes(1);
  if (second < 0) return 2 * in.bytes(0);  // with a number
  return in.bytes(0) + second + std::max(elements_of(in.dims[0]), elements_of(in.dims[1])) * in.size(0);
}

// --- kernels ---------------------------------------------------------------------------------------------------------

namespace {

// The functor in the template of an elementwise kernel: the first word that ends like one.
std::string functor_in(View text) {
  for (std::size_t at = 0; at < text.size();) {
    if (!is_ascii_word(text[at])) {
      ++at;
      continue;
    }
    std::size_t end = at;
    while (end < text.size() && is_ascii_word(text[end])) ++end;
    const View word = text.substr(at, end - at);
    if (word.ends_with("_kernel_cuda") || word.ends_with("_kernel") || word.starts_with("CUDAFunctor") ||
        word.ends_with("Functor"))
      return std::string(word);
    at = end;
  }
  return "";
}

}  // namespace

std::string short_kernel_name(const std::string& name) {
  View rest = name;
  if (rest.starts_with("void ")) rest.remove_prefix(5);
  for (const View prefix : {View("(anonymous namespace)::"), View("at::native::"), View("(anonymous namespace)::")}) {
    if (rest.starts_with(prefix)) rest.remove_prefix(prefix.size());
  }
  const std::size_t end = rest.find_first_of("<(");
  std::string base(rest.substr(0, end));
  if (base.empty()) return name;
  if (end == View::npos || rest[end] != '<') return base;
  if (base.starts_with("cutlass::")) {
    const std::size_t close = rest.find('>', end);
    return base + std::string(rest.substr(end, close == View::npos ? View::npos : close - end + 1));
  }
  const std::string functor = functor_in(rest.substr(end));
  return functor.empty() ? base : base + "<" + functor + ">";
}

std::string operator_by_kernel(const std::string& kernel) {
  // The first that is in the name. Elementwise kernels name their functor, which stands before anything general.
  static constexpr std::pair<View, View> table[] = {
      {"direct_copy_kernel", "aten::copy_"},
      {"float8_copy_kernel", "aten::copy_"},
      {"bfloat16_copy_kernel", "aten::copy_"},
      {"CUDAFunctor_add", "aten::add"},
      {"CUDAFunctorOnSelf_add", "aten::add"},
      {"MulFunctor", "aten::mul"},
      {"DivFunctor", "aten::div"},
      {"silu_kernel", "aten::silu"},
      {"gelu", "aten::gelu"},
      {"FillFunctor", "aten::fill_"},
      {"softmax", "aten::_softmax"},
      {"layer_norm", "aten::native_layer_norm"},
      {"gather_kernel", "aten::index"},
      {"index_elementwise_kernel", "aten::index"},
      {"indexSelect", "aten::index_select"},
      {"CatArray", "aten::cat"},
      {"splitKreduce", "aten::mm"},
      {"nvjet", "aten::mm"},
      {"gemm", "aten::mm"},
      {"gemv", "aten::mm"},
  };
  for (const auto& [word, name] : table) {
    if (kernel.find(word) != std::string::npos) return std::string(name);
  }
  return "";
}

std::int64_t elements_of(const GpuWork& work) {
  Dims launched = numbers_of(work.grid);
  const Dims block = numbers_of(work.block);
  if (launched.empty() || block.empty()) return 0;
  for (const std::int64_t size : block) launched.push_back(size);
  const std::int64_t threads = elements_of(launched);
  if (threads <= 0) return 0;
  std::int64_t each = 0;
  if (work.name.find("unrolled_elementwise_kernel") != std::string::npos) {
    each = 4;  // thread_work_size() of PyTorch's loops
  } else if (const std::size_t at = work.name.find("vectorized_elementwise_kernel<"); at != std::string::npos) {
    const char digit = work.name[at + View("vectorized_elementwise_kernel<").size()];
    each = std::max<std::int64_t>(4, digit >= '1' && digit <= '9' ? digit - '0' : 0);
  }
  return threads * each;
}

bool is_casting_copy(const GpuWork& work) {
  const bool copy = operator_by_kernel(work.name) == "aten::copy_";
  return copy &&
         (work.name.find("LoadWithCast") != std::string::npos || work.name.find("float8_copy") != std::string::npos ||
          work.name.find("bfloat16_copy") != std::string::npos);
}

}  // namespace suture
