// The steps that apply and revert share around the lock of a tree.
#pragma once

#include <optional>

#include "effects/store.h"
#include "shell/session.h"

namespace suture {

// Error where --tree names a wheel: it is read only, whatever the verdict would be. Exit::file_system, as for a read-only
// mount: the command line is right, and with the same tree unpacked it works.
std::optional<Error> refuse_wheel(const Session& session);

// Waits for the lock (and says so), then puts right what a crash left; what it did goes to the report as notes.
Result<TreeLock> lock_to_write(const Session& session, const LocatedTree& tree, Report& report);

// Commits one target's next state, if it differs, and reports the files. False: it failed, and the report says why.
bool write_target(const Session& session, const Target& target, TreeLock& lock, const TreeState& after,
                  const std::map<std::string, FileChange>& changes, TreeReport& tree, Report& report);

// Whether commit() has something to write: files, or the receipt alone (entries that an upgrade made void).
bool differs(const TreeState& before, const TreeState& after, const std::map<std::string, FileChange>& changes);

void hint_restart(const Session& session, Report& report);

}  // namespace suture
