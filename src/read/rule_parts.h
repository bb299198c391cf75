// The parts of a rule that more than one kind of map holds: narrowing, edits, scopes, examples. Internal to the
// readers of rule and patch files.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "read/rule.h"
#include "read/yaml_fields.h"

namespace suture {

// A name of Python.
bool is_identifier(std::string_view text);

// match, where, inside, has, after, before and the not_ forms.
const std::vector<std::string>& narrowing_keys();
// replace, argument, prepend_body, append_body, insert_before, insert_after, add_import, delete, wrap ...
const std::vector<std::string>& edit_keys();

Narrowing read_narrowing(const Fields& fields);
// A key whose value is a pattern or a map of narrowing keys (applied, done_if).
std::optional<Narrowing> read_pattern(const Fields& fields, const std::string& key);
// The rule's narrowing with an entry's added: see Shape.
Narrowing merge(const Narrowing& rule, const Narrowing& entry);

// At most one: a second one is reported.
std::optional<Edit> read_edit(const Fields& fields);
// The edits of enum Structure.
bool is_structural(const std::string& key);
Structural read_structural(const Fields& fields, const YamlEntry& entry);
// The text of an import of one name (add_import), or of several (remove_import); anything else is reported.
Text read_import_text(const Fields& fields, const std::string& key, bool several);
// Reports what is no metavariable's name.
void check_metavariable(const Text& name, const std::string& key, Problems& problems);

// `in`: qualified names, each part an identifier or '*'.
std::vector<Text> read_scopes(const Fields& fields);
std::vector<Example> read_examples(const Fields& fields);

std::vector<WhereClause> read_where(const Fields& fields);

}  // namespace suture
