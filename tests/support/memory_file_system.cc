#include "support/memory_file_system.h"

#include <algorithm>
#include <cerrno>

namespace suture {

struct MemoryFileSystem::Node {
  FileInfo::Kind kind = FileInfo::Kind::regular;
  std::uint64_t inode = 0;
  std::uint32_t mode = 0, uid = 1000, gid = 1000, links = 1;
  std::int64_t modified = 0;
  std::string bytes, durable_bytes;                     // a link: its target
  std::map<std::string, NodePtr> names, durable_names;  // a folder
  std::map<std::string, std::string> attributes;
  bool append_only = false;
};

namespace {

std::vector<std::string> split(const std::string& path) {
  std::vector<std::string> parts;
  std::string part;
  for (const char c : path + "/") {
    if (c != '/') {
      part += c;
    } else if (!part.empty()) {
      parts.push_back(std::exchange(part, ""));
    }
  }
  return parts;
}

}  // namespace

MemoryFileSystem::MemoryFileSystem() {
  root_ = new_node(FileInfo::Kind::folder, 0755);
}

MemoryFileSystem::~MemoryFileSystem() {
  each_node([](const NodePtr& node) {
    node->names.clear();
    node->durable_names.clear();
  });
}

MemoryFileSystem::NodePtr MemoryFileSystem::new_node(FileInfo::Kind kind, std::uint32_t mode) {
  auto node = std::make_shared<Node>();
  node->kind = kind;
  node->mode = mode;
  node->inode = next_inode_++;
  node->modified = std::chrono::duration_cast<std::chrono::seconds>(now_).count();
  return node;
}

// --- Setting up and looking

MemoryFileSystem::NodePtr MemoryFileSystem::make_folders(const std::string& path) {
  NodePtr node = root_;
  for (const std::string& part : split(path)) {
    NodePtr& next = node->names[part];
    if (!next) next = new_node(FileInfo::Kind::folder, 0755);
    node = next;
  }
  return node;
}

namespace {
std::string parent_of(const std::string& path) {
  return path.substr(0, path.rfind('/'));
}
std::string base_of(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}
}  // namespace

void MemoryFileSystem::put(const std::string& path, const std::string& bytes, std::uint32_t mode) {
  const NodePtr folder = make_folders(parent_of(path));
  NodePtr node = new_node(FileInfo::Kind::regular, mode);
  node->bytes = bytes;
  folder->names[base_of(path)] = node;
}

void MemoryFileSystem::put_folder(const std::string& path) {
  make_folders(path);
}

void MemoryFileSystem::put_link(const std::string& path, const std::string& target) {
  NodePtr node = new_node(FileInfo::Kind::symlink, 0777);
  node->bytes = target;
  make_folders(parent_of(path))->names[base_of(path)] = node;
}

void MemoryFileSystem::put_hard_link(const std::string& path, const std::string& existing) {
  const NodePtr node = find(existing, false);
  ++node->links;
  make_folders(parent_of(path))->names[base_of(path)] = node;
}

void MemoryFileSystem::move(const std::string& from, const std::string& to) {
  auto& names = make_folders(parent_of(from))->names;
  const NodePtr node = names.at(base_of(from));
  names.erase(base_of(from));
  make_folders(parent_of(to))->names[base_of(to)] = node;
}

void MemoryFileSystem::set_append_only(const std::string& folder, bool append_only) {
  find(folder, true)->append_only = append_only;
}

void MemoryFileSystem::put_xattr(const std::string& path, const std::string& name, const std::string& value) {
  find(path, false)->attributes[name] = value;
}

std::uint32_t MemoryFileSystem::mode_of(const std::string& path) const {
  return find(path, false)->mode;
}
std::uint64_t MemoryFileSystem::inode_of(const std::string& path) const {
  return find(path, false)->inode;
}

void MemoryFileSystem::collect(const Node& node, const std::string& prefix,
                               std::map<std::string, std::string>& out) const {
  for (const auto& [name, child] : node.names) {
    if (child->kind == FileInfo::Kind::folder) {
      out[prefix + name + "/"] = "";
      collect(*child, prefix + name + "/", out);
    } else {
      out[prefix + name] = child->kind == FileInfo::Kind::symlink ? "-> " + child->bytes : child->bytes;
    }
  }
}

std::map<std::string, std::string> MemoryFileSystem::tree(const std::string& path) const {
  std::map<std::string, std::string> out;
  if (const NodePtr node = find(path, true)) collect(*node, "", out);
  return out;
}

void MemoryFileSystem::each_node(const std::function<void(const NodePtr&)>& action) const {
  std::vector<NodePtr> pending{root_};
  std::set<const Node*> seen;
  for (const auto& [handle, open] : handles_) pending.push_back(open.node);
  std::vector<NodePtr> all;
  while (!pending.empty()) {
    const NodePtr node = pending.back();
    pending.pop_back();
    if (!node || !seen.insert(node.get()).second) continue;
    all.push_back(node);
    for (const auto* names : {&node->names, &node->durable_names}) {
      for (const auto& [name, child] : *names) pending.push_back(child);
    }
  }
  for (const NodePtr& node : all) action(node);
}

void MemoryFileSystem::settle() {
  each_node([](const NodePtr& node) {
    node->durable_bytes = node->bytes;
    node->durable_names = node->names;
  });
}

// --- Faults

void MemoryFileSystem::fail_at(std::uint64_t n, int error) {
  count_ = 0;
  fail_at_ = n;
  fail_error_ = error;
}

void MemoryFileSystem::die_at(std::uint64_t n) {
  count_ = 0;
  die_at_ = n;
}

void MemoryFileSystem::revive() {
  handles_.clear();
  dead_ = false;
  fail_at_ = die_at_ = action_at_ = 0;
}

void MemoryFileSystem::lose_power(bool keep_names) {
  handles_.clear();
  each_node([keep_names](const NodePtr& node) {
    if (node->kind == FileInfo::Kind::folder && !keep_names) node->names = node->durable_names;
    if (node->kind == FileInfo::Kind::regular) node->bytes = node->durable_bytes;
  });
}

void MemoryFileSystem::before_operation(std::uint64_t n, std::function<void()> action) {
  count_ = 0;
  action_at_ = n;
  action_ = std::move(action);
}

int MemoryFileSystem::step() {
  if (dead_) return EIO;
  ++count_;
  if (count_ == action_at_) action_();
  if (count_ == die_at_) dead_ = true;
  if (dead_) return EIO;
  return count_ == fail_at_ ? fail_error_ : 0;
}

// --- Names

MemoryFileSystem::NodePtr MemoryFileSystem::find(const std::string& path, bool follow, std::string* real,
                                                 int depth) const {
  if (depth > 40) return nullptr;
  NodePtr node = root_;
  std::vector<std::string> done;
  const std::vector<std::string> parts = split(path);
  std::vector<NodePtr> stack{root_};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i] == ".") continue;
    if (parts[i] == "..") {
      if (stack.size() > 1) {
        stack.pop_back();
        done.pop_back();
      }
      node = stack.back();
      continue;
    }
    const auto child = node->names.find(parts[i]);
    if (node->kind != FileInfo::Kind::folder || child == node->names.end()) return nullptr;
    if (child->second->kind == FileInfo::Kind::symlink && (follow || i + 1 < parts.size())) {
      std::string target = child->second->bytes;
      if (!target.starts_with("/")) {
        std::string prefix;
        for (const std::string& part : done) prefix += "/" + part;
        target = prefix + "/" + target;
      }
      for (std::size_t k = i + 1; k < parts.size(); ++k) target += "/" + parts[k];
      return find(target, follow, real, depth + 1);
    }
    node = child->second;
    stack.push_back(node);
    done.push_back(parts[i]);
  }
  if (real != nullptr) {
    real->clear();
    for (const std::string& part : done) *real += "/" + part;
    if (real->empty()) *real = "/";
  }
  return node;
}

