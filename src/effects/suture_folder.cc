#include "effects/suture_folder.h"

#include <algorithm>
#include <cerrno>
#include <set>

#include "base/sha256.h"
#include "effects/receipt_json.h"
#include "effects/sealed_json.h"

namespace suture {
namespace {

constexpr std::uint64_t kMostBlob = 64U << 20U;

std::string path_of(const TreeFolder& tree, const char* name) {
  return tree.shown(std::string(kSutureFolder) + "/" + name);
}

}  // namespace

std::vector<std::string> named_blobs(const Receipt& receipt) {
  std::set<std::string> names;
  for (const auto& [path, file] : receipt.files) {
    names.insert(file.original_sha256.empty() ? file.left_sha256 : file.original_sha256);
  }
  return {names.begin(), names.end()};
}

Result<SutureFolder> SutureFolder::open(const TreeFolder& tree) {
  SutureFolder suture(tree);
  const Io<Handle> handle = tree.fs().open_folder(tree.root(), kSutureFolder);
  if (handle.error == ENOENT) return suture;
  if (!handle) {
    Error error = io_error("open", tree.shown(kSutureFolder), handle.error);
    if (handle.error == ELOOP || handle.error == ENOTDIR)
      error.hint = "suture keeps its receipts there and does not follow a link; move it away";
    return error;
  }
  suture.folder_ = Opened(tree.fs(), handle.value);
  return suture;
}

Result<std::optional<std::string>> SutureFolder::receipt_text() const {
  Io<std::string> text = read_file(tree_->fs(), handle(), kReceiptName, kMostReceipt);
  if (text.error == ENOENT) return std::optional<std::string>();
  if (!text) return unreadable("the receipt", path_of(*tree_, kReceiptName), text.error, kMostReceipt);
  return std::optional<std::string>(std::move(text.value));
}

Result<Receipt> SutureFolder::read_receipt() const {
  const Result<std::optional<std::string>> text = receipt_text();
  if (!text) return text.error();
  if (!*text) return Receipt{};
  return receipt_from_json(**text, path_of(*tree_, kReceiptName));
}

std::map<std::string, std::string> SutureFolder::read_blobs(const Receipt& receipt) const {
  std::map<std::string, std::string> blobs;
  const Io<Handle> opened = tree_->fs().open_folder(handle(), kBlobsName);
  if (!opened) return blobs;
  const Opened folder(tree_->fs(), opened.value);
  for (const std::string& hash : named_blobs(receipt)) {
    Io<std::string> bytes = read_file(tree_->fs(), folder.handle(), hash, kMostBlob);
    if (bytes && sha256_hex(bytes.value) == hash) blobs.emplace(hash, std::move(bytes.value));
  }
  return blobs;
}

Result<std::vector<std::string>> SutureFolder::blob_names() const {
  const Io<std::vector<std::string>> names = list_folder(tree_->fs(), handle(), kBlobsName);
  if (names.error == ENOENT) return std::vector<std::string>();
  if (!names) return io_error("read the folder", path_of(*tree_, kBlobsName), names.error);
  std::vector<std::string> hashes = names.value;
  std::erase_if(hashes, [](const std::string& name) { return !is_sha256(name); });
  return hashes;
}

}  // namespace suture
