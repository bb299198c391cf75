// See signature.h. Tests: tests/unit/audit_test.cc.
#include "engine/signature.h"

#include <algorithm>
#include <cctype>
#include <set>

#include "base/text.h"

namespace suture {
namespace {

// `b` of `self.a.b`, `a` of `a[:n]`: what the code of an argument is called.
std::string own_name(const std::string& code) {
  std::string_view text = code;
  text = text.substr(0, text.find('['));
  text = text.substr(text.rfind('.') + 1);  // npos + 1 == 0
  const bool name = !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0;
  });
  return name ? std::string(text) : "";
}

bool is_end_of(const std::string& name, const std::string& of) {
  return of == name || (of.ends_with(name) && of[of.size() - name.size() - 1] == '_') ||
         (name.ends_with(of) && name[name.size() - of.size() - 1] == '_');
}

class Binder {
 public:
  Binder(const Signature& signature, const std::vector<AuditArgument>& arguments)
      : signature_(signature), arguments_(arguments) {
    for (const Parameter& p : signature.parameters) {
      if (!p.keyword_only) positional_.push_back(&p);
    }
  }

  Bound run() {
    out_.names.resize(arguments_.size());
    for (std::size_t i = 0; i < arguments_.size(); ++i) {
      const AuditArgument& argument = arguments_[i];
      if (argument.splat) {
        (argument.text.starts_with("**") ? double_star_ : star_) = true;
      } else if (argument.keyword.empty()) {
        by_position(i);
      } else {
        by_keyword(i);
      }
    }
    if (!star_ && !double_star_) missing();
    return std::move(out_);
  }

 private:
  void by_position(std::size_t i) {
    if (star_) return;  // how many stand before it is not known
    if (next_ >= positional_.size()) {
      if (!signature_.star)
        misfit("takes " + std::to_string(positional_.size()) + " arguments by position, and is passed more");
      return;
    }
    const Parameter& parameter = *positional_[next_++];
    out_.names[i] = parameter.name;
    given_.insert(parameter.name);
    const std::string own = own_name(arguments_[i].text);
    if (own.empty()) return;
    if (is_end_of(own, parameter.name)) {
      ++out_.likenesses;
    } else if (std::any_of(signature_.parameters.begin(), signature_.parameters.end(),
                           [&](const Parameter& p) { return p.name == own; })) {
      ++out_.clashes;
    }
  }
  void by_keyword(std::size_t i) {
    const std::string& name = arguments_[i].keyword;
    const bool known = std::any_of(signature_.parameters.begin(), signature_.parameters.end(),
                                   [&](const Parameter& p) { return p.name == name; });
    out_.names[i] = name;
    if (!known && !signature_.double_star) misfit("has no parameter " + name);
    if (known && !given_.insert(name).second) misfit("is passed " + name + " twice");
  }
  void missing() {
    std::vector<std::string> names;
    for (const Parameter& p : signature_.parameters) {
      if (p.required && !given_.contains(p.name)) names.push_back(p.name);
    }
    if (!names.empty()) misfit("needs " + join(names, ", ", " and "));
  }
  void misfit(std::string words) {
    if (out_.misfit.empty()) out_.misfit = std::move(words);
  }

  const Signature& signature_;
  const std::vector<AuditArgument>& arguments_;
  std::vector<const Parameter*> positional_;
  std::set<std::string> given_;
  std::size_t next_ = 0;
  bool star_ = false, double_star_ = false;
  Bound out_;
};

}  // namespace

Signature signature_of(const CodeView& code, NodeId definition, bool method) {
  const Tree& tree = *code.tree;
  const Kinds& k = kinds();
  Signature out;
  out.method = text_of(code, tree.child(definition, fields().name));
  const NodeId parameters = tree.child(definition, fields().parameters);
  if (parameters == kNone) return out;
  bool first = method, keyword_only = false;
  for (const NodeId each : tree.named_children(parameters)) {
    const auto kind = kind_name(tree[each].kind);
    NodeId name = tree.is(each, k.identifier) ? each : tree.child(each, fields().name);
    if (tree.is(each, k.typed_parameter)) name = tree.first_child(each);
    if (kind == "keyword_separator") {
      keyword_only = true;
      continue;
    }
    if (kind == "positional_separator" || name == kNone) {
      if (tree.is(each, k.list_splat_pattern)) out.star = keyword_only = true;
      if (tree.is(each, k.dictionary_splat_pattern)) out.double_star = true;
      continue;
    }
    if (tree.is(name, k.list_splat_pattern)) {
      out.star = keyword_only = true;
      continue;
    }
    if (tree.is(name, k.dictionary_splat_pattern)) {
      out.double_star = true;
      continue;
    }
    if (first) {
      first = false;
      continue;
    }
    const bool has_default = tree.is(each, k.default_parameter) || tree.is(each, k.typed_default_parameter);
    out.parameters.push_back({text_of(code, name), !has_default, keyword_only});
  }
  return out;
}

std::optional<Signature> read_signature(const std::string& parameters) {
  const Source source("signature", "def f(" + parameters + "): pass\n");
  const auto tree = parse_python(source);
  if (!tree || tree->broken()) return std::nullopt;
  const std::vector<NodeId> statements = tree->named_children(tree->root());
  if (statements.size() != 1 || !tree->is(statements[0], kinds().function_definition)) return std::nullopt;
  return signature_of({&source, &*tree}, statements[0], false);
}

Bound bind(const Signature& signature, const std::vector<AuditArgument>& arguments) {
  return Binder(signature, arguments).run();
}

}  // namespace suture
