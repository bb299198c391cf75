// What suture knows of the attention wrappers of another package: their classes, the signatures of the methods that plan (by version,
// for where the package is not installed), and what a call of one looks like where nothing else tells. Data:
// rules/audit/*.yaml with `signatures:`.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/source.h"
#include "read/version.h"

namespace suture {

struct WrapperTable {
  struct Entry {
    std::string versions;    // PEP 440
    std::string parameters;  // as between the parentheses of a definition, without self
  };
  struct Class {
    std::string name;
    std::vector<Entry> table;
  };
  std::string package;                         // the distribution, normalised
  std::vector<std::string> modules;            // that its classes are imported from, or from below
  std::vector<std::string> methods;            // that plan
  std::vector<std::string> runs;               // that read the buffer
  std::vector<std::string> keywords;           // an argument of one of these names is of a wrapper's plan,
  std::vector<std::string> names;              // and so is one whose code is one of these
  std::vector<std::string> kv_dtype, q_dtype;  // parameters
  std::vector<Class> classes;

  [[nodiscard]] const Class* find(const std::string& name) const;
  // Whether a module is one of `modules` or below one.
  [[nodiscard]] bool holds_module(const std::string& module) const;
};

// Errors: Exit::bad_rule, located.
Result<WrapperTable> read_wrapper_table(const std::shared_ptr<const Source>& yaml);

}  // namespace suture
