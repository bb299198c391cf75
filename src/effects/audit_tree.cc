// See audit_tree.h. Tests: tests/unit/audit_test.cc, tests/audit.
#include "effects/audit_tree.h"

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <iterator>
#include <memory>
#include <mutex>
#include <string_view>
#include <thread>
#include <utility>

namespace suture {
namespace {

constexpr std::uint64_t kMostBytes = 16U << 20U;
constexpr std::size_t kUsualBytes = 64U << 10U;
constexpr std::size_t kFilesATime = 16;  // of a folder that one thread takes

// A folder to list, or some files of one.
struct Work {
  std::shared_ptr<Opened> folder;
  std::string path;  // with a slash at its end; empty: the tree itself
  std::vector<std::string> files;
};

// What is left to do, for all threads. The last in is the first out, so that few folders are open at a time.
class Queue {
 public:
  void put(Work work) {
    const std::lock_guard<std::mutex> lock(mutex_);
    work_.push_back(std::move(work));
    ready_.notify_one();
  }
  // nullopt: all is done, by everybody.
  std::optional<Work> take() {
    std::unique_lock<std::mutex> lock(mutex_);
    ++waiting_for_work_;
    ready_.wait(lock, [this] { return !work_.empty() || waiting_for_work_ == threads_; });
    if (work_.empty()) {
      ready_.notify_all();
      return std::nullopt;
    }
    --waiting_for_work_;
    Work work = std::move(work_.back());
    work_.pop_back();
    return work;
  }
  explicit Queue(unsigned threads) : threads_(threads) {}

 private:
  std::mutex mutex_;
  std::condition_variable ready_;
  std::vector<Work> work_;
  unsigned threads_, waiting_for_work_ = 0;
};

class Worker {
 public:
  Worker(const TreeFolder& tree, const AuditRules& rules, AuditDepth depth, Queue& queue)
      : tree_(tree), fs_(tree.fs()), rules_(rules), depth_(depth), queue_(queue) {}

  void run() {
    while (std::optional<Work> work = queue_.take()) {
      if (work->files.empty()) {
        list(*work);
      } else {
        for (const std::string& name : work->files) file(*work, name);
      }
    }
  }
  TreeAudit& result() { return result_; }

 private:
  void list(const Work& work) {
    const Io<std::vector<std::string>> names = fs_.list(work.folder->handle());
    if (!names) return problem(work.path, "cannot list the folder: " + errno_words(names.error));
    std::vector<std::string> files;
    for (const std::string& name : names.value) {
      if (name == kSutureFolder || name == ".git" || name == "__pycache__") continue;
      if (name.ends_with(".py")) {
        files.push_back(name);
      } else {
        folder(work, name);
      }
    }
    for (std::size_t i = 0; i < files.size(); i += kFilesATime) {
      const auto begin = files.begin() + static_cast<std::ptrdiff_t>(i);
      const auto end = files.begin() + static_cast<std::ptrdiff_t>(std::min(i + kFilesATime, files.size()));
      queue_.put({work.folder, work.path, {std::make_move_iterator(begin), std::make_move_iterator(end)}});
    }
  }

  void folder(const Work& work, const std::string& name) {
    const Io<FileInfo> info = fs_.info_at(work.folder->handle(), name);
    if (!info) return problem(work.path + name, errno_words(info.error));
    if (info.value.kind == FileInfo::Kind::symlink) return folder_link(work.path + name);
    if (info.value.kind != FileInfo::Kind::folder) return;
    const Io<Handle> handle = fs_.open_folder(work.folder->handle(), name);
    if (!handle) return problem(work.path + name, "cannot open the folder: " + errno_words(handle.error));
    queue_.put({std::make_shared<Opened>(fs_, handle.value), work.path + name + "/", {}});
  }

  // A folder of the tree that a link leads to is read in its own place; one outside of it is not read, and may be a package.
  void folder_link(const std::string& path) {
    if (path.find('.', path.rfind('/') + 1) != std::string::npos) return;  // no name that can be imported
    if (const Result<TreeFolder::Place> place = tree_.resolve(path); !place) problem(path, place.error().message);
  }

