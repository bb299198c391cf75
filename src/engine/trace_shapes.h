// What the inputs of an operator, or the name and launch shape of a kernel, say: sizes, bytes moved, and where no operator was recorded
// which one it was.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/trace.h"

namespace suture {

using Dims = std::vector<std::int64_t>;

// "[[495552, 1, 576], []]" -> its lists. Of a list of tensors ([[1, 8], [500, 8]] as one input) the input is left empty. Nothing of
// what does not read so.
std::vector<Dims> dims_of(std::string_view json);
// "["c10::BFloat16", "Scalar"]" -> its strings.
std::vector<std::string> types_of(std::string_view json);
// "[557496, 1, 1]"
Dims numbers_of(std::string_view json);

std::int64_t elements_of(const Dims& dims);  // 1 of none; -1 beyond 2^55, or of a negative one
// Bytes of an element by PyTorch's name of its type, "c10::BFloat16"; 0: not known, or no tensor.
std::int64_t type_size(std::string_view type);
bool is_float_type(std::string_view type);
// "BFloat16", "Float8_e4m3fn", "float"
std::string short_type(std::string_view type);

// The inputs in short: "[495552,1,576] BFloat16, [495552,1,576] Float8_e4m3fn"; those that are no tensors are left out.
std::string short_inputs(const TraceOp& op);
// A kernel's name without return type, arguments and template, but for the functor that tells elementwise kernels apart.
std::string short_kernel_name(const std::string& name);

// Bytes that one call reads and writes, where the operator and its inputs tell: copies, elementwise operators, matrix products, softmax
// and norms. nullopt: they do not (an index, an attention).
std::optional<std::int64_t> bytes_moved(const TraceOp& op);

// The operator that a kernel is of, by its name: "aten::copy_", "aten::mm"; empty: not known.
std::string operator_by_kernel(const std::string& kernel);
// How many elements an elementwise kernel was launched for, at most: grid x block x elements a thread. 0: it is none, or does not say.
std::int64_t elements_of(const GpuWork& work);
// Whether it is PyTorch's copy that changes the type.
bool is_casting_copy(const GpuWork& work);

}  // namespace suture
