// Python that the grammar lets pass and CPython does not. tree-sitter is no validator: it reads an expression that goes on
// over a line end outside of any bracket, `return x := 1`, `f(a=1, b)`, `print x`. An edit must not bring any of that in, so a plan
// compares what is found before and after its edits.
#pragma once

#include <string>
#include <vector>

#include "engine/match.h"

namespace suture {

struct Fault {
  Range at;
  std::string what;  // "a line ends inside of an expression"
};

// In source order. Finds no fault in a file that CPython 3.8 or newer compiles, but for quotes nested in an f-string, which 3.12
// allows: callers only ask whether there are more than before.
std::vector<Fault> python_faults(const CodeView& target);

}  // namespace suture
