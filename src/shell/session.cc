#include "shell/session.h"

#include <algorithm>
#include <charconv>
#include <set>
#include <tuple>
#include <utility>

#include "base/printable.h"
#include "base/text.h"
#include "effects/environment.h"
#include "effects/modules.h"
#include "effects/other_packages.h"
#include "engine/check.h"
#include "read/version.h"
#include "shell/catalog_files.h"

namespace suture {

namespace {

bool is_among(const std::vector<NamedBytes>& files, const std::shared_ptr<const Source>& source) {
  return std::any_of(files.begin(), files.end(),
                     [&source](const NamedBytes& file) { return file.path == source->name(); });
}

// What a person is writing is checked when it is read, whatever the command: a pattern that does not parse must not pass
// for one that matches nothing. (What is shipped is checked by the tests: it costs every run of every command otherwise.)
Status check_written(const CatalogInput& input, const Catalog& catalog) {
  for (const auto& [id, rule] : catalog.rules) {
    if (!is_among(input.rule_files, rule.source)) continue;
    if (Status checked = check_rule(rule); !checked) return checked;
  }
  for (const Patch& patch : catalog.patches) {
    const bool written = is_among(input.patch_files, patch.source) ||
                         std::any_of(patch.rules.begin(), patch.rules.end(),
                                     [&input](const Rule& rule) { return is_among(input.rule_files, rule.source); });
    if (!written) continue;
    if (Status checked = check_patch(patch); !checked) return checked;
  }
  return Nothing{};
}

// "flashinfer-python" and "PATH" of "flashinfer_python=PATH".
std::pair<std::string, std::string> with_parts(const std::string& value) {
  const std::size_t equals = value.find('=');
  return {normalize_name(value.substr(0, equals)), value.substr(equals + 1)};
}

using Others = std::map<std::string, OtherNeeds>;  // by distribution name

void merge_needs(Others& others, const Patch& patch) {
  for (auto& [name, needs] : others_needed(patch)) {
    others[name].files.merge(needs.files);
    others[name].classes.merge(needs.classes);
    others[name].folders.merge(needs.folders);
  }
}

// Which of them a name of --with means: a distribution, or the one that is imported by that name. Else the name as it is.
std::string meant(const Others& others, const std::string& name) {
  if (others.contains(name)) return name;
  const auto by_folder = std::find_if(others.begin(), others.end(), [&name](const auto& other) {
    const auto& folders = other.second.folders;
    return std::any_of(folders.begin(), folders.end(), [&](const std::string& f) { return normalize_name(f) == name; });
  });
  return by_folder == others.end() ? name : by_folder->first;
}

// A package of --with that no patch asks for is a slip: the condition that was meant would read as before.
Status check_with(const Options& options, const Catalog& catalog) {
  Others asked;
  for (const Patch& patch : catalog.patches) merge_needs(asked, patch);
  std::set<std::string> given;
  for (const std::string& value : options.values("--with")) {
    const std::string name = meant(asked, with_parts(value).first);
    if (!given.insert(name).second)
      return Error{Exit::usage, "--with names " + name + " twice", std::nullopt, "give one place for it"};
    if (asked.contains(name)) continue;
    std::vector<std::string> known;
    for (const auto& [other, needs] : asked) known.push_back(other);
    return Error{Exit::usage, "--with names " + name + ", and no patch has a condition on that package", std::nullopt,
                 known.empty() ? "leave it out" : "the packages that patches ask for: " + join(known, ", ")};
  }
  return Nothing{};
}

}  // namespace

Session::Session(const Options& options, FileSystem& fs, std::map<std::string, std::string> environment, Style out,
                 Style err, std::function<void(const std::string&)> say)
    : options_(options),
      fs_(std::make_unique<WheelFileSystem>(fs)),
      environment_(std::move(environment)),
      out_(out),
      err_(err),
      say_(std::move(say)) {
  std::vector<std::string> paths = options.values("--tree");
  for (const std::string& value : options.values("--with")) paths.push_back(with_parts(value).second);
  for (const std::string& path : paths) {
    if (!is_wheel(fs, path)) continue;
    if (const Status mounted = fs_->mount(path); !mounted) bad_wheels_.emplace(path, mounted.error());
  }
}

Status Session::readable(const std::string& path) const {
  const auto bad = bad_wheels_.find(path);
  if (bad != bad_wheels_.end()) return bad->second;
  return Nothing{};
}

Result<CatalogInput> Session::catalog_files() const {
  CatalogInput input{.shipped = embedded_files(), .rule_files = {}, .patch_files = {}};
  for (const std::string& folder : options_.values("--rules-dir")) {
    if (Status read = read_rule_folder(*fs_, folder, input.rule_files); !read) return read.error();
  }
  for (const std::string& folder : options_.values("--patches-dir")) {
    if (Status read = read_patch_folder(*fs_, folder, input.patch_files); !read) return read.error();
  }
  return input;
}

Result<Catalog> Session::open_catalog() const {
  const Result<CatalogInput> files = catalog_files();
  if (!files) return files.error();
  const CatalogInput& input = *files;
  Result<Catalog> catalog = build_catalog(input);
  if (!catalog) return catalog;
  if (Status checked = check_written(input, *catalog); !checked) return checked.error();
  if (Status checked = check_with(options_, *catalog); !checked) return checked.error();
  return catalog;
}

Result<LocatedTree> Session::find(const std::string& tree, const std::string& package,
                                  const std::string& folder) const {
  if (const Status wheel = readable(tree); !wheel) return wheel.error();
  return locate(*fs_, request(tree), package, folder);
}

TreeLock::Options Session::lock_options() const {
  TreeLock::Options options;
  options.run = wait_;
  const std::string seconds = options_.value("--lock-timeout");
  if (!seconds.empty()) options.timeout = std::chrono::seconds(std::stoul(seconds));  // options.cc checks it
  options.waiting = [this](const std::string& words) {
    if (!options_.quiet) say_(printable(words) + "\n");
  };
  return options;
}

Result<int> number_option(const Session& session, std::string_view name, int otherwise, int least, int most) {
  if (!session.options().flag(name)) return otherwise;
  const std::string text = session.options().value(name);
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size() && value >= least && value <= most) return value;
  return Error{Exit::usage, std::string(name) + " is given \"" + text + "\"", std::nullopt,
               "it is a whole number from " + std::to_string(least) + " to " + std::to_string(most)};
}

