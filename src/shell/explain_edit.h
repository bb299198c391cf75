// What one edit of a rule does, in words: one function for each kind of edit. A new kind is one more overload in EditWords
// (explain_edit.cc); the compiler asks for it.
#pragma once

#include "read/rule.h"
#include "shell/prose.h"

namespace suture {

// "replaces `a($X)` by `b($X)`"; what narrows it follows: ", but not inside `with c: $$$`".
Sentence edit_sentence(const Shape& shape);
// The narrowings alone: " only inside ...", " where $X is ..."; empty where there are none.
Sentence narrowing_sentence(const Narrowing& narrow);

}  // namespace suture