MemoryFileSystem::NodePtr MemoryFileSystem::folder_at(Handle at, const std::string& name, std::string* last) const {
  *last = base_of(name);
  if (at == kAbsolute) return find(parent_of(name), true);
  return handles_.at(at).node;
}

MemoryFileSystem::NodePtr MemoryFileSystem::node_at(Handle at, const std::string& name, int* error) const {
  *error = ENOENT;
  if (at == kAbsolute) return find(name, true);
  const NodePtr folder = handles_.at(at).node;
  if (name == ".") return folder;
  const auto child = folder->names.find(name);
  if (child == folder->names.end()) return nullptr;
  if (child->second->kind == FileInfo::Kind::symlink) {
    *error = ELOOP;
    return nullptr;
  }
  return child->second;
}

Handle MemoryFileSystem::open_node(const NodePtr& node) {
  handles_[next_handle_] = {node, 0};
  return next_handle_++;
}

FileInfo MemoryFileSystem::info_of(const Node& node) {
  FileInfo info;
  info.kind = node.kind;
  info.size = node.bytes.size();
  info.mode = node.mode;
  info.uid = node.uid;
  info.gid = node.gid;
  info.device = 1;
  info.inode = node.inode;
  info.links = node.links;
  info.modified = node.modified;
  return info;
}