Error unknown_patch(const Catalog& catalog, const std::string& name) {
  std::vector<std::string> known;
  for (const Patch& patch : catalog.patches) known.push_back(patch.name);
  const std::optional<std::string> near = nearest(name, known);
  std::string hint = near ? "the nearest known one is " + *near + "; " : "";
  hint += "suture list shows the patches; --patches-dir adds some";
  return {Exit::usage, "there is no patch \"" + name + "\"", std::nullopt, hint};
}

Result<std::vector<const Patch*>> choose(const Catalog& catalog, const std::vector<std::string>& names) {
  std::vector<const Patch*> chosen;
  for (const std::string& name : names) {
    const Patch* patch = catalog.find(name);
    if (patch == nullptr) return unknown_patch(catalog, name);
    if (std::find(chosen.begin(), chosen.end(), patch) == chosen.end()) chosen.push_back(patch);
  }
  return chosen;
}

Result<std::string> interpreter_of(const Session& session) {
  const std::string called = session.options().value("--python");
  if (called.find('/') != std::string::npos) return called;
  auto found = find_on_path(session.fs(), called, value_of(session.environment(), "PATH"));
  if (found) return *std::move(found);
  return Error{Exit::file_system, called + " (--python): there is no such program on PATH", std::nullopt,
               "name the interpreter by its path"};
}

std::vector<const Patch*> all_patches(const Catalog& catalog) {
  std::vector<const Patch*> all;
  for (const Patch& patch : catalog.patches) all.push_back(&patch);
  return all;
}

namespace {

// Locks are taken in this order, the same in every process.
void sort_groups(std::vector<PackageGroup>& groups) {
  std::sort(groups.begin(), groups.end(), [](const PackageGroup& a, const PackageGroup& b) {
    return std::tie(a.package, a.folder) < std::tie(b.package, b.folder);
  });
}

}  // namespace

