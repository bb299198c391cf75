// See receiver.h. Tests: tests/unit/audit_test.cc.
#include "engine/receiver.h"

#include <algorithm>
#include <cctype>

#include "base/text.h"
#include "engine/flow.h"

namespace suture {
namespace {

constexpr int kDeepest = 12;

using What = Receiver::Kind;

std::vector<Receiver> unknown() {
  return {Receiver{}};
}

// Classes are written in capitals, but for a leading underscore.
bool names_class(std::string_view name) {
  const std::size_t first = name.find_first_not_of('_');
  return first != std::string_view::npos && std::isupper(static_cast<unsigned char>(name[first])) != 0;
}

std::string_view last_part(std::string_view dotted) {
  return dotted.substr(dotted.rfind('.') + 1);  // npos + 1 == 0
}

bool is_dotted_name(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return c == '.' || c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0;
  });
}

// The imports of one statement.
void add_imports(const CodeView& code, NodeId statement, std::vector<Import>& out) {
  const Tree& tree = *code.tree;
  const bool from = tree.is(statement, kinds().import_from_statement);
  const NodeId module = from ? tree.child(statement, fields().module_name) : kNone;
  for (const NodeId each : tree.named_children(statement)) {
    if (each == module || tree.is(each, kinds().wildcard_import)) continue;
    NodeId name = each;
    std::string bound;
    if (tree.is(each, kinds().aliased_import)) {
      name = tree.child(each, fields().name);
      bound = text_of(code, tree.child(each, fields().alias));
    }
    const std::string text = text_of(code, name);
    if (from) {
      out.push_back({bound.empty() ? text : bound, text_of(code, module), text});
    } else {
      out.push_back({bound.empty() ? text.substr(0, text.find('.')) : bound,
                     bound.empty() ? text.substr(0, text.find('.')) : text, ""});
    }
  }
}

// An attribute of `self`.
bool is_own(const CodeView& code, NodeId node, std::string_view attribute) {
  const Tree& tree = *code.tree;
  if (!tree.is(node, kinds().attribute)) return false;
  return text_of(code, tree.child(node, fields().object)) == "self" &&
         text_of(code, tree.child(node, fields().attribute)) == attribute;
}

// What `partial(f, ...)` is a partial of; kNone for other calls.
NodeId partial_of(const CodeView& code, NodeId call) {
  const Tree& tree = *code.tree;
  if (!tree.is(call, kinds().call)) return kNone;
  if (last_part(text_of(code, tree.child(call, fields().function))) != "partial") return kNone;
  const NodeId arguments = tree.child(call, fields().arguments);
  const std::vector<NodeId> given = arguments == kNone ? std::vector<NodeId>() : tree.named_children(arguments);
  return given.empty() ? kNone : given[0];
}

// Whether they say one thing; then that.
Receiver agreed(const std::vector<Receiver>& types) {
  Receiver out;
  for (const Receiver& type : types) {
    if (type.kind == What::unknown) return Receiver{};
    if (out.kind == What::unknown) {
      out = type;
    } else if (type.name != out.name || type.module != out.module || type.kind != out.kind) {
      return Receiver{};
    }
  }
  return out;
}

}  // namespace

std::vector<Import> imports_of(const CodeView& code) {
  std::vector<Import> out;
  const Tree& tree = *code.tree;
  for (NodeId id = 0; id < tree.size(); ++id) {
    if (tree.is(id, kinds().import_statement) || tree.is(id, kinds().import_from_statement)) add_imports(code, id, out);
  }
  return out;
}

Replacements replacements_of(const CodeView& code, const std::vector<Import>& imports) {
  Replacements out;
  const Tree& tree = *code.tree;
  for (NodeId id = 0; id < tree.size(); ++id) {
    if (!tree.is(id, kinds().assignment)) continue;
    const NodeId left = tree.child(id, fields().left), right = tree.child(id, fields().right);
    if (left == kNone || right == kNone || !tree.is(left, kinds().attribute)) continue;
    const NodeId function = partial_of(code, right);
    if (function == kNone) continue;
    Replacement each{text_of(code, tree.child(left, fields().attribute)), text_of(code, function), ""};
    const auto import = std::find_if(imports.begin(), imports.end(),
                                     [&](const Import& i) { return i.bound == each.function && !i.name.empty(); });
    if (import != imports.end()) {
      each.function = import->name;
      each.module = import->module;
    }
    if (std::find(out.begin(), out.end(), each) == out.end()) out.push_back(std::move(each));
  }
  return out;
}

