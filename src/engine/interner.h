// Texts as numbers, 0, 1, 2 ... in the order in which they are first met.
//
// A trace repeats itself: after one text comes, nearly always, the one that came after it the last time. So that one is compared
// first, and the hash of a kernel's name (600 bytes of template) is hardly ever taken.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace suture {

class Interner {
 public:
  std::uint32_t id(std::string_view text) {
    if (last_ < next_.size() && texts_[next_[last_]] == text) return last_ = next_[last_];
    const auto found = ids_.find(text);
    const std::uint32_t id = found != ids_.end() ? found->second : add(text);
    if (last_ < next_.size()) next_[last_] = id;
    return last_ = id;
  }
  [[nodiscard]] std::string_view text(std::uint32_t id) const { return texts_[id]; }
  [[nodiscard]] std::size_t size() const { return texts_.size(); }

 private:
  std::uint32_t add(std::string_view text) {
    const auto id = static_cast<std::uint32_t>(texts_.size());
    texts_.emplace_back(text);
    next_.push_back(id);
    ids_.emplace(texts_.back(), id);
    return id;
  }

  std::deque<std::string> texts_;  // a deque: the views in ids_ stay good
  std::vector<std::uint32_t> next_;
  std::unordered_map<std::string_view, std::uint32_t> ids_;
  std::uint32_t last_ = static_cast<std::uint32_t>(-1);
};

}  // namespace suture