std::vector<PackageGroup> group_by_package(const std::vector<const Patch*>& patches) {
  std::vector<PackageGroup> groups;
  for (const Patch* patch : patches) {
    const std::string folder = patch->import_folder();
    const auto found = std::find_if(groups.begin(), groups.end(), [patch, &folder](const PackageGroup& group) {
      return group.package == patch->package.value && group.folder == folder;
    });
    if (found == groups.end()) {
      groups.push_back({patch->package.value, folder, {patch}});
    } else {
      found->patches.push_back(patch);
    }
  }
  sort_groups(groups);
  return groups;
}

std::vector<PackageGroup> with_patched(const Session& session, std::vector<PackageGroup> groups,
                                       const std::string& tree) {
  for (const std::string& path : patched_folders(session.fs(), session.request(tree))) {
    const std::string folder = path.substr(path.rfind('/') + 1);
    const bool known = std::any_of(groups.begin(), groups.end(),
                                   [&folder](const PackageGroup& group) { return group.folder == folder; });
    if (!known) groups.push_back({patched_package(session.fs(), path), folder, {}});
  }
  sort_groups(groups);
  return groups;
}

namespace {

Status load_others(const Session& session, const LocatedTree& tree, const Others& others, TreeState& state) {
  std::map<std::string, std::string> with;
  for (const std::string& value : session.options().values("--with")) {
    const auto [name, path] = with_parts(value);
    if (const Status wheel = session.readable(path); !wheel) return wheel.error();
    with.emplace(meant(others, name), path);
  }
  const TreeRequest request = session.request("");
  for (const auto& [name, needs] : others) {
    const auto given = with.find(name);
    const std::string path = given == with.end() ? "" : given->second;
    Result<OtherPackage> other = load_other(session.fs(), tree, name, needs, path, request.environment);
    if (!other) return other.error();
    state.others.emplace(name, std::move(*other));
  }
  return Nothing{};
}

Result<TreeState> load_state(const Session& session, const Catalog& catalog, const PackageGroup& group,
                             const LocatedTree& tree) {
  std::set<std::string> paths, modules, classes;
  Others others;
  for (const Patch& patch : catalog.patches) {
    if (patch.package.value != group.package || patch.import_folder() != group.folder) continue;
    for (std::string& path : files_needed(patch, group.folder)) paths.insert(std::move(path));
    modules.merge(modules_needed(patch, group.folder));
    classes.merge(classes_needed(patch));
    merge_needs(others, patch);
  }
  Result<TreeState> state = load_tree(session.fs(), tree, group.package, group.folder, {paths.begin(), paths.end()},
                                      session.options().value("--assume-version"), classes);
  if (!state) return state;
  state->absent_modules = absent_modules(session.fs(), tree, modules);
  if (Status loaded = load_others(session, tree, others, *state); !loaded) return loaded.error();
  return state;
}

}  // namespace

Result<Target> load_target(const Session& session, const Catalog& catalog, const PackageGroup& group,
                           const std::string& tree, Lock lock) {
  Result<LocatedTree> located = session.find(tree, group.package, group.folder);
  if (!located) return located.error();
  std::optional<TreeLock> shared;
  if (lock == Lock::share) shared = TreeLock::share(session.fs(), *located, session.lock_options());
  Result<TreeState> state = load_state(session, catalog, group, *located);
  if (shared && !shared->shared()) {
    // There was nothing to lock, so somebody may have begun to write meanwhile.
    shared = TreeLock::share(session.fs(), *located, session.lock_options());
    if (shared->shared()) state = load_state(session, catalog, group, *located);
  }
  if (!state) return state.error();
  const bool crashed = interrupted(session.fs(), *located);
  std::optional<Error> problem = crashed ? journal_problem(session.fs(), *located) : std::nullopt;
  return Target{group, std::move(*located), std::move(*state), crashed, std::move(problem)};
}

TreeReport report_on(const Target& target) {
  TreeReport report;
  report.tree = target.state.display;
  report.package = target.group.package;
  report.version = target.state.dist.version;
  report.assumed = target.state.dist.assumed;
  return report;
}

std::string shown_path(const Target& target, const std::string& path) {
  return target.group.folder + "/" + path;
}

}  // namespace suture
