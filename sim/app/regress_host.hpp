// One host's part of a plan, over the driver's API: posts, takes completions, compares each with the plan, and memory with the reference.
//
//   Shared shared;                                       // of both hosts: what a program would tell its peer by other means
//   simulation.start(1, "server", [&](PciDevice& dev) { Host(dev, plan, want, kServer, manager, shared).run(); });
//
// The first thing that is not as planned ends the run; shared.failure says it.
#pragma once

#include <deque>
#include <functional>

#include "regress_plan.hpp"
#include "rnic/connection.hpp"
#include "rnic/manager.hpp"
#include "run.hpp"

namespace rnic::app::regress {

struct Shared {
  struct OfSide {
    bool listening = false, done = false;
    uint32_t source_rkey = 0;
    std::array<uint32_t, kMaxQps> landing_rkey{};
    std::array<uint64_t, kMaxQps> receives{};  // posted, and known to the device
  };
  std::array<OfSide, 2> side{};
  std::string failure;
  Time failed_at = 0, connected = 0;
  std::optional<Place> wrong{};  // the first byte that was not as it should be
  std::function<std::string(const Operation&)> also{};  // asked of each completed operation
  Time progress = 0;
  uint64_t posted = 0, completions = 0, bytes_checked = 0;
};

class Host {
 public:
  Host(PciDevice& dev, const Plan& plan, const Memory& want, Side side, const verbs::ManagerSettings& manager, Shared& shared)
      : dev_(dev), plan_(plan), want_(want), side_(side), peer_(side == kClient ? kServer : kClient), settings_(manager), shared_(shared) {}
  void run();

 private:
  /// Memory from somewhere in its first page on.
  struct Region {
    DmaBuffer buffer{};
    uint64_t at = 0, size = 0;
    std::span<uint8_t> bytes() const { return buffer.bytes().subspan(at, size); }
  };
  struct Lane {
    uint32_t number = 0;
    Region landing{};
    verbs::Mr mr{};
    verbs::Qp qp{};
    verbs::Connection connection{};
    std::vector<const Operation*> sends{};     // what we post, in order
    std::vector<const Operation*> incoming{};  // what the peer posts
    std::vector<const Operation*> receives{};  // its Sends
    size_t posted = 0, completed = 0, checked_writes = 0;
    size_t sends_posted = 0, receives_posted = 0, received = 0;
    Time rest_until = 0;
  };

  [[nodiscard]] Result<void> body();
  [[nodiscard]] Result<void> open();
  [[nodiscard]] Result<void> open_lane(Lane& lane);
  [[nodiscard]] Result<verbs::Mr> open_region(Region& region, uint32_t at, std::span<const uint8_t> bytes, uint64_t iova, uint32_t access);
  [[nodiscard]] Result<void> connect();
  [[nodiscard]] Result<void> exchange();
  [[nodiscard]] Result<void> post(Lane& lane);
  [[nodiscard]] Result<void> post_receives();
  [[nodiscard]] Result<size_t> poll();
  [[nodiscard]] Result<void> take(const verbs::Wc& wc);
  [[nodiscard]] Result<void> take_send(Lane& lane, const verbs::Wc& wc);
  [[nodiscard]] Result<void> take_receive(Lane& lane, const verbs::Wc& wc);
  [[nodiscard]] Result<void> ask(const Operation& op) const;
  [[nodiscard]] Result<void> compare(const Lane& lane, const Piece& piece, const Operation& op, std::string_view when);
  [[nodiscard]] Result<void> compare_all();
  [[nodiscard]] Result<void> look();
  [[nodiscard]] Result<void> finish();
  [[nodiscard]] Result<void> progress();
  verbs::Sge sge(const Lane& lane, const Piece& p, bool in_landing, bool pointer) const;
  std::string standing() const;
  bool is_over() const;

  PciDevice& dev_;
  const Plan& plan_;
  const Memory& want_;
  Side side_, peer_;
  verbs::ManagerSettings settings_;
  Shared& shared_;
  std::unique_ptr<verbs::Manager> manager_;
  verbs::Context context_;
  verbs::Pd pd_;
  verbs::Cq send_cq_, recv_cq_;
  Region source_;
  verbs::Mr source_mr_;
  std::deque<Lane> lanes_;
  Memory start_;  // while it opens
};

}  // namespace rnic::app::regress