Receiver ReceiverReader::of_call(NodeId call) {
  const Tree& tree = *target_.tree;
  const NodeId function = strip_parentheses(tree, tree.child(call, fields().function));
  if (tree.is(function, kinds().identifier)) {
    Receiver out{What::function, text_of(target_, function), "", "a function is called, no method"};
    for (const Import& import : imports_) {
      if (import.bound == out.name && !import.name.empty()) out.module = import.module;
    }
    return out;
  }
  if (!tree.is(function, kinds().attribute)) return {};
  const NodeId object = strip_parentheses(tree, tree.child(function, fields().object));
  const std::string text = text_of(target_, object);
  if (text == "self" || text == "cls") return {What::self, class_around(call), "", "the method of the class around it"};
  if (tree.is(object, kinds().identifier) && definitions_of(target_, object).empty()) {
    for (const Import& import : imports_) {
      if (import.bound == text && import.name.empty()) return {What::module, import.module, "", "an imported module"};
    }
  }
  return agreed(of_value(object, false, 0));
}

ReceiverReader::Types ReceiverReader::of_value(NodeId value, bool element, int depth) {
  const Tree& tree = *target_.tree;
  const Kinds& k = kinds();
  value = strip_parentheses(tree, value);
  if (depth > kDeepest) return unknown();
  const auto all_of = [&](const std::vector<NodeId>& values, bool of_element) {
    Types out;
    for (const NodeId each : values) {
      const Types more = of_value(each, of_element, depth + 1);
      out.insert(out.end(), more.begin(), more.end());
    }
    return out;
  };
  if (kind_name(tree[value].kind) == "none") return {};
  if (tree.is(value, k.identifier)) return of_name(value, element, depth);
  if (tree.is(value, k.conditional_expression)) {
    const std::vector<NodeId> parts = tree.named_children(value);
    return parts.size() == 3 ? all_of({parts[0], parts[2]}, element) : unknown();
  }
  if (tree.is(value, k.named_expression)) return of_value(tree.child(value, fields().value), element, depth + 1);
  if (tree.is(value, k.list) || tree.is(value, k.tuple) || tree.is(value, k.set))
    return element ? all_of(tree.named_children(value), false) : unknown();
  if (tree.is(value, k.dictionary)) {
    std::vector<NodeId> values;
    for (const NodeId pair : tree.named_children(value)) {
      if (!tree.is(pair, k.pair)) return unknown();
      values.push_back(tree.child(pair, fields().value));
    }
    return element ? all_of(values, false) : unknown();
  }
  const std::string_view kind = kind_name(tree[value].kind);
  if (element && (kind == "list_comprehension" || kind == "dictionary_comprehension")) {
    NodeId body = tree.child(value, fields().body);
    if (body != kNone && tree.is(body, k.pair)) body = tree.child(body, fields().value);
    return body == kNone ? unknown() : of_value(body, false, depth + 1);
  }
  if (element && tree.is(value, k.binary_operator)) return of_value(tree.child(value, fields().left), true, depth + 1);
  if (tree.is(value, k.subscript) && !element) return of_value(tree.child(value, fields().value), true, depth + 1);
  if (tree.is(value, k.attribute)) {
    const NodeId object = strip_parentheses(tree, tree.child(value, fields().object));
    const std::string attribute = text_of(target_, tree.child(value, fields().attribute));
    if (text_of(target_, object) == "self") return of_attribute(class_around(value), attribute, element, depth + 1);
    const Receiver owner = agreed(of_value(object, false, depth + 1));
    if (owner.kind != What::type || !owner.module.empty()) return unknown();
    return of_attribute(owner.name, attribute, element, depth + 1);
  }
  if (!tree.is(value, k.call)) return unknown();
  const NodeId function = strip_parentheses(tree, tree.child(value, fields().function));
  if (tree.is(function, k.attribute)) {
    const std::string method = text_of(target_, tree.child(function, fields().attribute));
    const NodeId object = tree.child(function, fields().object);
    if (element && (method == "values" || method == "copy")) return of_value(object, true, depth + 1);
    if (!element && (method == "get" || method == "pop" || method == "setdefault"))
      return of_value(object, true, depth + 1);
  }
  return element ? unknown() : of_constructor(value, "");
}

ReceiverReader::Types ReceiverReader::of_name(NodeId name, bool element, int depth) {
  const std::string text = text_of(target_, name);
  const std::vector<Definition> definitions = definitions_of(target_, name);
  if (definitions.empty()) return unknown();
  Types out;
  for (const Definition& definition : definitions) {
    Types more = unknown();
    if (definition.parameter != kNone) {
      const NodeId annotation = target_.tree->child(definition.parameter, fields().type);
      if (annotation != kNone) more = of_annotation(annotation, element, "the annotation of the parameter " + text);
    } else if (definition.value == kNone) {
      more = of_loop(name, element, depth);
    } else if (!(element && definition.part)) {
      more = of_value(definition.value, element || definition.part.has_value(), depth + 1);
    }
    out.insert(out.end(), more.begin(), more.end());
  }
  return out;
}

