#include "effects/distribution.h"

#include <algorithm>
#include <cerrno>

#include "base/text.h"
#include "effects/wheel_file_system.h"
#include "read/version.h"

namespace suture {
namespace {

constexpr std::uint64_t kMostMetadata = 16U << 20U;
constexpr std::string_view kDistInfo = ".dist-info", kEggInfo = ".egg-info";

// --- RECORD

// One CSV row; moves `text` behind it. Quotes as Python's csv writes them.
std::vector<std::string> next_row(std::string_view& text) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  std::size_t at = 0;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (quoted) {
      if (c != '"') {
        fields.back() += c;
      } else if (at + 1 < text.size() && text[at + 1] == '"') {
        fields.back() += text[++at];
      } else {
        quoted = false;
      }
    } else if (c == '"' && fields.back().empty()) {
      quoted = true;
    } else if (c == ',') {
      fields.emplace_back();
    } else if (c == '\n') {
      break;
    } else if (c != '\r') {
      fields.back() += c;
    }
  }
  text.remove_prefix(std::min(at + 1, text.size()));
  return fields;
}

// urlsafe base64 without padding -> hexadecimal; nullopt where it is not 32 bytes.
std::optional<std::string> hexadecimal(std::string_view base64) {
  constexpr std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  constexpr std::string_view digits = "0123456789abcdef";
  while (base64.ends_with('=')) base64.remove_suffix(1);
  if (base64.size() != 43) return std::nullopt;
  std::string out;
  std::uint32_t bits = 0, count = 0;
  for (const char c : base64) {
    const std::size_t value = alphabet.find(c);
    if (value == std::string_view::npos) return std::nullopt;
    bits = (bits << 6U | static_cast<std::uint32_t>(value)) & 0xFFFFU;
    count += 6;
    while (count >= 4 && out.size() < 64) {
      count -= 4;
      out += digits[bits >> count & 15U];
    }
  }
  return out;
}

// --- metadata

struct Info {
  std::string folder;   // "sglang-0.5.6.dist-info"
  std::string version;  // may be empty
  std::string source;   // the file that the version was read in
  bool has_metadata = false;
};

// The text of a metadata file, or nothing where there is none.
Result<std::optional<std::string>> read_optional(FileSystem& fs, const std::string& path) {
  Io<std::string> text = read_file(fs, kAbsolute, path, kMostMetadata);
  if (text.error == ENOENT || text.error == ENOTDIR) return std::optional<std::string>();
  if (!text) return io_error("read", path, text.error);
  return std::optional<std::string>(std::move(text.value));
}

// The Info of one folder name, or nothing where it is another distribution's.
Result<std::optional<Info>> read_info(FileSystem& fs, const std::string& site, const std::string& name,
                                      const std::string& package) {
  const std::optional<std::string> version = info_folder_version(name, package);
  if (!version) return std::optional<Info>();
  std::vector<std::string> candidates = {name + "/METADATA"};
  if (name.ends_with(kEggInfo)) candidates = {name + "/PKG-INFO", name};  // distutils wrote a plain file
  Info info{name, *version, name, false};
  for (const std::string& file : candidates) {
    const Io<FileInfo> is = fs.info_at(kAbsolute, site + "/" + file);
    if (is && is.value.kind == FileInfo::Kind::folder) continue;
    const Result<std::optional<std::string>> text = read_optional(fs, site + "/" + file);
    if (!text) return text.error();
    if (!*text) continue;
    const std::optional<std::string> own = metadata_header(**text, "Name");
    if (own && normalize_name(*own) != package) return std::optional<Info>();
    info.version = metadata_header(**text, "Version").value_or(*version);
    info.source = file;
    info.has_metadata = true;
    return std::optional<Info>(info);
  }
  // Without metadata only a name that cannot mean another distribution counts ("sglang-router-1.0" is not sglang).
  const bool plain = version->empty() || (version->front() >= '0' && version->front() <= '9');
  return plain ? std::optional<Info>(info) : std::optional<Info>();
}

Result<std::vector<Info>> read_infos(FileSystem& fs, const std::string& site, const std::string& package) {
  std::vector<Info> infos;
  if (site.empty()) return infos;
  const Io<std::vector<std::string>> names = list_folder(fs, kAbsolute, site);
  if (names.error == ENOENT) return infos;
  if (!names) return io_error("read the folder", site, names.error);
  for (const std::string& name : names.value) {
    Result<std::optional<Info>> info = read_info(fs, site, name, package);
    if (!info) return info.error();
    if (*info) infos.push_back(std::move(**info));
  }
  // A dist-info that lost its METADATA (an uninstall that was interrupted) says nothing beside one that has it.
  const bool any = std::any_of(infos.begin(), infos.end(), [](const Info& info) { return info.has_metadata; });
  if (any) std::erase_if(infos, [](const Info& info) { return !info.has_metadata; });
  return infos;
}

std::string parent_of(const std::string& path) {
  return path.substr(0, path.rfind('/'));
}

