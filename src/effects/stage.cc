#include "effects/stage.h"

#include <algorithm>
#include <cerrno>

namespace suture {
namespace {

constexpr std::uint32_t kPrivateMode = 0600;

// Labels that the system sets, and that not everyone may: a copy that cannot be made is said, not refused.
bool is_label(const std::string& name) {
  return name.starts_with("security.") || name.starts_with("trusted.");
}

class MetadataCopy {
 public:
  MetadataCopy(FileSystem& fs, Handle from, Handle to, const std::string& shown, std::vector<std::string>* notes)
      : fs_(fs), from_(from), to_(to), shown_(shown), notes_(notes) {}

  // Owner first (it clears mode bits), then attributes (an ACL sets group bits), then the mode.
  Status run() {
    const Io<FileInfo> wanted = fs_.info(from_), own = fs_.info(to_);
    if (!wanted || !own) return io_error("look at", shown_, wanted ? own.error : wanted.error);
    if (wanted.value.uid != own.value.uid || wanted.value.gid != own.value.gid) {
      const Io<Done> done = fs_.set_owner(to_, wanted.value.uid, wanted.value.gid);
      if (!done) return io_error("keep the owner of", shown_, done.error);
    }
    if (Status copied = copy_attributes(); !copied) return copied;
    const Io<Done> done = fs_.set_mode(to_, wanted.value.mode);
    if (!done) return io_error("keep the mode of", shown_, done.error);
    if (own.value.modified > wanted.value.modified) return Nothing{};
    const Io<Done> younger = fs_.set_modified(to_, wanted.value.modified + 1);
    if (!younger) return io_error("set the time of", shown_, younger.error);
    return Nothing{};
  }

 private:
  // The names; none where the file system has no attributes.
  Io<std::vector<std::string>> names(Handle file) {
    Io<std::vector<std::string>> all = fs_.xattrs(file);
    if (all.error == ENOTSUP) return {};
    return all;
  }

  Status copy_attributes() {
    const Io<std::vector<std::string>> wanted = names(from_), own = names(to_);
    if (!wanted || !own) return io_error("read the attributes of", shown_, wanted ? own.error : wanted.error);
    for (const std::string& name : own.value) {  // a folder's default ACL put one on the new file
      const bool extra = std::find(wanted.value.begin(), wanted.value.end(), name) == wanted.value.end();
      if (extra && !is_label(name)) static_cast<void>(fs_.remove_xattr(to_, name));
    }
    for (const std::string& name : wanted.value) {
      if (Status copied = copy_one(name); !copied) return copied;
    }
    return Nothing{};
  }

  Status copy_one(const std::string& name) {
    const Io<std::string> value = fs_.xattr(from_, name);
    if (value.error == ENODATA) return Nothing{};
    if (!value) return io_error("read the attribute " + name + " of", shown_, value.error);
    const Io<Done> set = fs_.set_xattr(to_, name, value.value);
    if (set) return Nothing{};
    const Io<std::string> present = fs_.xattr(to_, name);
    if (present && present.value == value.value) return Nothing{};
    if (!is_label(name)) return io_error("keep the attribute " + name + " of", shown_, set.error);
    notes_->push_back("the attribute " + name + " of " + shown_ + " could not be kept: " + errno_words(set.error));
    return Nothing{};
  }

  FileSystem& fs_;
  Handle from_, to_;
  const std::string& shown_;
  std::vector<std::string>* notes_;
};

Status give_metadata(FileSystem& fs, const StageRequest& request, Handle file, std::vector<std::string>* notes) {
  if (request.exists) {
    const Io<Handle> target = fs.open_file(request.folder, request.target);
    if (!target) return io_error("open", request.shown, target.error);
    const Opened opened(fs, target.value);
    return MetadataCopy(fs, opened.handle(), file, request.shown, notes).run();
  }
  const Io<FileInfo> folder = fs.info(request.folder);
  if (!folder) return io_error("look at the folder of", request.shown, folder.error);
  const Io<Done> owned = own_like(fs, file, folder.value, request.most);
  if (!owned) return io_error("set the permissions of", request.shown, owned.error);
  return Nothing{};
}

}  // namespace

Status stage_bytes(FileSystem& fs, const StageRequest& request, std::string_view bytes,
                   std::vector<std::string>* notes) {
  const Io<Handle> created = fs.create_file(request.folder, request.staged, kPrivateMode);
  if (!created) return io_error("write beside", request.shown, created.error);
  const Opened file(fs, created.value);
  const Io<Done> written = write_all(fs, file.handle(), bytes);
  if (!written) return io_error("write beside", request.shown, written.error);
  if (Status given = give_metadata(fs, request, file.handle(), notes); !given) return given;
  const Io<Done> synced = fs.sync(file.handle());
  if (!synced) return io_error("write beside", request.shown, synced.error);
  return Nothing{};
}

Status stage_old(FileSystem& fs, const StageRequest& request, std::string_view bytes, std::vector<std::string>* notes) {
  if (fs.link(request.folder, request.target, request.folder, request.staged)) return Nothing{};
  // Whatever the reason (no hard links here, not our file, too many names): a copy does, or fails with its own
  // reason.
  return stage_bytes(fs, request, bytes, notes);
}

}  // namespace suture
