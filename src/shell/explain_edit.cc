// See explain_edit.h.
#include "shell/explain_edit.h"

#include "base/text.h"

namespace suture {
namespace {

// Each overload begins with a verb: "it replaces ...".
class EditWords {
 public:
  explicit EditWords(const Narrowing& narrow) : narrow_(narrow) {}

  Sentence operator()(const Replace& edit) const {
    Sentence out;
    if (edit.whole) out = {words("replaces "), match(), words(" by "), code(edit.whole->value)};
    for (const auto& [name, becomes] : edit.parts) {
      const Sentence begin = out.empty() ? Sentence{words("in "), match(), words(" ")} : Sentence{words(" and ")};
      out = std::move(out) + begin +
            Sentence{words("replaces what $" + name.value + " stands for by "), code(becomes.value)};
    }
    return out;
  }
  Sentence operator()(const Argument& edit) const {
    Sentence out = {words("changes the argument " + edit.name.value + " of "), match(), words(" to "),
                    code(edit.becomes.value)};
    if (edit.becomes.value.find("$ARG") != std::string::npos) out.push_back(words(" ($ARG is what is passed now)"));
    return out;
  }
  Sentence operator()(const Insert& edit) const {
    const Piece block = code(edit.block.value);
    switch (edit.place) {
      case Place::prepend_body:
        return {words("puts "), block, words(" at the top of the body" + of_match())};
      case Place::append_body:
        return {words("puts "), block, words(" at the end of the body" + of_match())};
      case Place::insert_before:
        return {words("puts "), block, words(" before "), match()};
      case Place::insert_after:
        return {words("puts "), block, words(" after "), match()};
    }
    return {};
  }
  Sentence operator()(const Structural& edit) const {
    const Piece added = code(edit.code.value);
    switch (edit.kind) {
      case Structure::remove:
        return edit.of.empty() ? Sentence{words("deletes "), match()}
                               : Sentence{words("in "), match(), words(" deletes what " + of(edit) + " stands for")};
      case Structure::wrap:
        return {words("puts "), match(), words(" in the place of $MATCH in "), added};
      case Structure::add_argument:
        return {words("adds the argument "), added, words(" to "), whole(edit)};
      case Structure::add_element:
        if (edit.into == Into::literal) return {words("adds the element "), added, words(" to "), whole(edit)};
        return {words(std::string("adds `") + (edit.into == Into::disjunction ? "or" : "and") + "` "), added,
                words(" to the condition "), whole(edit)};
      case Structure::set_key:
        return {words("adds the key "),
                code(edit.key->value),
                words(" with the value "),
                added,
                words(" to "),
                whole(edit)};
      case Structure::add_branch:
        return {words("adds the branch "), added, words(" to "), match()};
      case Structure::add_member:
        return {words("adds the member "), added, words(" to "), class_or_match()};
      case Structure::add_decorator:
        return {words("adds the decorator "), added, words(" to "), class_or_match()};
      case Structure::remove_decorator:
        return {words("removes the decorator "), added, words(" from "), class_or_match()};
      case Structure::remove_import:
        return {words("removes "), added};
    }
    return {};
  }
  Sentence operator()(const AddImport& edit) const {
    return {words("adds "), code(edit.statement.value), words(" to the imports")};
  }

 private:
  [[nodiscard]] Piece match() const { return narrow_.match ? code(narrow_.match->value) : words("it"); }
  // What an edit adds to: the match, or what a metavariable of it stands for.
  [[nodiscard]] Piece whole(const Structural& edit) const {
    if (edit.of.empty()) return match();
    return words(of(edit) + (narrow_.match ? " of `" + one_line(narrow_.match->value, 60) + "`" : ""));
  }
  [[nodiscard]] Piece class_or_match() const {
    return narrow_.match ? code(narrow_.match->value) : words("the definition");
  }
  static std::string of(const Structural& edit) {
    std::vector<std::string> names;
    for (const Text& name : edit.of) names.push_back("$" + name.value);
    return join(names, ", ", " and ");
  }
  [[nodiscard]] std::string of_match() const {
    return narrow_.match ? " of `" + one_line(narrow_.match->value, 60) + "`" : "";
  }

  const Narrowing& narrow_;
};

void add_places(Sentence& out, const std::string& how, const std::vector<Text>& patterns) {
  for (const Text& pattern : patterns) {
    out.push_back(words(", " + how + " "));
    out.push_back(code(pattern.value));
  }
}

void add_where(Sentence& out, const WhereClause& where) {
  const std::string name = "$" + where.metavariable.value;
  if (where.kind) out.push_back(words(", where " + name + " is of kind " + where.kind->value));
  if (where.regex)
    out = std::move(out) + Sentence{words(", where " + name + " matches the regex "), code(where.regex->value)};
  if (where.not_regex)
    out = std::move(out) +
          Sentence{words(", where " + name + " does not match the regex "), code(where.not_regex->value)};
  if (where.match) out = std::move(out) + Sentence{words(", where " + name + " is "), code(where.match->value)};
  if (where.has) out = std::move(out) + Sentence{words(", where " + name + " contains "), code(where.has->value)};
  if (where.one_of.empty()) return;
  out.push_back(words(", where " + name + " is "));
  for (std::size_t i = 0; i < where.one_of.size(); ++i) {
    if (i > 0) out.push_back(words(" or "));
    out.push_back(code(where.one_of[i].value));
  }
}

}  // namespace

Sentence narrowing_sentence(const Narrowing& narrow) {
  Sentence out;
  for (const WhereClause& where : narrow.where) add_where(out, where);
  add_places(out, "only inside", narrow.inside);
  add_places(out, "only where it contains", narrow.has);
  add_places(out, "only after", narrow.after);
  add_places(out, "only before", narrow.before);
  add_places(out, "but not inside", narrow.not_inside);
  add_places(out, "but not where it contains", narrow.not_has);
  add_places(out, "but not after", narrow.not_after);
  add_places(out, "but not before", narrow.not_before);
  return out;
}

Sentence edit_sentence(const Shape& shape) {
  Sentence out;
  if (shape.edit) out = std::visit(EditWords(shape.narrow), *shape.edit);
  return std::move(out) + narrowing_sentence(shape.narrow);
}

}  // namespace suture