// `for NAME in VALUES`, `for i, NAME in enumerate(VALUES)`.
ReceiverReader::Types ReceiverReader::of_loop(NodeId name, bool element, int depth) {
  const Tree& tree = *target_.tree;
  const std::string text = text_of(target_, name);
  for (NodeId at = tree[name].parent; at != kNone && !element; at = tree[at].parent) {
    if (!tree.is(at, kinds().for_statement)) continue;
    NodeId left = tree.child(at, fields().left), right = tree.child(at, fields().right);
    const bool counted =
        tree.is(right, kinds().call) && text_of(target_, tree.child(right, fields().function)) == "enumerate";
    if (counted) {
      const std::vector<NodeId> targets = tree.named_children(left);
      const NodeId arguments = tree.child(right, fields().arguments);
      const std::vector<NodeId> given = arguments == kNone ? std::vector<NodeId>() : tree.named_children(arguments);
      if (targets.size() != 2 || given.empty()) continue;
      left = targets[1];
      right = given[0];
    }
    if (tree.is(left, kinds().identifier) && text_of(target_, left) == text) return of_value(right, true, depth + 1);
  }
  return unknown();
}

ReceiverReader::Types ReceiverReader::of_constructor(NodeId call, const std::string& evidence) {
  const Tree& tree = *target_.tree;
  const NodeId function = strip_parentheses(tree, tree.child(call, fields().function));
  const std::string dotted = text_of(target_, function);
  const std::string words = evidence.empty() ? "an assignment from " + one_line(dotted, 60) + "(...)" : evidence;
  if (tree.is(function, kinds().identifier)) {
    // `make = partial(Class, ...)`, or a class under another name.
    const std::vector<Definition> definitions = definitions_of(target_, function);
    Types out;
    for (const Definition& definition : definitions) {
      if (definition.value == kNone || definition.part) return unknown();
      const NodeId of = partial_of(target_, definition.value);
      const Types more = of_reference(text_of(target_, of == kNone ? definition.value : of), words);
      out.insert(out.end(), more.begin(), more.end());
    }
    if (!definitions.empty()) return out;
  }
  return of_reference(dotted, words);
}

// A class by its name in the file.
ReceiverReader::Types ReceiverReader::of_reference(const std::string& dotted, const std::string& evidence) const {
  const std::string name(last_part(dotted));
  if (!is_dotted_name(dotted) || !names_class(name)) return unknown();
  const std::string head = dotted.substr(0, dotted.find('.'));
  Types out;
  for (const Import& import : imports_) {
    if (import.bound != head) continue;
    if (head == dotted) {
      out.push_back({What::type, import.name, import.module, evidence});
    } else if (import.name.empty()) {
      const std::string between = dotted.substr(head.size(), dotted.size() - head.size() - name.size() - 1);
      out.push_back({What::type, name, import.module + between, evidence});
    } else {
      return unknown();
    }
  }
  if (!out.empty()) return out;
  if (head != dotted) return unknown();
  return {Receiver{What::type, name, "", evidence}};
}

// `T`, "T" in quotes, `Optional[T]`, `T | None`; of elements: `List[T]`, `dict[K, T]` and the like.
ReceiverReader::Types ReceiverReader::of_annotation(NodeId annotation, bool element, const std::string& evidence) {
  std::string text;
  for (const char c : text_of(target_, annotation)) {
    if (std::isspace(static_cast<unsigned char>(c)) == 0 && c != '"' && c != '\'') text += c;
  }
  const auto inner = [&text](std::string_view name) -> std::optional<std::string> {
    const std::size_t open = text.find('[');
    if (open == std::string::npos || text.back() != ']') return std::nullopt;
    std::string head(last_part(std::string_view(text).substr(0, open)));
    std::transform(head.begin(), head.end(), head.begin(), [](unsigned char c) { return std::tolower(c); });
    if (head != name) return std::nullopt;
    return text.substr(open + 1, text.size() - open - 2);
  };
  for (bool changed = true; changed;) {
    changed = false;
    if (const auto of = inner("optional")) text = *of, changed = true;
    if (text.ends_with("|None")) text.resize(text.size() - 5), changed = true;
    if (text.starts_with("None|")) text.erase(0, 5), changed = true;
  }
  if (element) {
    std::optional<std::string> of;
    for (const char* container : {"list", "sequence", "iterable", "set"}) of = of ? of : inner(container);
    if (const auto tuple = inner("tuple"); !of && tuple && tuple->ends_with(",..."))
      of = tuple->substr(0, tuple->size() - 4);
    if (const auto pairs = inner("dict"); !of && pairs && pairs->find(',') != std::string::npos)
      of = pairs->substr(pairs->find(',') + 1);
    if (!of) return unknown();
    text = *of;
  }
  return of_reference(text, evidence);
}

