// The interpreter's answer, and everything that is none. tests/cli/python_test.py runs real interpreters.
#include "effects/compile_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>

namespace suture {
namespace {

class CompileCheck : public testing::Test {
 protected:
  void SetUp() override {
    std::signal(SIGPIPE, SIG_IGN);
    folder_ = std::filesystem::temp_directory_path() / ("suture_compile_check." + std::to_string(::getpid()));
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override {
    std::signal(SIGPIPE, SIG_DFL);
    std::filesystem::remove_all(folder_);
  }

  // A program that stands for an interpreter.
  std::string fake(const std::string& script) {
    const std::string path = folder_ / "python3";
    std::ofstream(path) << "#!/bin/sh\n" << script << "\n";
    ::chmod(path.c_str(), 0755);
    return path;
  }
  static Result<CompileReport> ask(const std::string& interpreter,
                                   std::chrono::milliseconds limit = std::chrono::minutes(5)) {
    return compile_sources(interpreter, {{"a.py", "x = 1\n"}, {"b.py", "return\n"}}, {"PATH=/usr/bin:/bin"}, limit);
  }
  std::string problem(const std::string& script, std::chrono::milliseconds limit = std::chrono::minutes(5)) {
    const auto report = ask(fake(script), limit);
    if (report) return "answered";
    EXPECT_EQ(report.error().exit, Exit::file_system);
    EXPECT_FALSE(report.error().hint.empty());
    const std::string& message = report.error().message;
    const std::string lead = " (--python) cannot check the result: ";
    EXPECT_NE(message.find(lead), std::string::npos) << message;
    return message.substr(message.find(lead) + lead.size());
  }

  std::filesystem::path folder_;
};

TEST_F(CompileCheck, TheAnswerIsRead) {
  const auto report =
      ask(fake("cat > /dev/null; echo 'suture-compile 3.11'; echo ok; echo \"error 1 2 SyntaxError: 'return' "
               "outside\"; echo done"));
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->version, "3.11");
  ASSERT_EQ(report->problems.size(), 2U);
  EXPECT_FALSE(report->problems[0]);
  ASSERT_TRUE(report->problems[1]);
  EXPECT_EQ(report->problems[1]->line, 1U);
  EXPECT_EQ(report->problems[1]->column, 2U);
  EXPECT_EQ(report->problems[1]->message, "SyntaxError: 'return' outside");
}

TEST_F(CompileCheck, TheSourcesAreHandedOnByteForByte) {
  const auto report =
      ask(fake("[ \"$(cat | od -c)\" = \"$(printf '4 6\\na.pyx = 1\\n4 7\\nb.pyreturn\\n' | od -c)\" ] || exit 9\n"
               "echo 'suture-compile 3.11'; echo ok; echo ok; echo done"));
  EXPECT_TRUE(report) << report.error().message;
}

TEST_F(CompileCheck, AnythingElseIsNone) {
  const std::string none = "its answer is not that of a Python interpreter";
  EXPECT_EQ(problem("exit 0"), none);
  EXPECT_EQ(problem("echo hello"), none + ": hello");
  EXPECT_EQ(problem("echo 'suture-compile 3.11'; echo ok; echo ok"), none + ": suture-compile 3.11");
  EXPECT_EQ(problem("echo 'suture-compile 3.11'; echo ok; echo done"), none + ": suture-compile 3.11");
  EXPECT_EQ(problem("echo 'suture-compile 3.11'; echo ok; echo ok; echo ok; echo done"),
            none + ": suture-compile 3.11");
  EXPECT_EQ(problem("echo 'suture-compile 3.11'; echo ok; echo error x; echo done"), none + ": suture-compile 3.11");
  EXPECT_EQ(problem("echo 'suture-compile 3.11'; echo ok; echo ok; echo done; echo more"),
            none + ": suture-compile 3.11");
  EXPECT_EQ(problem("printf '\\001\\377\\n'"), none + ": ??");
  EXPECT_EQ(problem("echo no module >&2; exit 4"), "it ended with exit code 4: no module");
  EXPECT_EQ(problem("echo 'Unknown option: -I' >&2; exit 2"), "it is older than Python 3.4");
  EXPECT_EQ(problem("kill -SEGV $$"), "it crashed (Segmentation fault)");
  EXPECT_EQ(problem("while :; do echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; done"), "it printed without end");
  EXPECT_EQ(problem("exec sleep 100000", std::chrono::seconds(1)), "it did not end within 1 seconds");
}

TEST_F(CompileCheck, AnInterpreterThatIsNotThere) {
  const auto report = ask("/no/such/python3");
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().exit, Exit::file_system);
  EXPECT_EQ(report.error().message,
            "/no/such/python3 (--python) cannot check the result: it cannot be run: No such file or directory");
}

}  // namespace
}  // namespace suture
