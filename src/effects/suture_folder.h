// The .suture folder of a tree: receipt and blobs as files.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "effects/tree_folder.h"
#include "engine/state.h"

namespace suture {

inline constexpr const char* kReceiptName = "receipt.json";
inline constexpr const char* kBlobsName = "blobs";
// A receipt of many patches has some ten kilobytes. Larger ones are neither read nor written.
inline constexpr std::uint64_t kMostReceipt = 16U << 20U;

// The hashes of the blobs that a receipt names: originals, and the bytes of added files.
std::vector<std::string> named_blobs(const Receipt& receipt);

class SutureFolder {
 public:
  // Not open where there is no such folder. Error: a link, a file, a folder that cannot be opened.
  static Result<SutureFolder> open(const TreeFolder& tree);

  [[nodiscard]] bool is_open() const { return folder_.is_open(); }
  [[nodiscard]] Handle handle() const { return folder_.handle(); }
  // The bytes of receipt.json; nullopt: it is not there.
  [[nodiscard]] Result<std::optional<std::string>> receipt_text() const;
  // An empty one where there is none.
  [[nodiscard]] Result<Receipt> read_receipt() const;
  // Those that are there and have the bytes of their name.
  [[nodiscard]] std::map<std::string, std::string> read_blobs(const Receipt& receipt) const;
  [[nodiscard]] Result<std::vector<std::string>> blob_names() const;

 private:
  explicit SutureFolder(const TreeFolder& tree) : tree_(&tree) {}
  const TreeFolder* tree_;
  Opened folder_;
};

}  // namespace suture
