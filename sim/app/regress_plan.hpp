// A random host program as plain data: settings, queue pairs, operations, and the memory both hosts must hold at the end. All of it
// follows from the seed; neither driver nor device is asked.
//
//   Plan p = generate(7, 250, {.minimum = false});      the same seed, the same plan
//   p.keep({3, 17});  p.simplify("mtu");                what shrinking does
//   Memory want = reference(p);                         want.landing[kServer][qp]
//
// Memory of a side: one `source` region, never written, and a `landing` region for each QP. All of a side have pages of one size; where
// that is not 4 KiB, each begins some 4 KiB before the end of its first page, and so reaches into a second. Every operation that writes has a part of
// a landing region to itself, so the end does not depend on timing. What is read is source, or something an earlier operation of the
// same QP wrote: the sink of a Read (then a fence stands between), the target of a Write (a Read stays behind the Writes before it).
#pragma once

#include <array>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/rng.hpp"
#include "config.hpp"

namespace rnic::app::regress {

inline constexpr uint32_t kMaxQps = 8, kPage = 4096, kBeat = 64, kSourceBytes = 80 * kPage;
inline constexpr uint32_t kOneFpduWindow = 1024;  // of the link: it then has one FPDU under way, however long
inline constexpr uint32_t kLeastTagged = 14, kUntagged = 18;  // bytes of a DDP header

enum class Op : uint8_t { kSend, kSendSolicited, kWrite, kRead };
enum class SizeClass : uint8_t { k0, k1, k2To63, k64, k65ToMulpdu, kMulpdu, kMulpdu1, k4K, kTo64K, kLarge };
enum class SgeClass : uint8_t { k1, k2To3, k4To7, k8To13, k14 };
enum class Crossing : uint8_t { kInside, kTouches, kCrosses };  // page borders, where the first piece lands
inline constexpr std::array kOpNames = {"send", "send_solicited", "write", "read"};
inline constexpr std::array kSizeNames = {"0", "1", "2-63", "64", "65-", "MULPDU", "MULPDU+1", "4K+-1", "-64K", "large"};
inline constexpr std::array kSgeNames = {"1", "2-3", "4-7", "8-13", "14"};
inline constexpr std::array kCrossingNames = {"inside", "touches", "crosses"};

struct Piece {
  uint32_t offset = 0, length = 0;
};

struct Operation {
  uint32_t number = 0;  // in the plan as generated; shrinking keeps it
  Side side = kClient;  // who posts it
  uint32_t qp = 0;
  Op op = Op::kSend;
  SizeClass size_class = SizeClass::k0;
  uint32_t length = 0;
  std::vector<Piece> local;      // what is gathered; of a Read its sink
  bool local_landing = false;    // those lie in the own landing region
  Piece remote;                  // Write: in the peer's landing region; Read: what is fetched
  bool remote_landing = false;
  std::vector<Piece> receive;    // Send: pieces of the receive it takes, with room for length or more
  bool is_inline = false, signaled = false, fence = false;
  bool joined = false;           // posted with the one before it of its QP, one doorbell for both
  bool push = false;             // its WQE goes in the doorbell
  uint32_t pause_ns = 0;         // the QP rests before it
  bool closing = false;          // the last of its QP and side: behind it everything has arrived

  SgeClass sge_class() const;
  Crossing crossing() const;
  uint32_t source_offset() const;  // of the first byte that is read, in its region
  uint32_t target_offset() const;  // of the first that is written
  bool is_send() const { return op == Op::kSend || op == Op::kSendSolicited; }
  std::string describe() const;
};

struct QpShape {  // of one side
  uint32_t send_depth = 64, recv_depth = 64, max_sge = 14, max_inline = 0;
  bool push = false;
};

struct Plan {
  uint64_t seed = 0;
  uint32_t mtu = 1500;
  std::vector<std::pair<std::string, std::string>> settings;  // of rnic-sim
  uint32_t qps = 1;
  std::array<uint32_t, 2> ird{8, 8}, ord{8, 8};
  bool markers = false, crc = true, one_cq = true;
  std::array<std::array<QpShape, kMaxQps>, 2> shape{};
  std::array<std::array<uint32_t, kMaxQps>, 2> landing_bytes{};
  std::array<uint32_t, 2> page_bytes{kPage, kPage};
  std::array<std::array<uint32_t, kMaxQps>, 2> landing_at{};  // in its first page
  std::array<uint32_t, 2> source_at{};
  std::vector<Operation> ops;

  /// Only these operations, and what then closes each QP.
  void keep(const std::set<uint32_t>& numbers);
  /// One thing as simple as it gets: a name of simplifications().
  void simplify(const std::string& name);
  std::vector<std::string> simplifications() const;
  std::set<uint32_t> numbers() const;  // of what is not closing
  bool uses(uint32_t qp) const;
  std::string describe() const;

 private:
  void close_qps();
  friend Plan generate(uint64_t, uint32_t, const struct Limits&);
};

struct Limits {
  bool minimum = false;           // the device's minimum build on one side
  std::optional<uint32_t> mtu{};  // where the user has set it
};
Plan generate(uint64_t seed, uint32_t ops, const Limits& limits);
/// Payload of a full FPDU. Untagged for Sends.
uint32_t full_payload(uint32_t mtu, bool markers, bool untagged);

struct Memory {
  std::array<std::vector<uint8_t>, 2> source;
  std::array<std::array<std::vector<uint8_t>, kMaxQps>, 2> landing;
};
Memory initial(const Plan& plan);
Memory reference(const Plan& plan);

}  // namespace rnic::app::regress
