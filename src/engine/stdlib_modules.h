// The standard library's top-level modules.
#pragma once

#include <string_view>

namespace suture {

// Of any Python from 3.8 to 3.14. A module that one of them has is never looked for in a tree.
bool is_stdlib_module(std::string_view name);

}  // namespace suture
