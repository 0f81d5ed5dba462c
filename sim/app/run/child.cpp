// Child processes. See child.hpp.
#include "run/child.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <deque>
#include <list>
#include <new>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>
#include <thread>

#include "settings/errors.hpp"

namespace rnic::app {
namespace {

using Clock = std::chrono::steady_clock;

std::string to_text(const Outcome& o) {
  return nlohmann::ordered_json{
      {"status", static_cast<int>(o.status)}, {"failure", o.failure}, {"json", o.json}}
      .dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

Outcome failed(ExitStatus status, const std::string& what) {
  Outcome o;
  o.status = status;
  o.failure = what.ends_with('\n') ? what : what + "\n";
  return o;
}

/// Runs `body`. An exception becomes an outcome, since it cannot leave the child process.
Outcome caught(const std::function<Outcome()>& body) {
  try {
    return body();
  } catch (const Usage& e) {
    return {.status = kWrongUse, .json = {}, .failure = e.what()};
  } catch (const Missing& e) {
    return {.status = kMissing, .json = {}, .failure = e.what()};
  } catch (const std::system_error& e) {  // no memory, or an output's disk is full
    return {.status = kMissing, .json = {}, .failure = e.what()};
  } catch (const std::bad_alloc&) {
    return {.status = kMissing, .json = {}, .failure = "this machine has not the memory for it"};
  } catch (const std::exception& e) {
    return failed(kMismatch, e.what());
  }
}

volatile std::sig_atomic_t came = 0;  // the signal that ends this process

// The signal by which a parent requests its children to end. Its default action ends them.
constexpr int kEndAsked = SIGUSR1;
constexpr std::chrono::seconds kTimeToEnd{10};  // a child that still runs after that is killed
volatile std::sig_atomic_t end_asked = 0;       // in a child: 1 once kEndAsked has arrived

/// Records SIGINT and SIGTERM in `came`. They are delivered only inside wait(). A signal that is
/// ignored stays ignored (nohup).
class SignalWatch {
 public:
  SignalWatch() {
    sigset_t taken;
    sigemptyset(&taken);
    for (size_t k = 0; k < kSignals.size(); ++k) {
      sigaction(kSignals[k], nullptr, &old_[k]);
      if (old_[k].sa_handler != SIG_IGN) sigaddset(&taken, kSignals[k]);
    }
    sigprocmask(SIG_BLOCK, &taken, &mask_);
    struct sigaction note {};
    note.sa_handler = [](int signal) { came = signal; };
    for (const int s : kSignals) {
      if (sigismember(&taken, s) == 1) sigaction(s, &note, nullptr);
    }
    open_ = mask_;
    for (const int s : kSignals) sigdelset(&open_, s);
  }
  ~SignalWatch() {
    for (size_t k = 0; k < kSignals.size(); ++k) sigaction(kSignals[k], &old_[k], nullptr);
    sigprocmask(SIG_SETMASK, &mask_, nullptr);
  }
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;

  /// poll() without a time limit. Returns false if a signal has arrived.
  bool wait(std::vector<pollfd>& fds) const {
    while (came == 0) {
      if (ppoll(fds.data(), fds.size(), nullptr, &open_) >= 0) return true;
    }
    return false;
  }
  /// In a child, which leaves these signals to its parent.
  void ignore() const {
    for (const int s : kSignals) signal(s, SIG_IGN);
    sigprocmask(SIG_SETMASK, &mask_, nullptr);
  }

 private:
  static constexpr std::array kSignals = {SIGINT, SIGTERM};
  std::array<struct sigaction, kSignals.size()> old_{};
  sigset_t mask_{}, open_{};
};

/// One process, and the pipe that carries its outcome.
class Child {
 public:
  Child(const std::function<Outcome()>& body, const ChildLimits& limits, const SignalWatch& signals)
      : began_(Clock::now()) {
    int fd[2];
    if (pipe(fd) != 0) throw Missing("no pipe can be made");
    std::fflush(nullptr);
    pid_ = fork();
    if (pid_ < 0) throw Missing("no process can be made");
    if (pid_ == 0) {
      close(fd[0]);
      prctl(PR_SET_PDEATHSIG, SIGKILL);  // an orphan has no reader: kill it
      signals.ignore();
      signal(kEndAsked, SIG_DFL);
      set_alarm(limits);
      give(fd[1], to_text(caught(body)));
      std::fflush(nullptr);
      _exit(0);
    }
    close(fd[1]);
    fd_ = fd[0];
  }
  ~Child() {
    if (outcome_) return;
    close(fd_);
    ask_to_end();
    const auto last = Clock::now() + kTimeToEnd;
    while (waitpid(pid_, nullptr, WNOHANG) == 0) {
      if (Clock::now() > last) kill(pid_, SIGKILL);
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  int fd() const { return fd_; }
  bool is_over() const { return outcome_.has_value(); }
  void ask_to_end() const {
    if (!is_over()) kill(pid_, kEndAsked);
  }
  Outcome& outcome() { return *outcome_; }

  /// Reads what has arrived in the pipe. At its end the child is over: makes the outcome.
  void read_some() {
    std::array<char, 65536> buffer;
    const ssize_t n = read(fd_, buffer.data(), buffer.size());
    if (n > 0) {
      text_.append(buffer.data(), static_cast<size_t>(n));
      return;
    }
    if (n < 0 && errno == EINTR) return;
    close(fd_);
    int status = 0;
    rusage usage{};
    wait4(pid_, &status, 0, &usage);
    outcome_ = WIFSIGNALED(status) ? dead(WTERMSIG(status))
               : text_.empty()     ? failed(kMismatch, "the run ended without a result")
                                   : parsed();
    outcome_->wall_s = std::chrono::duration<double>(Clock::now() - began_).count();
    const auto seconds = [](const timeval& t) {
      return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
    };
    outcome_->cpu_s = seconds(usage.ru_utime) + seconds(usage.ru_stime);
    outcome_->peak_kib = static_cast<uint64_t>(usage.ru_maxrss);
  }

 private:
  /// Starts the timer whose SIGALRM ends this child at its first limit. dead() reports that signal.
  static void set_alarm(const ChildLimits& limits) {
    using std::chrono::microseconds;
    std::optional<microseconds> left;
    if (limits.wall_s != 0) left = std::chrono::seconds(limits.wall_s);
    if (limits.until) {
      const auto until = std::chrono::duration_cast<microseconds>(*limits.until - Clock::now());
      left = std::max(microseconds(1), left ? std::min(*left, until) : until);
    }
    if (!left) return;
    itimerval timer{};
    timer.it_value.tv_sec = left->count() / 1'000'000;
    timer.it_value.tv_usec = left->count() % 1'000'000;
    setitimer(ITIMER_REAL, &timer, nullptr);
  }
  /// Writes all of `text` to the pipe.
  static void give(int fd, const std::string& text) {
    for (size_t at = 0; at < text.size();) {
      const ssize_t n = write(fd, text.data() + at, text.size() - at);
      if (n <= 0 && errno != EINTR) return;
      if (n > 0) at += static_cast<size_t>(n);
    }
  }
  /// The outcome of a child that `signal` has ended.
  static Outcome dead(int signal) {
    if (signal == SIGALRM) {
      Outcome o = failed(kNoProgress, "the run took too long and was ended");
      o.timed_out = true;
      return o;
    }
    const std::string why =
        signal == SIGBUS ? ": no room is left for memory, or on the disk for a waveform" : "";
    return failed(kMismatch,
                  fmt::format("the run died of signal {} ({}){}", signal, strsignal(signal), why));
  }
  Outcome parsed() const {
    const auto j = nlohmann::ordered_json::parse(text_);
    Outcome o;
    o.status = static_cast<ExitStatus>(j["status"].get<int>());
    o.failure = j["failure"];
    o.json = j["json"];
    return o;
  }

  Clock::time_point began_;
  pid_t pid_ = -1;
  int fd_ = -1;
  std::string text_;
  std::optional<Outcome> outcome_;
};

/// Waits until at least one more of the children has ended. Returns false if SIGINT or SIGTERM has
/// arrived.
bool wait_for_one(const std::vector<Child*>& children, const SignalWatch& signals) {
  for (;;) {
    std::vector<pollfd> fds;
    std::vector<Child*> whose;
    for (Child* c : children) {
      if (c->is_over()) continue;
      fds.push_back({c->fd(), POLLIN, 0});
      whose.push_back(c);
    }
    if (!signals.wait(fds)) return false;
    bool any = false;
    for (size_t k = 0; k < fds.size(); ++k) {
      if (fds[k].revents == 0) continue;
      whose[k]->read_some();
      any = any || whose[k]->is_over();
    }
    if (any) return true;
  }
}

std::vector<Child*> pointers(std::deque<Child>& children) {
  std::vector<Child*> all;
  for (Child& c : children) all.push_back(&c);
  return all;
}

}  // namespace

void in_children_any_order(size_t n, unsigned jobs, const std::function<Outcome(size_t)>& body,
                           const std::function<bool(size_t, Outcome)>& done,
                           const ChildLimits& limits) {
  struct Numbered {
    Numbered(size_t i, const std::function<Outcome()>& run, const ChildLimits& l,
             const SignalWatch& s)
        : number(i), child(run, l, s) {}
    size_t number;
    Child child;
  };
  const SignalWatch signals;
  std::list<Numbered> running;
  size_t started = 0;
  const auto is_result = [](const Outcome& o) {
    return o.status != kWrongUse && o.status != kMissing;
  };
  while (started < n || !running.empty()) {
    while (started < n && running.size() < std::max(jobs, 1u)) {
      running.emplace_back(
          started, [&body, started] { return body(started); }, limits, signals);
      ++started;
    }
    std::vector<Child*> children;
    for (Numbered& r : running) children.push_back(&r.child);
    if (!wait_for_one(children, signals)) {
      for (const Numbered& r : running) r.child.ask_to_end();  // all, before waiting for the first
      for (Numbered& r : running) {
        if (r.child.is_over() && is_result(r.child.outcome()))
          (void)done(r.number, std::move(r.child.outcome()));
      }
      throw Interrupted{came};
    }
    for (auto r = running.begin(); r != running.end();) {
      if (!r->child.is_over()) {
        ++r;
        continue;
      }
      const size_t number = r->number;
      Outcome o = std::move(r->child.outcome());
      r = running.erase(r);
      if (o.status == kWrongUse) throw Usage(o.failure);
      if (o.status == kMissing) throw Missing(o.failure);
      if (!done(number, std::move(o))) return;
    }
  }
}

void in_children(size_t n, unsigned jobs, const std::function<Outcome(size_t)>& body,
                 const std::function<bool(size_t, Outcome)>& done, const ChildLimits& limits) {
  const SignalWatch signals;
  std::deque<Child> children;  // the first has number `fetched`
  size_t started = 0, fetched = 0, running = 0;
  while (fetched < n) {
    while (started < n && running < std::max(jobs, 1u)) {
      children.emplace_back([&body, started] { return body(started); }, limits, signals);
      ++started;
      ++running;
    }
    if (!wait_for_one(pointers(children), signals)) {
      for (const Child& c : children) c.ask_to_end();  // ask all before waiting for the first
      for (Child& c : children) {                      // some end before an earlier one
        if (c.is_over() && c.outcome().status != kWrongUse && c.outcome().status != kMissing)
          (void)done(fetched, std::move(c.outcome()));
        ++fetched;
      }
      throw Interrupted{came};
    }
    running = 0;
    for (const Child& c : children) running += c.is_over() ? 0 : 1;
    while (!children.empty() && children.front().is_over()) {
      Outcome o = std::move(children.front().outcome());
      children.pop_front();
      if (o.status == kWrongUse) throw Usage(o.failure);
      if (o.status == kMissing) throw Missing(o.failure);
      if (!done(fetched++, std::move(o))) return;
    }
  }
}

const volatile std::sig_atomic_t* take_time_to_end() {
  signal(kEndAsked, [](int) { end_asked = 1; });
  return &end_asked;
}

Outcome in_child(const std::function<Outcome()>& body, const ChildLimits& limits) {
  Outcome out;
  in_children(
      1, 1, [&](size_t) { return body(); },
      [&](size_t, Outcome o) {
        out = std::move(o);
        return true;
      },
      limits);
  return out;
}

}  // namespace rnic::app
