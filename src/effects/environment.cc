#include "effects/environment.h"

#include <algorithm>
#include <cerrno>

#include "base/text.h"

namespace suture {
namespace {

constexpr std::uint64_t kMostConfig = 1U << 20U;

bool exists(FileSystem& fs, const std::string& path) {
  return fs.real_path(path).error == 0;
}

std::string lower_case(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

// pyvenv.cfg: "key = value" lines, keys in any case.
std::map<std::string, std::string> read_config(FileSystem& fs, const std::string& prefix) {
  std::map<std::string, std::string> config;
  const Io<std::string> text = read_file(fs, kAbsolute, prefix + "/pyvenv.cfg", kMostConfig);
  if (!text) return config;
  for (const std::string_view line : split_lines(text.value)) {
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos) continue;
    config[lower_case(trim(line.substr(0, equals)))] = trim(line.substr(equals + 1));
  }
  return config;
}

// "3.11" of "3.11.7" or "python3.11"; empty where there is none.
std::string minor_version(std::string_view text) {
  const std::size_t digit = text.find_first_of("0123456789");
  if (digit == std::string_view::npos) return "";
  text.remove_prefix(digit);
  const std::size_t dot = text.find('.');
  if (dot == std::string_view::npos) return "";
  const std::size_t end = text.find_first_not_of("0123456789", dot + 1);
  return end == dot + 1 ? "" : std::string(text.substr(0, end));
}

std::string config_version(const std::map<std::string, std::string>& config) {
  for (const char* key : {"version", "version_info"}) {  // venv, and virtualenv and uv
    std::string version = minor_version(value_of(config, key));
    if (!version.empty()) return version;
  }
  return "";
}

Error no_interpreter(const std::string& executable, const std::string& why) {
  Error error;
  error.exit = Exit::file_system;
  error.message = "cannot find the environment of " + executable + ": " + why;
  error.hint = "name the tree itself: -t SITE-PACKAGES or -t VENV";
  return error;
}

bool is_script(FileSystem& fs, const std::string& path) {
  const Io<Handle> handle = fs.open_file(kAbsolute, path);
  if (!handle) return false;
  const Opened file(fs, handle.value);
  const Io<std::string> head = fs.read(file.handle(), 0, 2);
  return head && head.value == "#!";
}

// python3.11, python3.12, pypy3.10 below lib; the wanted one alone where a version is wanted.
std::vector<std::string> library_folders(FileSystem& fs, const std::string& lib, const std::string& version) {
  std::vector<std::string> out;
  const Io<std::vector<std::string>> names = list_folder(fs, kAbsolute, lib);
  for (const std::string& name : names.value) {
    if (!name.starts_with("python3") && !name.starts_with("pypy3")) continue;
    const std::string own = minor_version(name);
    if (!own.empty() && (version.empty() || own == version)) out.push_back(lib + "/" + name);
  }
  return out;
}

class Sites {
 public:
  explicit Sites(FileSystem& fs) : fs_(fs) {}

  // Folders of one rank in the search order.
  void add(const std::vector<std::string>& candidates) {
    std::vector<std::string> group;
    for (const std::string& candidate : candidates) {
      const Io<std::string> real = fs_.real_path(candidate);
      if (!real || std::find(seen_.begin(), seen_.end(), real.value) != seen_.end()) continue;
      seen_.push_back(real.value);
      group.push_back(real.value);
    }
    if (!group.empty()) groups_.push_back(std::move(group));
  }

  void add_below(const std::string& lib, const std::string& version, const std::string& name) {
    std::vector<std::string> candidates;
    for (const std::string& folder : library_folders(fs_, lib, version)) candidates.push_back(folder + "/" + name);
    add(candidates);
  }

  void add_prefix(const std::string& prefix, const std::string& version) {
    // Debian puts pip's packages below /usr/local, and its own into a folder that all Python 3 share.
    add_below(prefix + "/local/lib", version, "dist-packages");
    for (const char* lib : {"/lib", "/lib64"}) add_below(prefix + lib, version, "site-packages");
    add({prefix + "/lib/python3/dist-packages"});
    add_below(prefix + "/lib", version, "dist-packages");
  }

  [[nodiscard]] std::vector<std::vector<std::string>> take() { return std::move(groups_); }

