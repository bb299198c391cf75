// See subprocess.h. Tests: tests/unit/subprocess_test.cc.
#include "effects/subprocess.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <utility>

namespace suture {
namespace {

using Clock = std::chrono::steady_clock;

// A file descriptor that closes itself.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { close(); }

  [[nodiscard]] int get() const { return fd_; }
  [[nodiscard]] bool open() const { return fd_ >= 0; }
  void close() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }

 private:
  int fd_ = -1;
};

struct Pipe {
  Descriptor read, write;
};

// Closed in the child, but for the ends that it gets as its streams. Ours do not block.
int make_pipe(Pipe& pipe, bool child_reads) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return errno;
  pipe.read = Descriptor(ends[0]);
  pipe.write = Descriptor(ends[1]);
  const int ours = child_reads ? ends[1] : ends[0];
  if (::fcntl(ours, F_SETFL, O_NONBLOCK) != 0) return errno;
  return 0;
}

std::vector<char*> pointers(const std::vector<std::string>& strings) {
  std::vector<char*> out;
  // execve takes char* for reasons of its age, and changes nothing.
  for (const std::string& s : strings) out.push_back(const_cast<char*>(s.c_str()));
  out.push_back(nullptr);
  return out;
}

// The file actions and attributes of a spawn, freed at the end.
struct Spawn {
  posix_spawn_file_actions_t actions{};
  posix_spawnattr_t attributes{};
  Spawn() {
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
  }
  Spawn(const Spawn&) = delete;
  Spawn& operator=(const Spawn&) = delete;
  ~Spawn() {
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
  }
};

class Child {
 public:
  explicit Child(const ProcessRequest& request) : request_(request) {}

  ProcessResult run() {
    const Clock::time_point deadline = Clock::now() + request_.limit;
    if (const int error = start(); error != 0) {
      result_.code = error;
      return std::move(result_);
    }
    while (!gone_) {
      if (Clock::now() >= deadline) return killed(ProcessResult::End::timed_out);
      exchange();
      if (result_.out.size() > request_.max_output || result_.err.size() > request_.max_output)
        return killed(ProcessResult::End::too_much);
      look_whether_gone();
    }
    // What it had printed is in the pipes.
    while (result_.out.size() + result_.err.size() <= 2 * request_.max_output &&
           (take(out_.read, result_.out) || take(err_.read, result_.err))) {
    }
    return std::move(result_);
  }

 private:
  int start() {
    for (const int error : {make_pipe(in_, true), make_pipe(out_, false), make_pipe(err_, false)}) {
      if (error != 0) return error;
    }
    Spawn spawn;
    posix_spawn_file_actions_adddup2(&spawn.actions, in_.read.get(), STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&spawn.actions, out_.write.get(), STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&spawn.actions, err_.write.get(), STDERR_FILENO);
    sigset_t defaults;
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGPIPE);  // suture ignores these, and what it starts must not
    sigaddset(&defaults, SIGXFSZ);
    posix_spawnattr_setsigdefault(&spawn.attributes, &defaults);
    posix_spawnattr_setpgroup(&spawn.attributes, 0);
    posix_spawnattr_setflags(&spawn.attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
    const std::vector<char*> argv = pointers(request_.argv);
    const std::vector<char*> environment = pointers(request_.environment);
    const int error = ::posix_spawn(&pid_, argv[0], &spawn.actions, &spawn.attributes, argv.data(), environment.data());
    in_.read.close();
    out_.write.close();
    err_.write.close();
    return error;
  }

  // Writes and reads what can be, and waits a moment where nothing can.
  void exchange() {
    constexpr int kMoment = 20;  // milliseconds: how late the end of a silent process may be seen
    if (written_ == request_.input.size()) in_.write.close();
    std::array<pollfd, 3> ends = {
        {{in_.write.get(), POLLOUT, 0}, {out_.read.get(), POLLIN, 0}, {err_.read.get(), POLLIN, 0}}};
    if (::poll(ends.data(), ends.size(), kMoment) <= 0) return;
    if (ends[0].revents != 0) give();
    if (ends[1].revents != 0) take(out_.read, result_.out);
    if (ends[2].revents != 0) take(err_.read, result_.err);
  }

  void give() {
    const std::string_view rest = request_.input.substr(written_);
    const ssize_t n = ::write(in_.write.get(), rest.data(), rest.size());
    if (n >= 0) {
      written_ += static_cast<std::size_t>(n);
    } else if (errno != EAGAIN && errno != EINTR) {
      written_ = request_.input.size();  // it reads no more
    }
  }

  // False: there is nothing now, or never again.
  static bool take(Descriptor& from, std::string& into) {
    std::array<char, 16384> buffer{};
    if (!from.open()) return false;
    const ssize_t n = ::read(from.get(), buffer.data(), buffer.size());
    if (n > 0) into.append(buffer.data(), static_cast<std::size_t>(n));
    if (n == 0) from.close();
    return n > 0;
  }

  void look_whether_gone() {
    siginfo_t info{};
    // Not reaped yet: until then its group can be nobody else's.
    if (::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid != pid_)
      return;
    const int status = reap();
    gone_ = true;
    result_.end = WIFSIGNALED(status) ? ProcessResult::End::signalled : ProcessResult::End::exited;
    result_.code = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
  }

  // Ends what it started and left behind, too.
  int reap() const {
    int status = 0;
    ::kill(-pid_, SIGKILL);
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    return status;
  }

  ProcessResult killed(ProcessResult::End end) {
    reap();
    result_.end = end;
    return std::move(result_);
  }

  const ProcessRequest& request_;
  ProcessResult result_;
  Pipe in_, out_, err_;
  pid_t pid_ = -1;
  std::size_t written_ = 0;
  bool gone_ = false;
};

}  // namespace

ProcessResult run_process(const ProcessRequest& request) {
  return Child(request).run();
}

}  // namespace suture