// --- FileSystem

Io<Handle> MemoryFileSystem::open_folder(Handle at, const std::string& name) {
  if (const int error = step()) return {error, {}};
  int error = 0;
  const NodePtr node = node_at(at, name, &error);
  if (!node) return {error, {}};
  if (node->kind != FileInfo::Kind::folder) return {ENOTDIR, {}};
  return {0, open_node(node)};
}

Io<Handle> MemoryFileSystem::open_file(Handle at, const std::string& name) {
  if (const int error = step()) return {error, {}};
  int error = 0;
  const NodePtr node = node_at(at, name, &error);
  if (!node) return {error, {}};
  return {0, open_node(node)};
}

Io<Handle> MemoryFileSystem::create_file(Handle at, const std::string& name, std::uint32_t mode) {
  if (const int error = step()) return {error, {}};
  if (read_only_) return {EROFS, {}};
  std::string last;
  const NodePtr folder = folder_at(at, name, &last);
  if (!folder) return {ENOENT, {}};
  if (folder->names.contains(last)) return {EEXIST, {}};
  const NodePtr node = new_node(FileInfo::Kind::regular, mode);
  folder->names[last] = node;
  return {0, open_node(node)};
}

Io<Handle> MemoryFileSystem::open_lock(Handle at, const std::string& name, bool create) {
  if (const int error = step()) return {error, {}};
  const NodePtr folder = handles_.at(at).node;
  if (!folder->names.contains(name)) {
    if (!create) return {ENOENT, {}};
    if (read_only_) return {EROFS, {}};
    if (folder->links == 0) return {ENOENT, {}};  // the folder was removed
    folder->names[name] = new_node(FileInfo::Kind::regular, 0644);
  }
  if (create && read_only_) return {EROFS, {}};
  return {0, open_node(folder->names[name])};
}

void MemoryFileSystem::close(Handle handle) {
  handles_.erase(handle);
}

Io<std::string> MemoryFileSystem::read(Handle file, std::uint64_t offset, std::size_t at_most) {
  if (const int error = step()) return {error, {}};
  const Node& node = *handles_.at(file).node;
  if (node.kind == FileInfo::Kind::folder) return {EISDIR, {}};
  if (offset >= node.bytes.size()) return {0, {}};
  // Short reads, as a pipe or a network file system gives them.
  return {0, node.bytes.substr(offset, std::min<std::size_t>(at_most, 1000))};
}

Io<FileInfo> MemoryFileSystem::info(Handle handle) {
  if (const int error = step()) return {error, {}};
  return {0, info_of(*handles_.at(handle).node)};
}

Io<FileInfo> MemoryFileSystem::info_at(Handle at, const std::string& name) {
  if (const int error = step()) return {error, {}};
  if (at == kAbsolute) {
    const NodePtr node = find(name, false);
    if (!node) return {ENOENT, {}};
    return {0, info_of(*node)};
  }
  const NodePtr folder = handles_.at(at).node;
  if (name == ".") return {0, info_of(*folder)};
  const auto child = folder->names.find(name);
  if (child == folder->names.end()) return {ENOENT, {}};
  return {0, info_of(*child->second)};
}

Io<std::vector<std::string>> MemoryFileSystem::list(Handle folder) {
  if (const int error = step()) return {error, {}};
  std::vector<std::string> names;
  for (const auto& [name, node] : handles_.at(folder).node->names) names.push_back(name);
  return {0, names};
}

