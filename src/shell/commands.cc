// The table of the commands: the one place that names them all.
#include "shell/command.h"

namespace suture {

const std::vector<Command>& commands() {
  static const std::vector<Command> table = {
      diff_command(),    apply_command(), revert_command(), status_command(), audit_command(), list_command(),
      explain_command(), test_command(),  verify_command(), trace_command(),  cost_command(),
  };
  return table;
}

}  // namespace suture
