// A canonical serialisation, then its hash. Every value is written with its length before it, so that no two patches
// give the same bytes; maps are written in the order of their keys. Test: tests/unit/catalog_test.cc.
#include "read/edition.h"

#include <algorithm>
#include <string_view>

#include "base/sha256.h"
#include "base/text.h"

namespace suture {
namespace {

class Canonical {
 public:
  // The first value; raised when the format changes in a way that should not leave old receipts standing.
  Canonical() { add("suture edition 1"); }

  void add(std::string_view value) { out_ += std::to_string(value.size()) + ":" + std::string(value) + ","; }
  void add(std::uint64_t number) { add(std::string_view(std::to_string(number))); }
  // A block's last newline is nothing that a patch does.
  void add(const Text& text) { add(trim_end(text.value)); }
  void add(const std::optional<Text>& text) {
    add(text ? std::uint64_t{1} : std::uint64_t{0});
    if (text) add(*text);
  }
  void add(const std::vector<Text>& texts) {
    add(std::uint64_t{texts.size()});
    for (const Text& text : texts) add(text);
  }

  void add(const Narrowing& narrow) {
    add(narrow.match);
    add_where(narrow.where);
    for (const auto* texts : {&narrow.inside, &narrow.has, &narrow.after, &narrow.before, &narrow.not_inside,
                              &narrow.not_has, &narrow.not_after, &narrow.not_before}) {
      add(*texts);
    }
  }
  void add(const std::optional<Narrowing>& narrow) {
    add(narrow ? std::uint64_t{1} : std::uint64_t{0});
    if (narrow) add(*narrow);
  }

  void add(const Shape& shape) {
    add(shape.narrow);
    add(shape.edit ? std::uint64_t{1 + shape.edit->index()} : std::uint64_t{0});
    if (shape.edit) std::visit([this](const auto& edit) { add_edit(edit); }, *shape.edit);
    add(shape.versions);
    add(shape.applied);
    add(std::uint64_t{shape.own_match});
  }

  void add(const Rule& rule) {
    add(rule.id);
    add(rule.files);
    add(rule.in);
    add(rule.base);
    add(std::uint64_t{rule.any_of.size()});
    for (const Shape& shape : rule.any_of) add(shape);
    add(rule.done_if);
    add(rule.expect.min);
    add(rule.expect.max);
    add(std::uint64_t{rule.expect.per_file});
    add(static_cast<std::uint64_t>(rule.select.kind));
    add(rule.select.n);
    add(static_cast<std::uint64_t>(rule.comments));
  }

  [[nodiscard]] std::string hash() const { return sha256_hex(out_); }

 private:
  void add(std::uint32_t number) { add(std::uint64_t{number}); }

  void add_where(std::vector<WhereClause> clauses) {
    const auto by_name = [](const WhereClause& a, const WhereClause& b) {
      return a.metavariable.value < b.metavariable.value;
    };
    std::stable_sort(clauses.begin(), clauses.end(), by_name);
    add(std::uint64_t{clauses.size()});
    for (const WhereClause& clause : clauses) {
      add(clause.metavariable);
      for (const auto* text : {&clause.kind, &clause.regex, &clause.not_regex, &clause.match, &clause.has}) add(*text);
      add(clause.one_of);
    }
  }

  void add_edit(const Replace& edit) {
    add(edit.whole);
    auto parts = edit.parts;
    std::sort(parts.begin(), parts.end(), [](const auto& a, const auto& b) { return a.first.value < b.first.value; });
    add(std::uint64_t{parts.size()});
    for (const auto& [name, becomes] : parts) {
      add(name);
      add(becomes);
    }
  }
  void add_edit(const Argument& edit) {
    add(edit.name);
    add(edit.position ? std::uint64_t{*edit.position} + 1 : 0);
    add(edit.becomes);
  }
  void add_edit(const Insert& edit) {
    add(static_cast<std::uint64_t>(edit.place));
    add(edit.block);
  }
  void add_edit(const AddImport& edit) { add(edit.statement); }
  void add_edit(const Structural& edit) {
    add(static_cast<std::uint64_t>(edit.kind));
    add(edit.of);
    add(edit.key);
    add(edit.code);
    add(static_cast<std::uint64_t>(edit.into));
    add(static_cast<std::uint64_t>(edit.end));
  }

  std::string out_;
};

}  // namespace

std::string edition_of(const Patch& patch) {
  Canonical canonical;
  canonical.add(std::uint64_t{patch.rules.size()});
  for (const Rule& rule : patch.rules) canonical.add(rule);
  std::vector<const AddedFile*> adds;
  for (const AddedFile& file : patch.adds) adds.push_back(&file);
  std::sort(adds.begin(), adds.end(), [](const auto* a, const auto* b) { return a->path.value < b->path.value; });
  canonical.add(std::uint64_t{adds.size()});
  for (const AddedFile* file : adds) {
    canonical.add(file->path);
    canonical.add(sha256_hex(file->bytes));
  }
  return canonical.hash();
}

}  // namespace suture