Io<std::string> MemoryFileSystem::read_link(Handle at, const std::string& name) {
  if (const int error = step()) return {error, {}};
  std::string last;
  const NodePtr folder = folder_at(at, name, &last);
  const auto child = folder ? folder->names.find(last) : decltype(folder->names.find(last)){};
  if (!folder || child == folder->names.end()) return {ENOENT, {}};
  if (child->second->kind != FileInfo::Kind::symlink) return {EINVAL, {}};
  return {0, child->second->bytes};
}

Io<std::string> MemoryFileSystem::real_path(const std::string& path) {
  if (const int error = step()) return {error, {}};
  std::string real;
  if (!find(path, true, &real)) return {ENOENT, {}};
  return {0, real};
}

Io<std::size_t> MemoryFileSystem::write(Handle file, std::string_view bytes) {
  if (const int error = step()) {
    // A write that fails may have written a part.
    if (!dead_) handles_.at(file).node->bytes += bytes.substr(0, bytes.size() / 2);
    return {error, 0};
  }
  if (read_only_) return {EROFS, 0};
  const std::size_t part = std::min<std::size_t>(bytes.size(), 1000);
  handles_.at(file).node->bytes += bytes.substr(0, part);
  return {0, part};
}

Io<Done> MemoryFileSystem::sync(Handle handle) {
  if (const int error = step()) return {error, {}};
  Node& node = *handles_.at(handle).node;
  node.durable_bytes = node.bytes;
  node.durable_names = node.names;
  return {};
}

Io<Done> MemoryFileSystem::rename(Handle at, const std::string& from, Handle to_at, const std::string& to) {
  if (const int error = step()) return {error, {}};
  if (read_only_) return {EROFS, {}};
  const NodePtr source = handles_.at(at).node, target = handles_.at(to_at).node;
  const auto child = source->names.find(from);
  if (child == source->names.end()) return {ENOENT, {}};
  if (source->append_only || (target->append_only && target->names.contains(to))) return {EPERM, {}};
  const NodePtr node = child->second;
  const auto replaced = target->names.find(to);
  if (replaced != target->names.end()) {
    if (replaced->second == node) return {};  // two names of one file: rename does nothing
    --replaced->second->links;
  }
  source->names.erase(child);
  target->names[to] = node;
  return {};
}

Io<Done> MemoryFileSystem::exchange(Handle at, const std::string& one, const std::string& other) {
  if (const int error = step()) return {error, {}};
  if (read_only_) return {EROFS, {}};
  if (plain_renames_) return {ENOTSUP, {}};
  auto& names = handles_.at(at).node->names;
  if (!names.contains(one) || !names.contains(other)) return {ENOENT, {}};
  if (handles_.at(at).node->append_only) return {EPERM, {}};
  std::swap(names[one], names[other]);
  return {};
}

Io<Done> MemoryFileSystem::rename_new(Handle at, const std::string& from, const std::string& to) {
  if (const int error = step()) return {error, {}};
  if (read_only_) return {EROFS, {}};
  if (plain_renames_) return {ENOTSUP, {}};
  auto& names = handles_.at(at).node->names;
  if (!names.contains(from)) return {ENOENT, {}};
  if (names.contains(to)) return {EEXIST, {}};
  if (handles_.at(at).node->append_only) return {EPERM, {}};
  names[to] = names[from];
  names.erase(from);
  return {};
}

Io<std::size_t> MemoryFileSystem::overwrite(Handle file, std::string_view bytes) {
  if (const int error = step()) return {error, 0};
  if (read_only_) return {EROFS, 0};
  handles_.at(file).node->bytes.replace(0, bytes.size(), bytes);
  return {0, bytes.size()};
}

Io<Done> MemoryFileSystem::link(Handle at, const std::string& from, Handle to_at, const std::string& to) {
  if (const int error = step()) return {error, {}};
  if (read_only_) return {EROFS, {}};
  const NodePtr source = handles_.at(at).node, target = handles_.at(to_at).node;
  const auto child = source->names.find(from);
  if (child == source->names.end()) return {ENOENT, {}};
  if (target->names.contains(to)) return {EEXIST, {}};
  ++child->second->links;
  target->names[to] = child->second;
  return {};
}

