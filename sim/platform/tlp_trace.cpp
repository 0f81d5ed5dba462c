// Prints each event of a host's PCIe as one line. "up": towards the host; "down": towards the
// device. See tlp_trace.hpp.
#include "platform/tlp_trace.hpp"

#include <fmt/format.h>

namespace rnic::sim {

void TlpTrace::line(Time t, const std::string& text) {
  // Not fmt::print: it throws into the simulation if the disk is full. The owner of the file checks
  // its ferror.
  std::fputs(fmt::format("{}.{:03} {} {}\n", t / kNs, t % kNs, name_, text).c_str(), to_);
}
void TlpTrace::on_write_issued(Time t, const DmaWrite& w) {
  line(t, fmt::format("up   write  {:#x} {}{} {}", w.address, w.data.size(),
                      w.relaxed ? " relaxed" : "", to_string(w.client)));
}
void TlpTrace::on_read_issued(Time t, const DmaRead& r) {
  line(t, fmt::format("up   read   {:#x} {} tag={} {}", r.address, r.length, r.tag,
                      to_string(r.client)));
}
void TlpTrace::on_completion(Time t, const DmaPiece& p) {
  line(t, fmt::format("down piece  {} tag={} {}{}", p.data.size(), p.tag, spec::to_string(p.status),
                      p.is_last ? " last" : ""));
}
void TlpTrace::on_mmio(Time t, const Mmio& m) {
  if (m.is_write && m.bytes <= 8) {
    line(t, fmt::format("down mmio_w bar{}+{:#x} {} {:#x}", m.bar, m.offset, m.bytes, m.value));
  } else {
    line(t, fmt::format("down {} bar{}+{:#x} {}", m.is_write ? "mmio_w" : "mmio_r", m.bar, m.offset,
                        m.bytes));
  }
}
void TlpTrace::on_mmio_response(Time t, uint64_t value) {
  line(t, fmt::format("up   answer {:#x}", value));
}
void TlpTrace::on_interrupt(Time t, unsigned vector) {
  line(t, fmt::format("up   interrupt {}", vector));
}

}  // namespace rnic::sim
