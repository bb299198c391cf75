// One run of suture: the options and the outside world that it may touch, and the steps that commands share: read the
// catalog, choose patches, find the tree, load its state. Each step takes values and hands a value on.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "effects/file_system.h"
#include "effects/locate.h"
#include "effects/store.h"
#include "effects/wheel_file_system.h"
#include "engine/state.h"
#include "read/catalog.h"
#include "shell/options.h"
#include "shell/report_text.h"

namespace suture {

class Session {
 public:
  // say: writes words to stderr at once (waiting for a lock); nothing else is printed while a command runs.
  // Wheels that --tree and --with name are mounted here, and nowhere else: no environment leads to one.
  Session(const Options& options, FileSystem& fs, std::map<std::string, std::string> environment, Style out, Style err,
          std::function<void(const std::string&)> say);

  [[nodiscard]] const Options& options() const { return options_; }
  [[nodiscard]] FileSystem& fs() const { return *fs_; }
  [[nodiscard]] const std::map<std::string, std::string>& environment() const { return environment_; }
  [[nodiscard]] Style out() const { return out_; }
  [[nodiscard]] Style err() const { return err_; }
  // Words for stderr, at once: progress.
  void say(const std::string& words) const { say_(words); }
  [[nodiscard]] TreeRequest request(const std::string& tree) const {
    return {.tree = tree, .python = options_.value("--python"), .environment = environment_};
  }
  // How long to wait for another process, over all locks of the run, and who is told.
  [[nodiscard]] TreeLock::Options lock_options() const;

  // The shipped rules and patches, with those of --rules-dir and --patches-dir: the files, and what they say.
  [[nodiscard]] Result<CatalogInput> catalog_files() const;
  [[nodiscard]] Result<Catalog> open_catalog() const;
  // Where the package is. `tree`: the value of --tree, or empty.
  [[nodiscard]] Result<LocatedTree> find(const std::string& tree, const std::string& package,
                                         const std::string& folder) const;
  // Error (file_system): `path`, a value of --tree or --with, is a wheel that could not be mounted: why.
  [[nodiscard]] Status readable(const std::string& path) const;

 private:
  const Options& options_;
  std::unique_ptr<WheelFileSystem> fs_;
  std::map<std::string, Error> bad_wheels_;  // by path, as --tree or --with names it
  std::map<std::string, std::string> environment_;
  Style out_, err_;
  std::function<void(const std::string&)> say_;
  std::shared_ptr<TreeLock::Wait> wait_ = std::make_shared<TreeLock::Wait>();
};

// The value of a numeric option within bounds; `otherwise` where it is not given. Error: usage.
Result<int> number_option(const Session& session, std::string_view name, int otherwise, int least, int most);

// The patches of those names, each once, in the order given. Error (usage): a name that the catalog does not have.
Result<std::vector<const Patch*>> choose(const Catalog& catalog, const std::vector<std::string>& names);
Error unknown_patch(const Catalog& catalog, const std::string& name);

// Patches that share a package; groups sorted by package, patches in the order given.
struct PackageGroup {
  std::string package, folder;
  std::vector<const Patch*> patches;
};
std::vector<PackageGroup> group_by_package(const std::vector<const Patch*>& patches);
// `groups` with the packages of the tree that hold receipts and are in none of them (without patches), in the same order.
std::vector<PackageGroup> with_patched(const Session& session, std::vector<PackageGroup> groups,
                                       const std::string& tree);
std::vector<const Patch*> all_patches(const Catalog& catalog);

// The interpreter of --python as it is called, searched on PATH where it is a bare name. Error (file_system): not there.
Result<std::string> interpreter_of(const Session& session);

// One package in one tree, loaded.
struct Target {
  PackageGroup group;
  LocatedTree tree;
  TreeState state;
  bool interrupted = false;                // a crash left a journal: what is read here may be half of a transaction
  std::optional<Error> journal_problem{};  // why that journal cannot be read
};
// Whether the tree's lock is to be shared while it is read, or is held to write by the caller.
enum class Lock { share, held };
// Everything that `group` and the package's other patches look at is read: a conflict is judged on both.
Result<Target> load_target(const Session& session, const Catalog& catalog, const PackageGroup& group,
                           const std::string& tree, Lock lock = Lock::share);

// The head of a report on a target: tree, package, version.
TreeReport report_on(const Target& target);
// "sglang/srt/x.py": relative to the folder that holds the package.
std::string shown_path(const Target& target, const std::string& path);

}  // namespace suture
