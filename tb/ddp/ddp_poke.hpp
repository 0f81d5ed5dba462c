// Sets ddp's counters to values that take too many messages to simulate (near 2^31 and above). The
// QP must have nothing in flight. In the RTL this depends on the layout of two tables (state_t of
// rtl/ddp/ddp_rx_header.sv, ddp_tx_sched.sv); pokes.vlt makes them public.
#pragma once

#include "VDdpMin___024root.h"
#include "VDdp___024root.h"
#include "ddp/ddp_dut.hpp"

namespace rnic::tb {

/// Writes a 32-bit value into a wide table entry (an array of 32-bit words), from bit lsb on.
template <class Word>
void deposit(Word& word, unsigned lsb, uint32_t value) {
  for (unsigned i = 0; i < 32; i++) {
    const uint32_t bit = 1u << (lsb + i) % 32;
    auto& part = word.at((lsb + i) / 32);
    part = (value >> i & 1) != 0 ? part | bit : part & ~bit;
  }
}

/// set_rx_msn() sets the next MSN that QP `qpn` must receive on queue `qn`, set_tx_msn() the next
/// one that it sends (`qn`: 0, 1 or 3). In the RTL, lsb is the number of bits in the fields after
/// that MSN; the comments list the fields. Their widths: each later MSN 32, pd 16, persist 1,
/// written 1, write_len 32; resp_tagged 1, resp_length 32, term_length 7, sq_info 35 for each slot.
template <class D>
void set_rx_msn(D& dut, uint16_t qpn, unsigned qn, uint32_t msn) {
  if constexpr (requires { dut.behaviour(); })
    dut.behaviour().rx.set_msn(qpn, qn, msn);
  else  // {running, failed, open, mo, msn0, msn1, msn2, msn3, pd, persist, written, write_len}
    deposit(dut.top().rootp->ddp__DOT__u_rx__DOT__u_header__DOT__u_table__DOT__mem[qpn],
            33 + 17 + 32 * (3 - qn), msn);
}
template <class D>
void set_tx_msn(D& dut, uint16_t qpn, unsigned qn, uint32_t msn) {
  if constexpr (requires { dut.behaviour(); })
    dut.behaviour().tx.set_msn(qpn, qn, msn);
  else  // {..., msn0, msn1, msn3, pd, resp_tagged, resp_length, term_length, sq_info}
    deposit(dut.top().rootp->ddp__DOT__u_tx__DOT__u_sched__DOT__u_table__DOT__mem[qpn],
            35 * D::sizes().sq_slots + 7 + 32 + 1 + 16 + (qn == 3 ? 0 : 32 * (2 - qn)), msn);
}
/// Sets the number of packets placed since reset.
template <class D>
void set_placed(D& dut, uint64_t count) {
  if constexpr (requires { dut.behaviour(); })
    dut.behaviour().rx.set_placed(count);
  else
    dut.top().rootp->ddp__DOT__u_tx__DOT__u_header__DOT__placed_q = count;
}

}  // namespace rnic::tb
