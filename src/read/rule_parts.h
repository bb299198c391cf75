// The parts of a rule that more than one kind of map holds: narrowing, edits, scopes, examples. Internal to the
// readers of rule and patch files.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "read/rule.h"
#include "read/yaml_fields.h"

namespace suture {

// match, where, inside, has, after, before and the not_ forms.
const std::vector<std::string>& narrowing_keys();
// replace, argument, prepend_body, append_body, insert_before, insert_after, add_import / those still to come.
const std::vector<std::string>& edit_keys();
const std::vector<std::string>& later_edit_keys();

Narrowing read_narrowing(const Fields& fields);
// A key whose value is a pattern or a map of narrowing keys (applied, done_if).
std::optional<Narrowing> read_pattern(const Fields& fields, const std::string& key);
// The rule's narrowing with an entry's added: see Shape.
Narrowing merge(const Narrowing& rule, const Narrowing& entry);

// At most one: a second one is reported.
std::optional<Edit> read_edit(const Fields& fields);

// `in`: qualified names, each part an identifier or '*'.
std::vector<Text> read_scopes(const Fields& fields);
std::vector<Example> read_examples(const Fields& fields);

std::vector<WhereClause> read_where(const Fields& fields);

}  // namespace suture
