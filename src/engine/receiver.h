// What the object of a call is, told without running anything: by annotations, by assignments from constructor calls in the function
// and in the class, by lists and dicts of such, by functools.partial.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/code.h"

namespace suture {

struct Receiver {
  enum class Kind {
    unknown,
    type,      // an instance of the class `name`
    self,      // of the class around the call, `name`
    function,  // no object: a function of that name is called
    module,    // a module of that name
  };
  Kind kind = Kind::unknown;
  std::string name;      // of the class, as its module has it
  std::string module;    // that it is imported from; empty: of this file
  std::string evidence;  // in words: "the annotation of the parameter wrapper"
};

// `X.plan = partial(f, ...)` and the like in the file: the functions that may stand in a method's place.
struct Replacement {
  std::string method, function, module;
  friend bool operator==(const Replacement&, const Replacement&) = default;
};
using Replacements = std::vector<Replacement>;

// What receiver_of() has to know of a file that lies elsewhere than at the site: attributes that its class assigns. By name of class and
// attribute, without doubles.
struct WantedAttribute {
  std::string owner, name;
  friend bool operator==(const WantedAttribute&, const WantedAttribute&) = default;
};

// Where a name of a file comes from: imports, wherever in the file they stand.
struct Import {
  std::string bound, module, name;  // name empty: the module itself
};

class ReceiverReader {
 public:
  // imports: of the whole file, whatever part of it the tree is of.
  ReceiverReader(const CodeView& target, const std::vector<Import>& imports) : target_(target), imports_(imports) {}

  Receiver of_call(NodeId call);
  // The value that an expression has in the end, as code: `self.data_type` -> `model_runner.dtype`.
  std::string origin_of(NodeId value);
  // The attributes that were looked up so far.
  [[nodiscard]] const std::vector<WantedAttribute>& wanted() const { return wanted_; }

 private:
  using Types = std::vector<Receiver>;
  Types of_value(NodeId value, bool element, int depth);
  Types of_name(NodeId name, bool element, int depth);
  Types of_attribute(const std::string& owner, const std::string& attribute, bool element, int depth);
  Types of_loop(NodeId name, bool element, int depth);
  Types of_constructor(NodeId call, const std::string& evidence);
  Types of_annotation(NodeId annotation, bool element, const std::string& evidence);
  Types of_reference(const std::string& dotted, const std::string& evidence) const;
  [[nodiscard]] std::vector<NodeId> assigned(const std::string& owner, const std::string& attribute, bool element,
                                             Types* annotated);
  [[nodiscard]] std::string class_around(NodeId node) const;
  void want(const std::string& owner, const std::string& name);

  CodeView target_;
  const std::vector<Import>& imports_;
  std::vector<WantedAttribute> wanted_;
};

// All imports of a tree.
std::vector<Import> imports_of(const CodeView& target);
Replacements replacements_of(const CodeView& target, const std::vector<Import>& imports);

}  // namespace suture
