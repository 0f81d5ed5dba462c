// Writes a link's frames as a capture that tshark dissects: Ethernet, IPv4 and TCP with correct
// checksums and times in ns. The time of a frame is the arrival of its last bit.
//
//   Pcap pcap("wire.pcap");          // throws std::runtime_error if the file cannot be written
//   link.tap(pcap);
#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include "link/link.hpp"

namespace rnic::sim {

class Pcap final : public LinkTap {
 public:
  explicit Pcap(const std::string& path);
  ~Pcap() override;
  Pcap(const Pcap&) = delete;
  Pcap& operator=(const Pcap&) = delete;

  void frame(Time at, const Frame& frame) override;
  /// Flushes the file; false if part of it could not be written.
  bool flush() { return std::fflush(file_) == 0 && std::ferror(file_) == 0; }

 private:
  std::FILE* file_;
  std::vector<uint8_t> buffer_;
  uint16_t ip_id_[Link::kHosts] = {};
};

}  // namespace rnic::sim
