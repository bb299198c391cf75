#include "effects/journal.h"

#include <algorithm>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <set>

#include "effects/receipt_json.h"
#include "effects/sealed_json.h"
#include "effects/suture_folder.h"

namespace suture {
namespace {

using nlohmann::json;

constexpr const char* kWhat = "the journal";
constexpr std::uint64_t kMostBytes = 16U << 20U;

std::string path_of(const TreeFolder& tree) {
  return tree.shown(std::string(kSutureFolder) + "/" + kJournalName);
}

Journal from_json(const json& document) {
  Journal journal;
  const auto phase = document.at("phase").get<std::string>();
  if (phase != "commit" && phase != "staging") throw json::other_error::create(501, "no such phase", nullptr);
  journal.phase = phase == "commit" ? Journal::Phase::commit : Journal::Phase::staging;
  for (const json& value : document.at("targets")) {
    JournalTarget target;
    target.path = value.at("path").get<std::string>();
    target.before = value.at("before").get<std::string>();
    target.after = value.at("after").get<std::string>();
    target.fresh = value.at("fresh").get<std::string>();
    target.old = value.at("old").get<std::string>();
    journal.targets.push_back(std::move(target));
  }
  document.at("modules").get_to(journal.modules);
  document.at("made_folders").get_to(journal.made_folders);
  document.at("new_blobs").get_to(journal.new_blobs);
  document.at("dead_blobs").get_to(journal.dead_blobs);
  document.at("dead_folders").get_to(journal.dead_folders);
  return journal;
}

// The journal says what to remove and rename: nothing in it may point anywhere else.
bool is_sound(const Journal& journal) {
  const auto hash = [](const std::string& text) { return text.empty() || is_sha256(text); };
  std::set<std::string> seen;
  for (const JournalTarget& target : journal.targets) {
    const bool ours = target.path == std::string(kSutureFolder) + "/" + kReceiptName;
    if (!ours && !is_tree_path(target.path)) return false;
    if (!hash(target.before) || !hash(target.after) || target.before == target.after) return false;
    if (!is_staged_name(target.fresh) || target.before.empty() != target.old.empty()) return false;
    if (!target.old.empty() && !is_staged_name(target.old)) return false;
    for (const std::string& name : {target.path, target.fresh, target.old}) {
      if (!name.empty() && !seen.insert(name).second) return false;
    }
  }
  for (const auto* paths : {&journal.modules, &journal.made_folders, &journal.dead_folders}) {
    if (!std::all_of(paths->begin(), paths->end(), is_tree_path)) return false;
  }
  for (const auto* blobs : {&journal.new_blobs, &journal.dead_blobs}) {
    for (const std::string& blob : *blobs) {
      if (!is_sha256(blob)) return false;
    }
  }
  return true;
}

Io<Done> put(FileSystem& fs, Handle suture, const std::string& text) {
  const Io<Done> removed = fs.remove(suture, kJournalTemporary);  // of a run that died here
  if (!removed && removed.error != ENOENT) return removed;
  const Io<Handle> handle = fs.create_file(suture, kJournalTemporary, 0644);
  if (!handle) return {handle.error, {}};
  const Opened file(fs, handle.value);
  if (const Io<FileInfo> folder = fs.info(suture); folder) {
    if (const Io<Done> owned = own_like(fs, file.handle(), folder.value); !owned) return owned;
  }
  if (const Io<Done> written = write_all(fs, file.handle(), text); !written) return written;
  if (const Io<Done> synced = fs.sync(file.handle()); !synced) return synced;
  if (const Io<Done> renamed = fs.rename(suture, kJournalTemporary, suture, kJournalName); !renamed) return renamed;
  return sync_folder(fs, suture);
}

}  // namespace

std::string journal_to_json(const Journal& journal) {
  json document{{"format", kJournalFormat},
                {"phase", journal.phase == Journal::Phase::commit ? "commit" : "staging"},
                {"modules", journal.modules},
                {"made_folders", journal.made_folders},
                {"new_blobs", journal.new_blobs},
                {"dead_blobs", journal.dead_blobs},
                {"dead_folders", journal.dead_folders}};
  json& targets = document["targets"] = json::array();
  for (const JournalTarget& target : journal.targets) {
    targets.push_back({{"path", target.path},
                       {"before", target.before},
                       {"after", target.after},
                       {"fresh", target.fresh},
                       {"old", target.old}});
  }
  return seal(std::move(document));
}

Result<Journal> journal_from_json(std::string_view text, const std::string& path) {
  Result<json> document = unseal(text, kJournalFormat, kWhat, path);
  if (!document) return document.error();
  try {
    Journal journal = from_json(*document);
    if (!is_sound(journal)) return damaged(kWhat, path, "it names something outside the tree");
    return journal;
  } catch (const json::exception& error) {
    return damaged(kWhat, path, error);
  }
}

Result<std::optional<Journal>> read_journal(const TreeFolder& tree, Handle suture) {
  const Io<std::string> text = read_file(tree.fs(), suture, kJournalName, kMostBytes);
  if (text.error == ENOENT) return std::optional<Journal>();
  if (!text) return unreadable(kWhat, path_of(tree), text.error, kMostBytes);
  Result<Journal> journal = journal_from_json(text.value, path_of(tree));
  if (!journal) return journal.error();
  return std::optional<Journal>(std::move(*journal));
}

Status write_journal(const TreeFolder& tree, Handle suture, const Journal& journal) {
  const Io<Done> done = put(tree.fs(), suture, journal_to_json(journal));
  if (!done) return io_error("write", path_of(tree), done.error);
  return Nothing{};
}

Status remove_journal(const TreeFolder& tree, Handle suture) {
  FileSystem& fs = tree.fs();
  for (const char* name : {kJournalTemporary, kJournalName}) {
    const Io<Done> removed = fs.remove(suture, name);
    if (!removed && removed.error != ENOENT) return io_error("remove", path_of(tree), removed.error);
  }
  const Io<Done> synced = sync_folder(fs, suture);
  if (!synced) return io_error("write", path_of(tree), synced.error);
  return Nothing{};
}

std::string staged_name(const std::string& token, std::size_t index, bool fresh) {
  return ".suture-" + token + "-" + std::to_string(index) + (fresh ? ".new" : ".old");
}

bool is_staged_name(std::string_view name) {
  constexpr std::string_view prefix = ".suture-";
  if (!name.starts_with(prefix) || !(name.ends_with(".new") || name.ends_with(".old"))) return false;
  name.remove_prefix(prefix.size());
  name.remove_suffix(4);
  if (name.size() < 18 || name[16] != '-') return false;
  return name.substr(0, 16).find_first_not_of("0123456789abcdef") == std::string_view::npos &&
         name.substr(17).find_first_not_of("0123456789") == std::string_view::npos;
}

}  // namespace suture
