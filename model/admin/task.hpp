// A coroutine that suspends until a response arrives and resumes at that point: a sequence of steps
// with waits, written as one function.
//
//   Answer<Payload> read_;
//   Task run() { for (;;) { Payload p = co_await read_; ... } }   // elsewhere: read_.give(p);
#pragma once

#include <coroutine>
#include <exception>
#include <optional>
#include <utility>

#include "base/check.hpp"

namespace rnic::model {

class Task {
 public:
  struct promise_type {
    Task get_return_object() {
      return Task(std::coroutine_handle<promise_type>::from_promise(*this));
    }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }
  };
  Task() = default;
  explicit Task(std::coroutine_handle<promise_type> h) : h_(h) {}
  Task(Task&& o) noexcept : h_(std::exchange(o.h_, nullptr)) {}
  Task& operator=(Task&& o) noexcept {
    std::swap(h_, o.h_);
    return *this;
  }
  ~Task() {
    if (h_) h_.destroy();
  }
  void start() { h_.resume(); }

 private:
  std::coroutine_handle<promise_type> h_;
};

/// The response that a coroutine waits for: `co_await answer`. give() resumes the coroutine. At
/// most one coroutine waits; a response that comes before the co_await is kept.
template <class T>
class Answer {
 public:
  bool await_ready() const { return value_.has_value(); }
  void await_suspend(std::coroutine_handle<> h) { waiting_ = h; }
  T await_resume() {
    T out = std::move(*value_);
    value_.reset();
    return out;
  }
  void give(T value) {
    RNIC_CHECK(!value_.has_value(), "a response without a request");
    value_ = std::move(value);
    if (const auto h = std::exchange(waiting_, nullptr)) h.resume();
  }
  bool awaited() const { return waiting_ != nullptr; }  // a coroutine waits now

 private:
  std::optional<T> value_;
  std::coroutine_handle<> waiting_;
};

}  // namespace rnic::model
