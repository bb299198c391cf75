// The edits of enum Structure one by one, and what they share. Internal to engine/structural.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "engine/structural.h"

namespace suture {

Examined examine_argument(const CompiledStructural& edit, const StructuralSite& site, NodeId call);
Examined examine_element(const CompiledStructural& edit, const StructuralSite& site, NodeId node);
Examined examine_key(const CompiledStructural& edit, const StructuralSite& site, NodeId dictionary);
Examined examine_branch(const CompiledStructural& edit, const StructuralSite& site, NodeId statement);
Examined examine_member(const CompiledStructural& edit, const StructuralSite& site, NodeId definition);
Examined examine_new_decorator(const CompiledStructural& edit, const StructuralSite& site, NodeId definition);
Examined examine_old_decorator(const CompiledStructural& edit, const StructuralSite& site, NodeId definition);
Examined examine_import(const CompiledStructural& edit, const StructuralSite& site, NodeId scope);
Examined examine_delete(const CompiledStructural& edit, const StructuralSite& site);

// The statements that the nodes are, or the statement whose only expression the first one is.
std::optional<std::vector<NodeId>> whole_statements(const Tree& tree, const std::vector<NodeId>& nodes);

// The edit's code with what its metavariables stand for at this site: code of its own, to compare with what is there.
struct Rendered {
  std::shared_ptr<const Source> source;
  std::shared_ptr<const Tree> tree;
  NodeId node = kNone;  // as CompiledStructural::node

  [[nodiscard]] CodeView view() const { return {source.get(), tree.get()}; }
};
Rendered render(const CompiledStructural& edit, const StructuralSite& site);

// The edit's code as it is written in a place with that indentation; its first line has none, no newline at its end.
std::string code_text(const CompiledStructural& edit, const StructuralSite& site, const std::string& indentation);
// The same as lines of their own.
std::string code_lines(const CompiledStructural& edit, const StructuralSite& site, const std::string& indentation);

// A comment in what the splices remove: refused unless the rule says drop (or, for whole lines, keep: they stay).
std::optional<RewriteProblem> settle_comments(const StructuralSite& site, std::vector<Splice>& splices);

}  // namespace suture
