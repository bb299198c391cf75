#include "shell/writing.h"

#include <utility>

#include "shell/planning.h"

namespace suture {

std::optional<Error> refuse_wheel(const Session& session) {
  const std::string tree = session.options().value("--tree");
  const Io<std::string> real = session.fs().real_path(tree);
  if (!real || !real.value.ends_with(".whl")) return std::nullopt;
  const Io<FileInfo> info = session.fs().info_at(kAbsolute, real.value);
  if (!info || !info.value.in_wheel) return std::nullopt;
  return Error{Exit::file_system, tree + " is a wheel, which is read only", std::nullopt,
               "install it, or unpack it (python3 -m zipfile -e FILE FOLDER), and name that tree; diff and status read "
               "the wheel itself"};
}

Result<TreeLock> lock_to_write(const Session& session, const LocatedTree& tree, Report& report) {
  Result<TreeLock> lock = TreeLock::acquire(session.fs(), tree, session.lock_options());
  if (!lock) return lock;
  Result<std::vector<std::string>> recovered = recover(session.fs(), tree, *lock);
  if (!recovered) return recovered.error();
  for (const std::string& words : *recovered) note(session, report, "note: " + words + "\n");
  return lock;
}

bool differs(const TreeState& before, const TreeState& after, const std::map<std::string, FileChange>& changes) {
  return !changes.empty() || !(before.receipt == after.receipt);
}

bool write_target(const Session& session, const Target& target, TreeLock& lock, const TreeState& after,
                  const std::map<std::string, FileChange>& changes, TreeReport& tree, Report& report) {
  if (!differs(target.state, after, changes)) return true;
  Result<CommitReport> done = commit(session.fs(), target.tree, lock, target.state, after, changes);
  if (!done) {
    report.fail(done.error());
    return false;
  }
  report_files(target, changes, tree);
  tree.notes.insert(tree.notes.end(), done->notes.begin(), done->notes.end());
  for (const std::string& words : done->notes) note(session, report, "note: " + words + "\n");
  return true;
}

void hint_restart(const Session& session, Report& report) {
  note(session, report, "hint: restart the server: a process that runs keeps the code that it has loaded\n");
}

}  // namespace suture
