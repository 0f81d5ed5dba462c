// Ports of a unit. A unit knows none of its neighbours: it sends through its own ports, and the top
// connects each port to an input, one line each (top/edges.cpp).
//
//   Output<spec::CqWr> cq_wr_o{u_.ports, "cq.cq_wr_o"};      // a stream: cq_wr_o.push(item, at)
//   Call<uint64_t()> placed_i{u_.ports, "atomic.placed_i"};  // acts in the same cycle: placed_i()
//
//   cq_.cq_wr_o.to(host_.cq_wr);                              // to a queue
//   cq_.cq_cmd_rsp_o.to<&AdminUnit::answer>(admin_);          // to a function of the consumer
//
// Names are those of rtl/gen/rnic.sv: the stream or wire, with _o if the unit drives it, _i if it
// reads it.
#pragma once

#include <concepts>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "sc/dispatcher.hpp"
#include "sc/queue.hpp"

namespace rnic::model {

class Port;

/// All ports of a device. A port's constructor adds the port.
class PortList {
 public:
  void add(const Port& port) { ports_.push_back(&port); }
  /// The top calls it after the last connection: a port that is not connected ends the program.
  inline void check() const;

 private:
  std::vector<const Port*> ports_;
};

class Port {
 public:
  Port(PortList& all, std::string_view name) : name_(name) { all.add(*this); }
  Port(const Port&) = delete;
  Port& operator=(const Port&) = delete;
  std::string_view name() const { return name_; }
  bool is_connected() const { return to_ != nullptr; }

 protected:
  ~Port() = default;
  void connect(void* to) {
    RNIC_CHECK(to_ == nullptr, "port {} is connected twice", name_);
    to_ = to;
  }
  void* to_ = nullptr;

 private:
  std::string_view name_;
};

inline void PortList::check() const {
  for (const Port* p : ports_) RNIC_CHECK(p->is_connected(), "port {} is not connected", p->name());
}

/// The producer's end of a stream of T.
template <class T>
class Output final : public Port {
 public:
  using Port::Port;

  /// To an input queue that no other stream feeds.
  void to(Queue<T>& in) {
    connect(&in);
    queue_ = &in;
  }
  /// To an input queue in which streams merge. The queue has room for all items of these streams:
  /// size(), full() and wake_on_credit() must not be called.
  template <class V>
  void to(Queue<V>& in) {
    connect(&in);
    push_ = [](void* q, T&& item, Cycle at) {
      static_cast<Queue<V>*>(q)->push(std::move(item), at);
    };
  }
  /// To a function of the consumer, F(item, at), which always takes the item.
  template <auto F, class U>
  void to(U& unit) {
    connect(&unit);
    push_ = [](void* u, T&& item, Cycle at) {
      std::invoke(F, *static_cast<U*>(u), std::move(item), at);
    };
  }
  /// To a function of the consumer that pushes into `in`: full() is that of `in`.
  template <auto F, class U>
  void to(U& unit, Queue<T>& in) {
    to<F>(unit);
    queue_ = &in;
  }

  /// Sends an item that the consumer sees in cycle `visible_at`. Not if full().
  void push(T&& item, Cycle visible_at) {
    if (push_ == nullptr) return queue_->push(std::move(item), visible_at);
    push_(to_, std::move(item), visible_at);
  }
  void push(const T& item, Cycle visible_at) { push(T(item), visible_at); }
  uint32_t size() const { return queue_->size(); }
  bool full() const { return queue_->full(); }
  void wake_on_credit(const Stage& producer) { queue_->wake_on_credit(producer); }

 private:
  Queue<T>* queue_ = nullptr;  // null if the consumer always takes an item
  void (*push_)(void*, T&&, Cycle) = nullptr;
};

/// A wire, or a request with its response, in the same cycle.
template <class F>
class Call;
template <class R, class... A>
class Call<R(A...)> final : public Port {
 public:
  using Port::Port;
  template <auto F, class U>
  void to(U& unit) {
    connect(&unit);
    call_ = [](void* u, A... a) -> R {
      return std::invoke(F, *static_cast<U*>(u), std::forward<A>(a)...);
    };
  }
  R operator()(A... a) const { return call_(to_, std::forward<A>(a)...); }

 private:
  R (*call_)(void*, A...) = nullptr;
};

}  // namespace rnic::model
