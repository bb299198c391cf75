// Another program, run to its end: every way that there is to end.
#include "effects/subprocess.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <csignal>
#include <string>
#include <vector>

namespace suture {
namespace {

using End = ProcessResult::End;

class Subprocess : public testing::Test {
 protected:
  void SetUp() override { std::signal(SIGPIPE, SIG_IGN); }
  void TearDown() override { std::signal(SIGPIPE, SIG_DFL); }

  static ProcessResult shell(const std::string& script, std::string_view input = "",
                             std::chrono::milliseconds limit = std::chrono::minutes(5)) {
    ProcessRequest request;
    request.argv = {"/bin/sh", "-c", script};
    request.environment = {"WORD=from the environment", "PATH=/usr/bin:/bin"};
    request.input = input;
    request.limit = limit;
    request.max_output = 300'000;
    return run_process(request);
  }
};

TEST_F(Subprocess, InputOutputEnvironmentAndStatus) {
  const ProcessResult result = shell("cat; echo \"$WORD\" >&2; exit 3", "words\n");
  EXPECT_EQ(result.end, End::exited);
  EXPECT_EQ(result.code, 3);
  EXPECT_EQ(result.out, "words\n");
  EXPECT_EQ(result.err, "from the environment\n");
}

TEST_F(Subprocess, NothingElseOfTheEnvironmentIsHandedOn) {
  ::setenv("SUTURE_TEST_SECRET", "x", 1);
  EXPECT_EQ(shell("echo \"[$SUTURE_TEST_SECRET]\"").out, "[]\n");
  ::unsetenv("SUTURE_TEST_SECRET");
}

// More than a pipe holds, both ways at once.
TEST_F(Subprocess, MuchInputAndOutputDoNotBlockEachOther) {
  const std::string much(250'000, 'x');
  const ProcessResult result = shell("cat", much);
  EXPECT_EQ(result.end, End::exited);
  EXPECT_EQ(result.out, much);
}

TEST_F(Subprocess, AProcessThatReadsNothingIsNoFailure) {
  const ProcessResult result = shell("exec 0<&-; echo done", std::string(2'000'000, 'x'));
  EXPECT_EQ(result.end, End::exited);
  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(result.out, "done\n");
}

TEST_F(Subprocess, ASignal) {
  const ProcessResult result = shell("kill -SEGV $$");
  EXPECT_EQ(result.end, End::signalled);
  EXPECT_EQ(result.code, SIGSEGV);
}

// It never ends by itself, so the limit is what ends it, on any machine.
TEST_F(Subprocess, TheLimitEndsIt) {
  EXPECT_EQ(shell("exec sleep 100000", "", std::chrono::milliseconds(100)).end, End::timed_out);
  EXPECT_EQ(shell("exec >&- 2>&-; sleep 100000", "", std::chrono::milliseconds(100)).end, End::timed_out);
  EXPECT_EQ(shell("while :; do :; done", std::string(500'000, 'x'), std::chrono::milliseconds(100)).end,
            End::timed_out);
}

TEST_F(Subprocess, WhatItLeavesBehindIsNotWaitedFor) {
  const ProcessResult result = shell("sleep 100000 & echo gone");
  EXPECT_EQ(result.end, End::exited);
  EXPECT_EQ(result.out, "gone\n");
}

TEST_F(Subprocess, OutputWithoutEnd) {
  EXPECT_EQ(shell("while :; do echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; done").end, End::too_much);
}

TEST_F(Subprocess, NoSuchProgram) {
  ProcessRequest request;
  request.argv = {"/no/such/program"};
  request.limit = std::chrono::minutes(1);
  const ProcessResult result = run_process(request);
  EXPECT_EQ(result.end, End::not_started);
  EXPECT_EQ(result.code, ENOENT);
}

}  // namespace
}  // namespace suture
