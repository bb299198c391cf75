// The edits of enum Structure: each is a text, or a map where more than the text is to be said. Test: tests/unit/rule_test.cc.
#include <algorithm>
#include <array>
#include <string_view>

#include "base/text.h"
#include "read/rule_parts.h"

namespace suture {
namespace {

// What the map form of an edit takes.
struct Form {
  std::string_view key;  // of the rule
  Structure kind;
  std::string_view code;  // of the map: the code; empty: there is no map form
  std::vector<std::string> more;
};
const std::vector<Form>& forms() {
  static const std::vector<Form> kForms = {
      {"delete", Structure::remove, "", {}},
      {"wrap", Structure::wrap, "", {}},
      {"add_argument", Structure::add_argument, "argument", {"of"}},
      {"add_element", Structure::add_element, "element", {"of", "or", "and", "at"}},
      {"set_key", Structure::set_key, "value", {"of", "key"}},
      {"add_branch", Structure::add_branch, "branch", {"at"}},
      {"add_member", Structure::add_member, "", {}},
      {"add_decorator", Structure::add_decorator, "decorator", {"at"}},
      {"remove_decorator", Structure::remove_decorator, "", {}},
      {"remove_import", Structure::remove_import, "", {}},
  };
  return kForms;
}

const Form* form_of(std::string_view key) {
  const auto& all = forms();
  const auto at = std::find_if(all.begin(), all.end(), [&](const Form& form) { return form.key == key; });
  return at == all.end() ? nullptr : &*at;
}

// delete: true  |  delete: X  |  delete: [X, Y]
void read_delete(const Fields& outer, const YamlEntry& entry, Structural& edit) {
  edit.code = Text{"", entry.key_at};
  if (entry.value.kind == YamlNode::Kind::scalar && entry.value.value == "true") return;
  edit.of = outer.texts(entry.key);
  if (edit.of.size() == 1 && edit.of[0].value == "false") {
    outer.problems().report(edit.of[0].at, "'delete' is false: a rule that deletes nothing has no edit",
                            "write delete: true for the match, or delete: X for what $X stands for");
    return;
  }
  for (const Text& name : edit.of) check_metavariable(name, entry.key, outer.problems());
}

void read_end(const Fields& fields, Structural& edit) {
  const std::optional<Text> at = fields.text("at");
  if (!at) return;
  edit.end = at->value == "first" ? End::first : End::last;
  if (at->value != "first" && at->value != "last")
    fields.problems().report(at->at, "'at' must be first or last, not " + in_quotes(at->value),
                             "where nothing is said it is last; decorators: first, the outermost");
}

// The code of add_element: one of element, or, and.
void read_element(const Fields& fields, const std::string& what, Structural& edit) {
  int given = 0;
  for (const auto& [key, into] :
       {std::pair{"element", Into::literal}, std::pair{"or", Into::disjunction}, std::pair{"and", Into::conjunction}}) {
    if (fields.find(key) == nullptr) continue;
    ++given;
    edit.into = into;
    edit.code = fields.text(key).value_or(Text{});
  }
  if (given == 1 || !fields.is_map()) return;
  fields.problems().report_missing(fields.at(), "'" + what + "' takes one of element, or, and",
                                   "element: for a list, tuple or set; or: / and: for a condition");
}

void read_map(const Form& form, const YamlEntry& entry, Problems& problems, Structural& edit) {
  Keys keys{"'" + std::string(form.key) + "'", form.more, {}, {}};
  keys.known.insert(keys.known.begin(), std::string(form.code));
  const Fields fields(entry.value, keys, problems);
  if (const auto of = fields.text("of")) {
    edit.of = {*of};
    check_metavariable(*of, std::string(form.key), problems);
  }
  read_end(fields, edit);
  if (form.kind == Structure::add_element) return read_element(fields, std::string(form.key), edit);
  edit.code = fields.required(form.code, "write the code that is added");
  if (form.kind == Structure::set_key)
    edit.key = fields.required("key", "write the key as code: key: '\"name\"' for a string");
}

}  // namespace

bool is_structural(const std::string& key) {
  return form_of(key) != nullptr;
}

Structural read_structural(const Fields& outer, const YamlEntry& entry) {
  const Form& form = *form_of(entry.key);
  Structural edit;
  edit.kind = form.kind;
  if (form.kind == Structure::add_decorator) edit.end = End::first;
  if (form.kind == Structure::remove) {
    read_delete(outer, entry, edit);
  } else if (form.kind == Structure::remove_import) {
    edit.code = read_import_text(outer, entry.key, true);
  } else if (!form.code.empty() && entry.value.kind == YamlNode::Kind::map) {
    read_map(form, entry, outer.problems(), edit);
  } else if (form.kind == Structure::set_key) {
    outer.problems().report(entry.value.at, "'set_key' takes a map", "write set_key: {key: '\"name\"', value: code}");
  } else {
    edit.code = outer.text(entry.key).value_or(Text{});
  }
  return edit;
}

}  // namespace suture
