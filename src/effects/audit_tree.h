// Every Python file of a package, audited: read, looked at, and let go, one at a time in each thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "effects/tree_folder.h"
#include "engine/audit.h"

namespace suture {

struct AuditedFile {
  std::string path;  // relative to the package folder
  FileAudit audit;
};

struct TreeAudit {
  std::vector<AuditedFile> files;  // with sites or with a problem, by path
  std::size_t read = 0, parsed = 0;
  std::uint64_t bytes = 0, parsed_bytes = 0;
};

struct AuditWalk {
  unsigned threads = 1;
  AuditDepth depth = AuditDepth::excerpts;
  // Other work of the caller's, done by the calling thread before it walks too, while the others do.
  std::function<void()> beside = nullptr;
};

// Files are named *.py. `.suture`, `.git` and `__pycache__` are passed over; a link to a folder is not entered (what is
// behind it in the tree has its own path); a link to a file is read where it stays in the tree. Anything else that cannot be listed or
// read, is too large (16 MiB) or leads outside, is among `files` with its problem: nothing reads as "no site".
TreeAudit audit_tree(const TreeFolder& tree, const AuditRules& rules, const AuditWalk& walk);

}  // namespace suture
