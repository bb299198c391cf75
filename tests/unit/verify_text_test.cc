// What verify --backend comes to: words and exit codes of an answer.
#include "shell/verify_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace suture {
namespace {

using State = BackendPath::State;
using testing::HasSubstr;

BackendAnswer good_answer() {
  BackendAnswer answer;
  answer.device = "A GPU";
  answer.versions = {{"torch", "2.11.0"}, {"Triton", ""}};
  for (const char* name :
       {"eager decode", "graph decode, eager steps between", "paged extend", "pool of the query's dtype"})
    answer.paths.push_back({name, State::equal, "", 1});
  answer.paths.push_back({"pages of 4, eager decode", State::not_there, "", 0});
  BackendStep step;
  step.requests = 8;
  step.length = 1024;
  step.graph = step.equal = true;
  step.max_error = {0.0056, 0.0056};
  step.microseconds = {841.0, 18.94};
  step.bytes_taken = {574.6e6, 2.1e6};
  answer.steps = {step};
  answer.bytes_kept = {0, 570.9e6};
  return answer;
}

TEST(VerifyText, AGoodAnswerIsNoProblem) {
  const BackendAnswer answer = good_answer();
  EXPECT_FALSE(backend_problem(answer));
  EXPECT_EQ(backend_summary(answer), "4 paths and 1 step equal bit for bit");
  const std::string text = backend_text(answer);
  EXPECT_THAT(text, HasSubstr("A GPU\ntorch 2.11.0\n\nequal      eager decode (1 output)\n"));
  EXPECT_THAT(text, HasSubstr("not there  pages of 4, eager decode: this release has no such path\n"));
  EXPECT_THAT(text, HasSubstr("8 x 1024, graph        841    18.9   44.4        -       -    5.6e-03  5.6e-03    574.6"
                              "     2.1   equal\n"));
  EXPECT_THAT(text, HasSubstr("Kept for good: 0.0 MB and 570.9 MB.\n"));
}

TEST(VerifyText, ADifferenceFailsWhateverElseHappened) {
  BackendAnswer answer = good_answer();
  answer.paths[1].state = State::different;
  answer.paths[1].why = "replay 0: 3 of 4 values differ\x1b[2J";
  answer.trouble = {"gpu-lost", "illegal address"};
  EXPECT_EQ(backend_problem(answer)->exit, Exit::verification);
  EXPECT_THAT(backend_text(answer), HasSubstr("DIFFERENT  graph decode, eager steps between: replay 0"));
  EXPECT_EQ(backend_text(answer).find('\x1b'), std::string::npos);
  BackendAnswer steps = good_answer();
  steps.steps[0].equal = false;
  EXPECT_EQ(backend_problem(steps)->exit, Exit::verification);
}

TEST(VerifyText, APathThatDidNotRun) {
  BackendAnswer answer = good_answer();
  answer.paths.push_back({"DCP decode", State::not_run, "no such name", 0});
  EXPECT_FALSE(backend_problem(answer));
  EXPECT_THAT(backend_summary(answer), HasSubstr("; 1 path did not run"));
  answer.paths[2].state = State::not_run;
  EXPECT_EQ(backend_problem(answer)->exit, Exit::incomplete);
  EXPECT_EQ(backend_problem(BackendAnswer{})->exit, Exit::incomplete);
}

TEST(VerifyText, EachTroubleHasItsCodeAndAHint) {
  const std::vector<std::pair<const char*, Exit>> cases = {{"no-torch", Exit::no_torch},
                                                           {"no-gpu", Exit::skipped},
                                                           {"driver-too-old", Exit::gpu_unfit},
                                                           {"no-flashinfer", Exit::no_flashinfer},
                                                           {"flashinfer-fails", Exit::no_flashinfer},
                                                           {"no-sgl-kernel", Exit::no_flashinfer},
                                                           {"sgl-kernel-fails", Exit::no_flashinfer},
                                                           {"out-of-memory", Exit::out_of_memory},
                                                           {"timed-out", Exit::timed_out},
                                                           {"gpu-lost", Exit::incomplete},
                                                           {"crashed", Exit::incomplete},
                                                           {"of tomorrow", Exit::incomplete}};
  for (const auto& [kind, code] : cases) {
    BackendAnswer answer = good_answer();
    answer.trouble = {kind, "its own words"};
    const auto problem = backend_problem(answer);
    ASSERT_TRUE(problem) << kind;
    EXPECT_EQ(problem->exit, code) << kind;
    EXPECT_THAT(problem->message, HasSubstr(": its own words")) << kind;
    EXPECT_FALSE(problem->hint.empty()) << kind;
  }
}

}  // namespace
}  // namespace suture