void take_infos(Distribution& dist, std::vector<Info> infos) {
  // dist-info first: an egg-info of the same version beside it adds nothing.
  std::stable_sort(infos.begin(), infos.end(), [](const Info& a, const Info& b) {
    return a.folder.ends_with(kDistInfo) && !b.folder.ends_with(kDistInfo);
  });
  const bool agree = std::all_of(infos.begin(), infos.end(), [&infos](const Info& info) {
    return info.version == infos.front().version && !info.version.empty();
  });
  if (agree) infos.resize(1);
  for (const Info& info : infos) dist.found.push_back(info.folder);
  if (infos.size() == 1 && !infos.front().version.empty()) {
    dist.version = infos.front().version;
    dist.version_source = infos.front().source;
  }
}

Status take_literal(FileSystem& fs, const LocatedTree& tree, const std::string& folder, Distribution& dist) {
  for (const char* name : {"version.py", "_version.py"}) {
    const Result<std::optional<std::string>> module = read_optional(fs, tree.package_folder + "/" + name);
    if (!module) return module.error();
    if (!*module) continue;
    dist.version = literal_version(**module);
    dist.version_source = dist.version ? folder + "/" + name : std::string();
    if (dist.version) break;
  }
  return Nothing{};
}

}  // namespace

Result<Distribution> read_distribution(FileSystem& fs, const LocatedTree& tree, const std::string& package,
                                       const std::string& folder, const std::set<std::string>& wanted) {
  Distribution dist;
  dist.name = package;
  std::string site = tree.metadata_folder;
  Result<std::vector<Info>> infos = read_infos(fs, site, package);
  if (infos && infos->empty() && parent_of(tree.package_folder) != site) {
    site = parent_of(tree.package_folder);  // an egg-info beside the source of a checkout
    infos = read_infos(fs, site, package);
  }
  if (!infos) return infos.error();
  if (infos->empty()) {
    if (const Status read = take_literal(fs, tree, folder, dist); !read) return read.error();
    return dist;
  }
  take_infos(dist, std::move(*infos));
  // RECORD speaks of this package folder only where the two stand side by side (not for an editable install).
  if (dist.found.size() != 1 || parent_of(tree.package_folder) != site) return dist;
  const Result<std::optional<std::string>> record = read_optional(fs, site + "/" + dist.found.front() + "/RECORD");
  if (!record) return record.error();
  if (*record) dist.record = parse_record(**record, folder, wanted);
  return dist;
}

std::map<std::string, std::string> parse_record(std::string_view record, const std::string& folder,
                                                const std::set<std::string>& wanted) {
  constexpr std::string_view algorithm = "sha256=";
  std::map<std::string, std::string> out;
  const std::string prefix = folder + "/";
  std::set<std::string, std::less<>> rows;
  for (const std::string& path : wanted) rows.insert(prefix + path);
  while (!record.empty()) {
    // A row that begins with no quote ends at its line, and can be passed over without reading its fields.
    if (record.front() != '"' && !rows.contains(installed_path(record.substr(0, record.find_first_of(",\n"))))) {
      record.remove_prefix(std::min(record.find('\n'), record.size() - 1) + 1);
      continue;
    }
    const std::vector<std::string> row = next_row(record);
    const std::string path(installed_path(row[0]));
    if (row.size() < 2 || !rows.contains(path) || !row[1].starts_with(algorithm)) continue;
    const std::optional<std::string> hash = hexadecimal(std::string_view(row[1]).substr(algorithm.size()));
    if (hash) out[path.substr(prefix.size())] = *hash;
  }
  return out;
}

std::optional<std::string> metadata_header(std::string_view metadata, std::string_view name) {
  for (const std::string_view line : split_lines(metadata)) {
    if (line.empty()) break;  // the description follows
    const std::size_t colon = line.find(':');
    if (colon == name.size() && std::equal(name.begin(), name.end(), line.begin(), [](char a, char b) {
          return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
        })) {
      return std::string(trim(line.substr(colon + 1)));
    }
  }
  return std::nullopt;
}

std::optional<std::string> literal_version(std::string_view module) {
  constexpr std::string_view name = "__version__";
  for (std::string_view line : split_lines(module)) {
    if (!line.starts_with(name)) continue;
    line.remove_prefix(name.size());
    // "= 'X'", ": str = 'X'", "= version = 'X'"
    const std::size_t equals = line.rfind('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view value = trim(line.substr(equals + 1));
    if (value.size() < 2 || (value[0] != '"' && value[0] != '\'')) continue;
    const std::size_t end = value.find(value[0], 1);
    if (end == std::string_view::npos || end == 1) continue;
    const std::string_view rest = trim(value.substr(end + 1));
    if (rest.empty() || rest[0] == '#') return std::string(value.substr(1, end - 1));
  }
  return std::nullopt;
}

std::optional<std::string> info_folder_version(const std::string& name, const std::string& package) {
  std::string stem;
  for (const std::string_view suffix : {kDistInfo, kEggInfo}) {
    if (name.ends_with(suffix)) stem = name.substr(0, name.size() - suffix.size());
  }
  if (stem.empty()) return std::nullopt;
  if (normalize_name(stem) == package) return std::string();
  for (std::size_t dash = stem.find('-'); dash != std::string::npos; dash = stem.find('-', dash + 1)) {
    if (normalize_name(stem.substr(0, dash)) != package) continue;
    std::string version = stem.substr(dash + 1);
    if (name.ends_with(kEggInfo)) version = version.substr(0, version.find("-py"));
    return version;
  }
  return std::nullopt;
}

}  // namespace suture