  void file(const Work& work, const std::string& name) {
    const std::string path = work.path + name;
    const Io<std::string_view> bytes = read(work.folder->handle(), name);
    if (bytes.error == ELOOP) return link(path);
    if (bytes.error == EISDIR) return folder(work, name);
    if (!bytes) return problem(path, words_for(bytes.error));
    audit(path, bytes.value);
  }
  void link(const std::string& path) {
    const Result<TreeFolder::Place> place = tree_.resolve(path);
    if (!place) return problem(path, place.error().message);
    if (!place->info) return problem(path, "a link that leads nowhere");
    if (place->info->kind == FileInfo::Kind::folder) return;
    const Io<std::string_view> bytes = read(place->folder->handle(), place->name);
    if (!bytes) return problem(path, words_for(bytes.error));
    audit(path, bytes.value);
  }

  // As read_file(), into the buffer that every file of this thread is read into: a file takes one read, which finds its end too, and
  // no memory.
  Io<std::string_view> read(Handle at, const std::string& name) {
    const Io<RegularFile> opened = open_regular(fs_, at, name, kMostBytes);
    if (!opened) return {opened.error, {}};
    const Handle file = opened.value.file.handle();
    const auto expected = static_cast<std::size_t>(opened.value.size);
    if (buffer_.size() <= expected) buffer_.resize(expected + 1);
    std::size_t size = 0;
    while (true) {
      if (size == buffer_.size()) buffer_.resize(2 * size);
      const std::size_t room = buffer_.size() - size;
      const Io<std::size_t> part = fs_.read_into(file, size, {buffer_.data() + size, room});
      if (!part) return {part.error, {}};
      size += part.value;
      if (size > kMostBytes) return {EFBIG, {}};
      // A regular file of which less is read than there was room for, and all that it holds, is at its end.
      if (part.value == 0 || (size == expected && part.value < room)) return {0, {buffer_.data(), size}};
    }
  }

  void audit(const std::string& path, std::string_view bytes) {
    ++result_.read;
    result_.bytes += bytes.size();
    FileAudit audit = audit_file(rules_, path, bytes, depth_);
    if (audit.parsed) ++result_.parsed;
    result_.parsed_bytes += audit.parsed_bytes;
    if (!audit.sites.empty() || audit.problem) result_.files.push_back({path, std::move(audit)});
  }

  static std::string words_for(int error) {
    if (error == EFBIG) return "the file is larger than " + std::to_string(kMostBytes >> 20U) + " MiB";
    if (error == EINVAL) return "it is no regular file";
    return "cannot read it: " + errno_words(error);
  }
  void problem(std::string path, std::string message) {
    if (path.empty()) path = ".";
    if (path.size() > 1 && path.back() == '/') path.pop_back();
    Location where;
    where.file = path;
    FileAudit audit;
    audit.problem = Error{Exit::file_system, std::move(message), std::move(where), ""};
    result_.files.push_back({std::move(path), std::move(audit)});
  }

  const TreeFolder& tree_;
  FileSystem& fs_;
  const AuditRules& rules_;
  AuditDepth depth_;
  Queue& queue_;
  std::vector<char> buffer_ = std::vector<char>(kUsualBytes);  // of read(); grows, never shrinks
  TreeAudit result_;
};

void merge(TreeAudit& all, TreeAudit& part) {
  std::move(part.files.begin(), part.files.end(), std::back_inserter(all.files));
  all.read += part.read;
  all.parsed += part.parsed;
  all.bytes += part.bytes;
  all.parsed_bytes += part.parsed_bytes;
}

}  // namespace

TreeAudit audit_tree(const TreeFolder& tree, const AuditRules& rules, const AuditWalk& walk) {
  TreeAudit all;
  const Io<Handle> root = tree.fs().open_folder(tree.root(), ".");
  if (!root) {
    Location where;
    where.file = ".";
    FileAudit audit;
    audit.problem = Error{Exit::file_system, "cannot open the folder: " + errno_words(root.error), where, ""};
    all.files.push_back({".", std::move(audit)});
    return all;
  }
  const unsigned threads = std::max(1U, walk.threads);
  Queue queue(threads);
  queue.put({std::make_shared<Opened>(tree.fs(), root.value), "", {}});
  std::vector<Worker> workers(threads, Worker(tree, rules, walk.depth, queue));
  std::vector<std::thread> others;
  for (unsigned i = 1; i < threads; ++i) others.emplace_back([&workers, i] { workers[i].run(); });
  if (walk.beside) walk.beside();
  workers[0].run();
  for (std::thread& thread : others) thread.join();
  for (Worker& worker : workers) merge(all, worker.result());
  std::sort(all.files.begin(), all.files.end(),
            [](const AuditedFile& a, const AuditedFile& b) { return a.path < b.path; });
  return all;
}

}  // namespace suture
