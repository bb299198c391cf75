// Staged files: the new bytes of a target, written and durable beside it, with its mode, owner and extended
// attributes; and a second name for the old bytes.
//
// The new file is always at least a second younger than the old one: Python takes bytecode for that of a source by seconds and
// size, and finds it where suture cannot (PYTHONPYCACHEPREFIX of the server, a __pycache__ that we may not write to).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "effects/file_system.h"

namespace suture {

struct StageRequest {
  Handle folder = kAbsolute;
  std::string target;   // its name in the folder
  std::string staged;   // the name to write
  std::string shown;    // the target, for messages
  bool exists = false;  // the target is there: its metadata is copied; else it gets those of the folder (own_like)
  std::uint32_t most = 0664;  // permissions that a file that is not there yet gets at most
};

// Writes `bytes` to the staged name. On an error the staged file may be there, in part.
Status stage_bytes(FileSystem& fs, const StageRequest& request, std::string_view bytes,
                   std::vector<std::string>* notes);

// Gives the target a second name, by a hard link where the file system and the rules allow one: undo then brings
// back the very file. Else a copy of `bytes` with its metadata.
Status stage_old(FileSystem& fs, const StageRequest& request, std::string_view bytes, std::vector<std::string>* notes);

}  // namespace suture