 private:
  FileSystem& fs_;
  std::vector<std::string> seen_;
  std::vector<std::vector<std::string>> groups_;
};

// "/home/me/.local"; empty where there is none. As site.py: a variable that is set and empty is not set.
std::string user_base(const std::map<std::string, std::string>& environment) {
  if (!value_of(environment, "PYTHONNOUSERSITE").empty()) return "";
  const std::string base = value_of(environment, "PYTHONUSERBASE"), home = value_of(environment, "HOME");
  return !base.empty() ? base : home.empty() ? "" : home + "/.local";
}

}  // namespace

std::string parent_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

std::string base_of(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

std::string value_of(const std::map<std::string, std::string>& environment, const std::string& name) {
  const auto found = environment.find(name);
  return found == environment.end() ? std::string() : found->second;
}

Result<Prefix> prefix_of(FileSystem& fs, const std::string& executable,
                         const std::map<std::string, std::string>& environment) {
  std::string called = executable;
  if (called.find('/') == std::string::npos) {
    const std::optional<std::string> found = find_on_path(fs, called, value_of(environment, "PATH"));
    if (!found) return no_interpreter(executable, "there is no such program on PATH");
    called = *found;
  }
  const Io<std::string> real = fs.real_path(called);
  if (!real) return no_interpreter(executable, errno_words(real.error));
  const Io<std::string> folder = fs.real_path(parent_of(called));
  if (!folder) return no_interpreter(executable, errno_words(folder.error));
  const Io<FileInfo> info = fs.info_at(kAbsolute, real.value);
  if (info && info.value.kind != FileInfo::Kind::regular) return no_interpreter(executable, "it is not a file");
  const std::string how = "the environment of " + executable;
  // As the interpreter does: the folder it was called in, links of the executable itself not followed.
  for (const std::string& beside : {folder.value, parent_of(folder.value)}) {
    if (!exists(fs, beside + "/pyvenv.cfg")) continue;
    const std::string version = config_version(read_config(fs, beside));
    return Prefix{beside, version.empty() ? minor_version(base_of(real.value)) : version, how};
  }
  if (is_script(fs, real.value)) {
    return no_interpreter(executable, "it is a script (a version manager's shim?), not an interpreter");
  }
  return Prefix{parent_of(parent_of(real.value)), minor_version(base_of(real.value)), how};
}

std::optional<std::string> find_on_path(FileSystem& fs, const std::string& name, const std::string& path) {
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find(':', begin), path.size());
    const std::string folder = path.substr(begin, end - begin);
    begin = end + 1;
    if (folder.empty() || folder.front() != '/') continue;
    const std::string candidate = folder + "/" + name;
    const Io<std::string> real = fs.real_path(candidate);
    if (!real) continue;
    const Io<FileInfo> info = fs.info_at(kAbsolute, real.value);
    if (info && info.value.kind == FileInfo::Kind::regular && (info.value.mode & 0111U) != 0) return candidate;
  }
  return std::nullopt;
}

bool is_prefix(FileSystem& fs, const std::string& folder) {
  if (exists(fs, folder + "/pyvenv.cfg")) return true;
  return !library_folders(fs, folder + "/lib", "").empty() || exists(fs, folder + "/lib/python3/dist-packages");
}

std::vector<std::string> path_variable_folders(FileSystem& fs, const std::map<std::string, std::string>& environment) {
  Sites sites(fs);
  const std::string path = value_of(environment, "PYTHONPATH");
  for (std::size_t begin = 0; begin < path.size();) {
    const std::size_t end = std::min(path.find(':', begin), path.size());
    if (path[begin] == '/') sites.add({path.substr(begin, end - begin)});
    begin = end + 1;
  }
  std::vector<std::string> out;
  for (std::vector<std::string>& group : sites.take()) out.push_back(std::move(group.front()));
  return out;
}

std::vector<std::vector<std::string>> site_folders(FileSystem& fs, const Prefix& prefix,
                                                   const std::map<std::string, std::string>& environment) {
  const std::map<std::string, std::string> config = read_config(fs, prefix.path);
  const bool is_venv = exists(fs, prefix.path + "/pyvenv.cfg");
  std::string version = prefix.version;
  if (version.empty() && is_venv) version = config_version(config);
  Sites sites(fs);
  if (is_venv) sites.add_prefix(prefix.path, version);
  const bool with_system = !is_venv || lower_case(value_of(config, "include-system-site-packages")) == "true";
  if (!with_system) return sites.take();
  const std::string user = user_base(environment);
  if (!user.empty() && !version.empty()) sites.add({user + "/lib/python" + version + "/site-packages"});
  std::string base = prefix.path;
  if (is_venv) {  // "home = /usr/bin": the folder of the base's executable
    const Io<std::string> real = fs.real_path(value_of(config, "home"));
    if (!real) return sites.take();
    base = parent_of(real.value);
  }
  sites.add_prefix(base, version);
  return sites.take();
}

}  // namespace suture