ReceiverReader::Types ReceiverReader::of_attribute(const std::string& owner, const std::string& attribute, bool element,
                                                   int depth) {
  if (owner.empty()) return unknown();
  want(owner, attribute);
  Types annotated;
  const std::string words = "self." + attribute + " in " + owner;
  const std::vector<NodeId> values = assigned(owner, attribute, false, element ? nullptr : &annotated);
  if (!annotated.empty()) return annotated;
  Types out;
  for (const NodeId value : values) {
    const Types more = of_value(value, element, depth + 1);
    out.insert(out.end(), more.begin(), more.end());
  }
  const std::vector<NodeId> parts = element ? assigned(owner, attribute, true, nullptr) : std::vector<NodeId>();
  for (const NodeId value : parts) {
    const Types more = of_value(value, false, depth + 1);
    out.insert(out.end(), more.begin(), more.end());
  }
  if (values.empty() && parts.empty()) return unknown();
  for (Receiver& type : out) {
    if (type.kind == What::type) type.evidence = words + ": " + type.evidence;
  }
  return out;
}

// element: what is put into it (`self.x.append(V)`, `self.x[i] = V`), else what it is set to.
std::vector<NodeId> ReceiverReader::assigned(const std::string& owner, const std::string& attribute, bool element,
                                             Types* annotated) {
  const Tree& tree = *target_.tree;
  const Kinds& k = kinds();
  std::vector<NodeId> out;
  for (NodeId id = 0; id < tree.size(); ++id) {
    if (!tree.is(id, k.assignment) && !tree.is(id, k.call)) continue;
    if (class_around(id) != owner) continue;
    if (tree.is(id, k.call)) {
      const NodeId function = tree.child(id, fields().function);
      if (!element || function == kNone || !tree.is(function, k.attribute)) continue;
      const std::string method = text_of(target_, tree.child(function, fields().attribute));
      if (method != "append" && method != "insert") continue;
      if (!is_own(target_, tree.child(function, fields().object), attribute)) continue;
      const std::vector<NodeId> given = tree.named_children(tree.child(id, fields().arguments));
      if (!given.empty()) out.push_back(given.back());
      continue;
    }
    const NodeId left = tree.child(id, fields().left), right = tree.child(id, fields().right);
    if (left == kNone) continue;
    if (element) {
      if (right != kNone && tree.is(left, k.subscript) && is_own(target_, tree.child(left, fields().value), attribute))
        out.push_back(right);
      continue;
    }
    if (!is_own(target_, left, attribute)) continue;
    const NodeId annotation = tree.child(id, fields().type);
    if (annotation != kNone && annotated != nullptr) {
      const Types types = of_annotation(annotation, false, "the annotation of self." + attribute);
      annotated->insert(annotated->end(), types.begin(), types.end());
    }
    NodeId value = right;
    while (value != kNone && tree.is(value, k.assignment)) value = tree.child(value, fields().right);
    if (value != kNone) out.push_back(value);
  }
  return out;
}

std::string ReceiverReader::class_around(NodeId node) const {
  const Tree& tree = *target_.tree;
  for (NodeId at = tree[node].parent; at != kNone; at = tree[at].parent) {
    if (tree.is(at, kinds().class_definition)) return text_of(target_, tree.child(at, fields().name));
  }
  return "";
}

void ReceiverReader::want(const std::string& owner, const std::string& name) {
  WantedAttribute wanted{owner, name};
  if (std::find(wanted_.begin(), wanted_.end(), wanted) == wanted_.end()) wanted_.push_back(std::move(wanted));
}

std::string ReceiverReader::origin_of(NodeId value) {
  const Tree& tree = *target_.tree;
  for (int step = 0; step < kDeepest; ++step) {
    value = strip_parentheses(tree, value);
    std::vector<NodeId> values;
    if (tree.is(value, kinds().identifier)) {
      for (const Definition& d : definitions_of(target_, value)) values.push_back(d.part ? kNone : d.value);
    } else if (tree.is(value, kinds().attribute) && text_of(target_, tree.child(value, fields().object)) == "self") {
      const std::string owner = class_around(value);
      const std::string attribute = text_of(target_, tree.child(value, fields().attribute));
      want(owner, attribute);
      values = assigned(owner, attribute, false, nullptr);
    }
    if (values.size() != 1 || values[0] == kNone) break;
    value = values[0];
  }
  return one_line(text_of(target_, value), 80);
}

}  // namespace suture
