// A journal carried out: forward, or back. commit() ends with it, recover() begins with it; both do the same.
//
// Forward is possible where every target is new already, or old with its staged bytes whole. Back is possible where
// every target is old already, or new with its old bytes whole. Both orders keep that true for the other direction
// until all targets are of one kind: staged files are removed last, the journal at the very end.
//
// A file takes its new place by an exchange, and what came out is looked at: where someone changed the file after the
// last look at it, it goes back, and so does the whole transaction. File systems that cannot exchange (NFS) get a last
// look and a rename: a change between the two is lost there.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "effects/bytecode.h"
#include "effects/journal.h"
#include "effects/tree_folder.h"

namespace suture {

class Transaction {
 public:
  // `bytecode`: of the modules that the journal names.
  Transaction(const TreeFolder& tree, Handle suture, Journal journal, Bytecode bytecode)
      : tree_(tree), suture_(suture), journal_(std::move(journal)), bytecode_(std::move(bytecode)) {}

  // The opened folder of a target: what the caller staged is found there though the path leads elsewhere by now.
  void use_folder(const std::string& path, std::shared_ptr<Opened> folder);

  enum class End { finished, undone };
  // What a target means that is neither old nor new. leave: much time has passed since, it is the user's, it stays as it
  // is, with a note. undo: it was as planned a moment ago; nothing is to be written.
  enum class Foreign { leave, undo };
  // Commit phase: forward if it can, else back. Staging phase: back. Error: neither is possible; the journal stays.
  Result<End> settle(Foreign foreign);

  // What the user should know: files left alone, stale bytecode, what could not be tidied up.
  [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }
  // What could not be removed, and why: "cannot remove X: Operation not permitted". The journal stays for the next run then.
  [[nodiscard]] const std::vector<std::string>& leftovers() const { return leftovers_; }
  // After `undone`: why it did not go forward: the call that failed, a file that was changed.
  [[nodiscard]] const std::optional<Error>& cause() const { return cause_; }

 private:
  enum class Standing { old, fresh, foreign };
  struct State {
    Standing standing = Standing::foreign;
    bool can_advance = false, can_return = false;
  };

  Result<std::vector<State>> inspect();
  Status forward(const std::vector<State>& states);
  Status back(const std::vector<State>& states);
  // `staged` takes the place of the target, whose hash is `present` ("": it is not there); "": the target goes away.
  Status replace(const JournalTarget& target, const std::string& staged, const std::string& present);
  Status exchange(const JournalTarget& target, Handle folder, const std::string& staged, const std::string& present);
  Status put_new(const JournalTarget& target, Handle folder, const std::string& staged);
  Status take_away(const JournalTarget& target, Handle folder, const std::string& present);
  // The target still is what it was when it was looked at.
  Status still(const JournalTarget& target, const std::string& name, const std::string& present);
  Status sync_targets();
  void sync_staged();
  void tidy_forward();
  void tidy_back();
  void remove_staged();
  void remove_blobs(const std::vector<std::string>& hashes);
  void remove_empty_folders(const std::vector<std::string>& folders);
  void end();
  void left_behind(const std::string& what, int error);
  void left_behind(const std::string& words);
  [[nodiscard]] Error stuck(const std::vector<State>& states) const;

  // The folder that holds a target; null where it is not there.
  Result<std::shared_ptr<Opened>> folder_of(const std::string& path);
  // SHA-256 of a file in it; "" where it is not there.
  Result<std::string> hash_of(const std::string& target, const std::string& name);

  const TreeFolder& tree_;
  Handle suture_;
  Journal journal_;
  Bytecode bytecode_;
  std::map<std::string, std::shared_ptr<Opened>> folders_;
  std::vector<std::string> notes_, leftovers_;  // none of these: the journal may go
  std::optional<Error> cause_;
};

// "SHOWN changed while suture was planning"
Error changed_meanwhile(const std::string& shown);
// Whether the path of a target still leads to the folder that was opened for it.
Status still_there(const TreeFolder& tree, const std::string& path, const Opened& folder);

// Removes staged files that no journal lists from a folder; `kept` is told of those that could not be, by name and errno.
// Precondition: the tree's lock is held, no journal stands.
std::size_t sweep_staged(FileSystem& fs, Handle folder,
                         const std::function<void(const std::string&, int)>& kept = nullptr);

}  // namespace suture
