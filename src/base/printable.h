// Text that others wrote (a file's name, a receipt, a page's line) as it may be shown on a terminal.
#pragma once

#include <string>
#include <string_view>

namespace suture {

// A byte that is no UTF-8 and a control character (a hostile file must not speak to the terminal) become U+FFFD, one a
// character, so that columns stay; tabs stay.
std::string printable(std::string_view text);
// The same of several lines: newlines stay, too.
std::string printable_lines(std::string_view text);

}  // namespace suture
