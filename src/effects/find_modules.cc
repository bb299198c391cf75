// See find_modules.h. Tests: tests/unit/find_modules_test.cc.
#include "effects/find_modules.h"

#include <tuple>
#include <vector>

namespace suture {
namespace {

constexpr std::size_t kMostFound = 24;
constexpr std::size_t kMostFiles = 20'000;         // that are read; SGLang has about 3,000
constexpr std::uint64_t kMostBytes = 256U << 20U;  // of all files together
constexpr std::uint64_t kLargestFile = 2U << 20U;
constexpr int kDeepest = 24;

class Walk {
 public:
  Walk(FileSystem& fs, const RankModule& rank) : fs_(fs), rank_(rank) {}

  void folder(Handle handle, const std::string& prefix, int depth) {
    const Io<std::vector<std::string>> names = fs_.list(handle);
    if (!names || depth > kDeepest) return;
    for (const std::string& name : names.value) {
      if (files_ >= kMostFiles || bytes_ >= kMostBytes) return;
      if (name.starts_with(".") || name == "__pycache__") continue;
      const Io<FileInfo> info = fs_.info_at(handle, name);
      if (!info) continue;
      if (info.value.kind == FileInfo::Kind::folder) {
        const Io<Handle> inner = fs_.open_folder(handle, name);
        if (!inner) continue;
        const Opened opened(fs_, inner.value);
        folder(opened.handle(), prefix + name + "/", depth + 1);
      } else if (info.value.kind == FileInfo::Kind::regular && name.ends_with(".py")) {
        module(handle, name, prefix + name);
      }
    }
  }

  std::map<std::string, std::string> best() {
    std::map<std::string, std::string> out;
    for (auto& [key, bytes] : found_) out.emplace(key.second, std::move(bytes));
    return out;
  }

 private:
  void module(Handle handle, const std::string& name, const std::string& path) {
    Io<std::string> bytes = read_file(fs_, handle, name, kLargestFile);
    ++files_;
    if (!bytes) return;
    bytes_ += bytes.value.size();
    const int rank = rank_(path, bytes.value);
    if (rank <= 0) return;
    found_.emplace(std::make_pair(-rank, path), std::move(bytes.value));
    if (found_.size() > kMostFound) found_.erase(std::prev(found_.end()));
  }

  FileSystem& fs_;
  const RankModule& rank_;
  std::map<std::pair<int, std::string>, std::string> found_;  // best first
  std::size_t files_ = 0;
  std::uint64_t bytes_ = 0;
};

}  // namespace

std::map<std::string, std::string> find_modules(FileSystem& fs, const LocatedTree& tree, const RankModule& rank) {
  if (!tree.present) return {};
  const Io<Handle> handle = fs.open_folder(kAbsolute, tree.package_folder);
  if (!handle) return {};
  const Opened opened(fs, handle.value);
  Walk walk(fs, rank);
  walk.folder(opened.handle(), "", 0);
  return walk.best();
}

}  // namespace suture