Io<Done> MemoryFileSystem::remove(Handle at, const std::string& name) {
  if (const int error = step()) return {error, {}};
  std::string last;
  const NodePtr folder = folder_at(at, name, &last);
  if (!folder) return {ENOENT, {}};
  const auto child = folder->names.find(last);
  if (child == folder->names.end()) return {ENOENT, {}};
  if (read_only_) return {EROFS, {}};
  if (folder->append_only) return {EPERM, {}};
  if (child->second->kind == FileInfo::Kind::folder) return {EISDIR, {}};
  --child->second->links;
  folder->names.erase(child);
  return {};
}

Io<Done> MemoryFileSystem::make_folder(Handle at, const std::string& name, std::uint32_t mode) {
  if (const int error = step()) return {error, {}};
  std::string last;
  const NodePtr folder = folder_at(at, name, &last);
  if (!folder) return {ENOENT, {}};
  if (folder->names.contains(last)) return {EEXIST, {}};
  if (read_only_) return {EROFS, {}};
  folder->names[last] = new_node(FileInfo::Kind::folder, mode);
  return {};
}

Io<Done> MemoryFileSystem::remove_folder(Handle at, const std::string& name) {
  if (const int error = step()) return {error, {}};
  std::string last;
  const NodePtr folder = folder_at(at, name, &last);
  if (!folder) return {ENOENT, {}};
  const auto child = folder->names.find(last);
  if (child == folder->names.end()) return {ENOENT, {}};
  if (read_only_) return {EROFS, {}};
  if (folder->append_only) return {EPERM, {}};
  if (child->second->kind != FileInfo::Kind::folder) return {ENOTDIR, {}};
  if (!child->second->names.empty()) return {ENOTEMPTY, {}};
  child->second->links = 0;
  folder->names.erase(child);
  return {};
}

Io<Done> MemoryFileSystem::set_mode(Handle file, std::uint32_t mode) {
  if (const int error = step()) return {error, {}};
  handles_.at(file).node->mode = mode;
  return {};
}

Io<Done> MemoryFileSystem::set_owner(Handle file, std::uint32_t uid, std::uint32_t gid) {
  if (const int error = step()) return {error, {}};
  handles_.at(file).node->uid = uid;
  handles_.at(file).node->gid = gid;
  return {};
}

Io<Done> MemoryFileSystem::set_modified(Handle file, std::int64_t seconds) {
  if (const int error = step()) return {error, {}};
  handles_.at(file).node->modified = seconds;
  return {};
}

Io<Done> MemoryFileSystem::may_change(Handle folder) {
  if (const int error = step()) return {error, {}};
  return {read_only_ ? EROFS : (handles_.at(folder).node->mode & 0200U) == 0 ? EACCES : 0, {}};
}

Io<std::vector<std::string>> MemoryFileSystem::xattrs(Handle file) {
  if (const int error = step()) return {error, {}};
  std::vector<std::string> names;
  for (const auto& [name, value] : handles_.at(file).node->attributes) names.push_back(name);
  return {0, names};
}

Io<std::string> MemoryFileSystem::xattr(Handle file, const std::string& name) {
  if (const int error = step()) return {error, {}};
  const auto& attributes = handles_.at(file).node->attributes;
  const auto found = attributes.find(name);
  if (found == attributes.end()) return {ENODATA, {}};
  return {0, found->second};
}

Io<Done> MemoryFileSystem::set_xattr(Handle file, const std::string& name, const std::string& value) {
  if (const int error = step()) return {error, {}};
  handles_.at(file).node->attributes[name] = value;
  return {};
}

Io<Done> MemoryFileSystem::remove_xattr(Handle file, const std::string& name) {
  if (const int error = step()) return {error, {}};
  handles_.at(file).node->attributes.erase(name);
  return {};
}

Io<Done> MemoryFileSystem::try_lock(Handle file, bool shared) {
  if (const int error = step()) return {error, {}};
  Open& own = handles_.at(file);
  for (const auto& [handle, open] : handles_) {
    if (handle == file || open.node != own.node) continue;
    if (open.lock == 2 || (open.lock == 1 && !shared)) return {EWOULDBLOCK, {}};
  }
  own.lock = shared ? 1 : 2;
  return {};
}

std::string MemoryFileSystem::unique_token() {
  std::string token = std::to_string(++tokens_);
  return std::string(16 - token.size(), '0') + token;
}

}  // namespace suture
