// The edits of enum Structure, compiled: what each takes as code, and the snippet that it is parsed in. Tests:
// tests/unit/structural_test.cc.
#include <algorithm>
#include <string_view>

#include "engine/compiled_rule.h"
#include "engine/list_edit.h"
#include "engine/match.h"

namespace suture {
namespace {

// A text that is no program of its own, parsed within `before` and `after`; an error points into the text.
Result<Pattern> compile_within(const Text& text, const Source& yaml, std::string_view before, std::string_view after) {
  PatternProblem problem;
  std::string code = text.value;
  while (!code.empty() && (code.back() == '\n' || code.back() == ' ')) code.pop_back();
  auto pattern = compile_pattern(std::string(before) + code + std::string(after), &problem);
  if (pattern) return std::move(*pattern);
  const auto shift = [&](std::uint32_t at) {
    const auto skipped = static_cast<std::uint32_t>(before.size());
    return std::min(at < skipped ? 0 : at - skipped, static_cast<std::uint32_t>(code.size()));
  };
  const std::uint32_t begin = shift(problem.begin);
  return Error{Exit::bad_rule, problem.message,
               yaml.locate(range_within(yaml, text, begin, std::max(shift(problem.end), begin + 1))),
               "it is written as code that stands between " + std::string(before) + " and " + std::string(after)};
}

Error wrong_code(const Text& text, const Source& yaml, std::string message, std::string hint) {
  return Error{Exit::bad_rule, std::move(message), yaml.locate(text.at), std::move(hint)};
}

Result<CompiledStructural> compile_argument(CompiledStructural out, const Text& text, const Source& yaml) {
  auto pattern = compile_within(text, yaml, "f(", ")");
  if (!pattern) return pattern.error();
  const Tree& tree = pattern->tree();
  const NodeId call = pattern->roots()[0];
  const NodeId list = tree.is(call, kinds().call) ? tree.child(call, fields().arguments) : kNone;
  const auto elements = list == kNone ? std::vector<NodeId>{} : tree.named_children(list);
  const bool one = elements.size() == 1 && tree.is(list, kinds().argument_list);
  if (one && tree.is(elements[0], kinds().list_splat))
    return wrong_code(text, yaml,
                      "whether a call passes `" + pattern->spelled(elements[0]) + "` already cannot be told",
                      "use `replace`, with $$$ for the other arguments");
  if (!one || pattern->metavariable(elements[0]) != nullptr)
    return wrong_code(text, yaml, "this edit adds one argument or element",
                      "write `value` or, in a call, `name=value` or `**more`; one rule for each");
  out.node = elements[0];
  out.code = std::move(*pattern);
  return out;
}

Result<CompiledStructural> compile_element(CompiledStructural out, const Text& text, const Source& yaml) {
  auto element = compile_argument(std::move(out), text, yaml);
  if (!element) return element;
  const Tree& tree = element->code->tree();
  if (tree.is(element->node, kinds().keyword_argument) || tree.is(element->node, kinds().dictionary_splat))
    return wrong_code(text, yaml, "`name=value` and `**more` are arguments, not elements",
                      "use add_argument for a call");
  return element;
}

Result<CompiledStructural> compile_entry(CompiledStructural out, const Structural& edit, const Source& yaml) {
  for (const Text* text : {&*edit.key, &edit.code}) {
    auto alone = compile_text(*text, yaml, "set_key");
    if (!alone) return alone.error();
    if (alone->form() != Pattern::Form::expression)
      return wrong_code(*text, yaml, "a key and its value are expressions", "a string's quotes are part of it");
  }
  auto pattern = compile_pattern("{" + edit.key->value + ": " + edit.code.value + "}", nullptr);
  const auto entries = pattern ? pattern->tree().named_children(pattern->roots()[0]) : std::vector<NodeId>{};
  if (entries.size() != 1 || !pattern->tree().is(entries[0], kinds().pair))
    return wrong_code(*edit.key, yaml, "key and value make no entry of a dictionary", "");
  out.node = entries[0];
  out.code = std::move(*pattern);
  return out;
}

Result<CompiledStructural> compile_branch(CompiledStructural out, const Text& text, const Source& yaml) {
  auto pattern = compile_text(text, yaml, "add_branch");
  if (!pattern) return pattern.error();
  if (pattern->form() != Pattern::Form::clause || pattern->tree().is(pattern->roots()[0], kinds().decorator))
    return wrong_code(text, yaml, "add_branch takes one clause with its body",
                      "an elif, else, except, finally or case clause");
  out.node = pattern->roots()[0];
  out.code = std::move(*pattern);
  return out;
}

Result<CompiledStructural> compile_member(CompiledStructural out, const Text& text, const Source& yaml) {
  auto pattern = compile_text(text, yaml, "add_member");
  if (!pattern) return pattern.error();
  const Tree& tree = pattern->tree();
  NodeId node = pattern->roots()[0];
  const Kinds& k = kinds();
  const bool field = tree.is(node, k.expression_statement) && pattern->form() == Pattern::Form::statements &&
                     tree.is(tree.first_child(node), k.assignment);
  const bool definition = tree.is(node, k.function_definition) || tree.is(node, k.class_definition) ||
                          tree.is(node, k.decorated_definition);
  if (pattern->roots().size() != 1 || (!field && !definition))
    return wrong_code(text, yaml, "add_member takes one member of a class",
                      "a function, a class, or an assignment such as `name: type = value`");
  out.node = node;
  out.code = std::move(*pattern);
  return out;
}

Result<CompiledStructural> compile_decorator(CompiledStructural out, const Text& text, const Source& yaml) {
  const bool at =
      text.value.find_first_not_of(" \n") < text.value.size() && text.value[text.value.find_first_not_of(" \n")] == '@';
  auto pattern = compile_within(text, yaml, at ? "" : "@", "");
  if (!pattern) return pattern.error();
  if (pattern->form() != Pattern::Form::clause || !pattern->tree().is(pattern->roots()[0], kinds().decorator))
    return wrong_code(text, yaml, "this is no decorator", "write it as it stands above a definition, such as @cache");
  out.node = pattern->roots()[0];
  out.code = std::move(*pattern);
  return out;
}

Result<CompiledStructural> compile_wrap(CompiledStructural out, const Text& text, const Source& yaml) {
  auto pattern = compile_text(text, yaml, "wrap");
  if (!pattern) return pattern.error();
  std::size_t places = 0;
  for (NodeId id = 0; id < pattern->tree().size(); ++id) {
    const Metavariable* mv = pattern->metavariable(id);
    if (mv != nullptr && mv->name == "MATCH" && pattern->tree().is(id, kinds().identifier)) ++places;
  }
  if (places != 1 || pattern->form() == Pattern::Form::clause)
    return wrong_code(text, yaml, "`wrap` is code that holds $MATCH once",
                      "such as float($MATCH), or a statement with $MATCH in its body");
  out.code = std::move(*pattern);
  return out;
}

Result<CompiledStructural> compile_import_of(CompiledStructural out, const Text& text, const Source& yaml) {
  auto pattern = compile_text(text, yaml, "remove_import");
  if (!pattern) return pattern.error();
  if (pattern->tree().is(pattern->roots()[0], kinds().future_import_statement))
    return wrong_code(text, yaml, "an import from __future__ changes what the whole file means; it is not removed",
                      "match the statement and `delete` it, if that is meant");
  out.node = pattern->roots()[0];
  out.code = std::move(*pattern);
  return out;
}

Result<CompiledStructural> compile_kind(CompiledStructural out, const Structural& edit, const Source& yaml) {
  switch (edit.kind) {
    case Structure::remove:
      return out;
    case Structure::wrap:
      return compile_wrap(std::move(out), edit.code, yaml);
    case Structure::add_argument:
      return compile_argument(std::move(out), edit.code, yaml);
    case Structure::add_element:
      return compile_element(std::move(out), edit.code, yaml);
    case Structure::set_key:
      return compile_entry(std::move(out), edit, yaml);
    case Structure::add_branch:
      return compile_branch(std::move(out), edit.code, yaml);
    case Structure::add_member:
      return compile_member(std::move(out), edit.code, yaml);
    case Structure::add_decorator:
    case Structure::remove_decorator:
      return compile_decorator(std::move(out), edit.code, yaml);
    case Structure::remove_import:
      return compile_import_of(std::move(out), edit.code, yaml);
  }
  return out;
}

}  // namespace

Result<CompiledEdit> compile_structural(const Structural& edit, const Source& yaml) {
  CompiledStructural out;
  out.kind = edit.kind;
  for (const Text& name : edit.of) out.of.push_back(name.value);
  out.into = edit.into;
  out.end = edit.end;
  auto compiled = compile_kind(std::move(out), edit, yaml);
  if (!compiled) return compiled.error();
  return CompiledEdit(std::move(*compiled));
}

std::optional<Pattern> grown(const CompiledStructural& edit, const Pattern& match) {
  const Tree& tree = match.tree();
  const bool adds =
      edit.kind == Structure::add_argument || edit.kind == Structure::add_element || edit.kind == Structure::set_key;
  if (!adds || edit.into != Into::literal || !edit.of.empty() || match.form() != Pattern::Form::expression)
    return std::nullopt;
  const NodeId root = match.roots()[0];
  const NodeId list = tree.is(root, kinds().call) ? tree.child(root, fields().arguments) : root;
  const bool call = edit.kind == Structure::add_argument;
  if (list == kNone) return std::nullopt;
  const bool literal = tree.is(list, kinds().list) || tree.is(list, kinds().tuple) || tree.is(list, kinds().set) ||
                       tree.is(list, kinds().dictionary);
  if (match.metavariable(root) != nullptr || !(call ? tree.is(list, kinds().argument_list) : literal))
    return std::nullopt;
  const CommaList elements = list_at(tree, list);
  NodeId after = elements.elements.empty() ? kNone : elements.elements.back();
  if (edit.end == End::first) after = kNone;
  if (call && !edit.code->tree().is(edit.node, kinds().keyword_argument)) {
    after = kNone;
    for (const NodeId element : elements.elements) {
      if (!tree.is(element, kinds().keyword_argument) && !tree.is(element, kinds().dictionary_splat)) after = element;
    }
  }
  std::string code(edit.code->source().text(edit.code->tree().range(edit.node)));
  const auto text = [&code](const std::string&) { return code; };
  const CodeView view{&match.source(), &tree};
  return compile_pattern(
      without_placeholders(splice(match.source().bytes(), insert_element(view, elements, after, ElementText(text)))),
      nullptr);
}

std::optional<Pattern> wrapped(const CompiledStructural& wrap, const Pattern& match) {
  const std::string& code = wrap.code->written();
  const std::size_t at = code.find("$MATCH");
  const std::size_t line = code.rfind('\n', at) == std::string::npos ? 0 : code.rfind('\n', at) + 1;
  const std::string indentation(at - line, ' ');
  const bool alone = code.find_first_not_of(" \t", line) == at;
  for (const bool parentheses : {true, false}) {
    std::string inner = parentheses ? "(" : "";
    for (const char c : match.written()) {
      inner += c;
      if (c == '\n' && alone) inner += indentation;
    }
    if (parentheses) inner += ")";
    if (auto pattern = compile_pattern(code.substr(0, at) + inner + code.substr(at + 6), nullptr)) return pattern;
  }
  return std::nullopt;
}

}  // namespace suture
