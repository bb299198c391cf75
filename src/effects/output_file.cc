// See output_file.h. Tests: tests/trace/output_test.py.
#include "effects/output_file.h"

#include <cerrno>

#include "effects/pipe.h"

namespace suture {
namespace {

struct Place {
  std::string folder, name;
};

Place split(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return {".", path};
  return {slash == 0 ? "/" : path.substr(0, slash), path.substr(slash + 1)};
}

// What the path leads to, links followed. Not opened: whoever waits at a pipe would take that for its other end.
Io<FileInfo> info_of(FileSystem& fs, const std::string& path) {
  const Io<std::string> real = fs.real_path(path);
  return real ? fs.info_at(kAbsolute, real.value) : Io<FileInfo>{real.error, {}};
}

// The folder without links and the name in it; a link is followed also where nothing is behind it yet.
Io<Place> place_of(FileSystem& fs, std::string path) {
  constexpr int most_links = 40;  // as Linux
  for (int i = 0; i < most_links; ++i) {
    if (const Io<std::string> real = fs.real_path(path)) return {0, split(real.value)};
    Place place = split(path);
    if (place.name.empty()) return {EISDIR, {}};
    const Io<std::string> folder = fs.real_path(place.folder);
    if (!folder) return {folder.error, {}};
    place.folder = folder.value;
    const std::string full = (place.folder == "/" ? "" : place.folder) + "/" + place.name;
    const Io<FileInfo> there = fs.info_at(kAbsolute, full);
    if (!there || there.value.kind != FileInfo::Kind::symlink) return {0, std::move(place)};
    const Io<std::string> target = fs.read_link(kAbsolute, full);
    if (!target) return {target.error, {}};
    path = target.value.starts_with('/') ? target.value : place.folder + "/" + target.value;
  }
  return {ELOOP, {}};
}

Io<Done> write_staged(FileSystem& fs, Handle folder, const std::string& staged, std::string_view bytes,
                      const FileInfo* before) {
  const Io<Handle> file = fs.create_file(folder, staged, 0644);
  if (!file) return {file.error, {}};
  const Opened written(fs, file.value);
  if (before != nullptr) {
    if (const Io<Done> moded = fs.set_mode(written.handle(), before->mode & 0777U); !moded) return moded;
  }
  return write_all(fs, written.handle(), bytes);
}

Io<Done> replace(FileSystem& fs, const std::string& path, std::string_view bytes, const FileInfo* before) {
  const Io<Place> place = place_of(fs, path);
  if (!place) return {place.error, {}};
  const Io<Handle> at = fs.open_folder(kAbsolute, place.value.folder);
  if (!at) return {at.error, {}};
  const Opened folder(fs, at.value);
  const std::string staged = "." + place.value.name + "." + fs.unique_token();
  Io<Done> done = write_staged(fs, folder.handle(), staged, bytes, before);
  if (done) done = fs.rename(folder.handle(), staged, folder.handle(), place.value.name);
  if (!done) (void)fs.remove(folder.handle(), staged);
  return done;
}

}  // namespace

Status write_output(FileSystem& fs, const std::string& path, std::string_view bytes) {
  const Io<FileInfo> there = info_of(fs, path);
  const bool pipe = is_pipe(path);  // behind /dev/stdout may be one that has no path
  if (!pipe && !there && there.error != ENOENT) return io_error("write", path, there.error);
  if (there && there.value.kind == FileInfo::Kind::folder) return io_error("write", path, EISDIR);
  const Io<Done> done = pipe ? write_pipe(path, bytes) : replace(fs, path, bytes, there ? &there.value : nullptr);
  if (!done) return io_error("write", path, done.error);
  return Nothing{};
}

bool lead_to_one_file(FileSystem& fs, const std::string& one, const std::string& other) {
  const Io<FileInfo> a = info_of(fs, one), b = info_of(fs, other);
  return a && b && a.value.kind == FileInfo::Kind::regular && same_file(a.value, b.value);
}

}  // namespace suture
