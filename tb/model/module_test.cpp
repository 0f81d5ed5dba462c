// The model in a TLM-2.0 platform: two modules, each with a memory behind a simple target socket; a
// transport that is a plain wire; a processor that drives registers and queues by blocking
// transport.
#include <gtest/gtest.h>

#include <map>

#include "gen/regs.hpp"
#include "top/rnic_module.hpp"

// libsystemc requires this function.
extern "C" __attribute__((weak)) int sc_main(int, char**) { return 0; }

namespace rnic::tb {
namespace {

using model::LlpRecord;
using sc_core::sc_time;
using spec::AdminOpcode;

constexpr uint64_t kBytes = 1 << 20;

struct Memory : sc_core::sc_module {
  tlm_utils::simple_target_socket<Memory> socket{"socket"};
  std::vector<uint8_t> bytes = std::vector<uint8_t>(kBytes);
  explicit Memory(const sc_core::sc_module_name& n) : sc_module(n) {
    socket.register_b_transport(this, &Memory::access);
  }
  void access(tlm::tlm_generic_payload& t, sc_time& delay) {
    delay += sc_time(300, sc_core::SC_NS);
    if (t.get_address() + t.get_data_length() > kBytes)
      return t.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    uint8_t* at = &bytes[t.get_address()];
    if (t.is_read()) {
      std::memcpy(t.get_data_ptr(), at, t.get_data_length());
    } else {
      std::memcpy(at, t.get_data_ptr(), t.get_data_length());
    }
    t.set_response_status(tlm::TLM_OK_RESPONSE);
  }
};

/// The transport of one side: one connection, number 0 on both sides, whose credit never ends.
struct Wire : sc_core::sc_module, model::LlpTransportIf {
  sc_core::sc_port<model::LlpDeviceIf> nic{"nic"};
  Wire* peer = nullptr;
  uint32_t limit = 1 << 20;
  uint64_t records = 0;
  explicit Wire(const sc_core::sc_module_name& n) : sc_module(n) {}
  bool can_tx() const override { return peer->nic->can_rx(); }
  void tx(LlpRecord r) override {
    ++records;
    limit += r.data.size();
    nic->credit({0, limit});
    peer->nic->rx(std::move(r));
    nic->wake();
  }
  void ctl(const spec::LlpCtlReq& req) override {
    if (req.op != spec::LlpOp::kConnect) return;
    for (Wire* w : {this, peer}) {
      const bool active = w == this;
      w->nic->event({.kind = active ? spec::LlpEvt::kAssigned : spec::LlpEvt::kIncoming,
                     .connection = 0,
                     .cookie = req.cookie});
      if (active) w->nic->event({.kind = spec::LlpEvt::kEstablished, .connection = 0});
      w->nic->event({.kind = spec::LlpEvt::kMss, .connection = 0, .length = 1460});
      w->nic->credit({0, w->limit});
    }
  }
};

/// Memory of each side: command ring 0x1000, response ring 0x2000, EQ 0x3000, CQ 0x4000, page list
/// 0x5000, SQ 0x6000, RQ 0x7000; the region's first page is at 0x10000, its second at 0x8000.
struct Cpu : sc_core::sc_module {
  tlm_utils::simple_initiator_socket<Cpu> bar0{"bar0"}, bar2{"bar2"};
  Memory* memory = nullptr;
  uint16_t commands = 0;
  explicit Cpu(const sc_core::sc_module_name& n) : sc_module(n) {}

  /// A read or write of BAR 0, or of BAR 2 if `doorbell`. Returns the value read.
  uint64_t access(bool doorbell, bool write, uint64_t at, uint32_t bytes, uint64_t value = 0) {
    tlm::tlm_generic_payload t;
    t.set_command(write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND);
    t.set_address(at);
    t.set_data_ptr(base::pointer_at<uint8_t>(&value));
    t.set_data_length(bytes);
    t.set_streaming_width(bytes);
    sc_time delay = sc_core::SC_ZERO_TIME;
    (doorbell ? bar2 : bar0)->b_transport(t, delay);
    EXPECT_TRUE(t.is_response_ok());
    return value;
  }
  template <class A>
  spec::AdminRsp command(AdminOpcode op, uint32_t object, const A& args) {
    spec::AdminCmd c{.opcode = static_cast<uint8_t>(op),
                     .flags = 0,
                     .cookie = commands,
                     .object = object,
                     .args = {}};
    args.pack(c.args);
    c.pack(std::span(memory->bytes).subspan(0x1000 + 64U * commands, 64));
    const uint64_t at = 0x2000 + 32U * commands++;
    access(false, true, spec::kAdminDoorbellOffset, 4, commands);
    for (int i = 0; i < 1000; ++i) {
      const auto rsp = spec::AdminRsp::unpack(std::span(memory->bytes).subspan(at, 32));
      if (rsp.phase != 0) return rsp;
      sc_core::wait(sc_time(100, sc_core::SC_NS));
    }
    ADD_FAILURE() << "no answer to " << to_string(op);
    return {};
  }
  /// Creates a PD, an EQ, a CQ, a region of two pages and a QP. Returns the region's STag.
  uint32_t set_up() {
    access(false, true, spec::kAdminCmdBaseOffset, 8, 0x1000);
    access(false, true, spec::kAdminRspBaseOffset, 8, 0x2000);
    access(false, true, spec::kAdminLogSizeOffset, 4, 5);
    access(false, true, spec::kDevCtrlOffset, 4, 1);
    command(AdminOpcode::kCreatePd, 0, spec::AdminConnArgs{});
    command(AdminOpcode::kCreateEq, 0, spec::AdminRingArgs{.base = 0x3000, .log_size = 4});
    command(AdminOpcode::kCreateCq, 0, spec::AdminRingArgs{.base = 0x4000, .log_size = 4});
    base::store_le<uint64_t>(&memory->bytes[0x5000], 0x10000);
    base::store_le<uint64_t>(&memory->bytes[0x5008], 0x8000);
    const auto mr = command(AdminOpcode::kCreateMr, 3,
                            spec::AdminMrArgs{.log_page = 12,
                                              .rights = 7,
                                              .base_to = 0,
                                              .length = 8192,
                                              .first_offset = 0,
                                              .pbl_base = 0,
                                              .page_list = 0x5000,
                                              .pages = 2});
    EXPECT_EQ(mr.status, spec::AdminStatus::kOk);
    command(AdminOpcode::kCreateQp, 0,
            spec::AdminQpArgs{.sq_base = 0x6000, .rq_base = 0x7000, .log_sq = 4, .log_rq = 4});
    return spec::AdminMrResult::unpack(mr.result).stag;
  }
  void rts() {
    EXPECT_EQ(command(AdminOpcode::kModifyQp, 0,
                      // to_state 1: rts
                      spec::AdminModifyArgs{.to_state = 1, .use_crc = 1, .ird = 1, .ord = 1})
                  .status,
              spec::AdminStatus::kOk);
  }
};

TEST(RnicModule, WriteInATlmPlatform) {
  model::RnicModule nic_a("nic_a"), nic_b("nic_b");
  Memory memory_a("memory_a"), memory_b("memory_b");
  Wire wire_a("wire_a"), wire_b("wire_b");
  Cpu cpu_a("cpu_a"), cpu_b("cpu_b");
  const auto join = [](model::RnicModule& nic, Memory& memory, Wire& wire, Cpu& cpu) {
    cpu.bar0.bind(nic.bar0);
    cpu.bar2.bind(nic.bar2);
    nic.dma.bind(memory.socket);
    nic.llp.bind(wire);
    wire.nic.bind(nic.llp_in);
    cpu.memory = &memory;
    nic.set_pcie({.bus_master = 1, .mps = 1, .mrrs = 2});
  };
  join(nic_a, memory_a, wire_a, cpu_a);
  join(nic_b, memory_b, wire_b, cpu_b);
  wire_a.peer = &wire_b;
  wire_b.peer = &wire_a;
  for (size_t i = 0; i < 4096; ++i) memory_a.bytes[0x10000 + i] = static_cast<uint8_t>(i * 13);

  bool done = false;
  sc_core::sc_spawn([&] {
    EXPECT_EQ(cpu_a.access(false, false, spec::kMagicOffset, 4), 0x43494e4dU);
    const uint32_t mine = cpu_a.set_up(), theirs = cpu_b.set_up();
    cpu_a.command(AdminOpcode::kConnConnect, 0, spec::AdminConnArgs{.peer_port = 1});
    sc_core::wait(sc_time(1, sc_core::SC_US));
    cpu_b.rts();
    cpu_a.rts();
    std::span<uint8_t> sq = std::span(memory_a.bytes).subspan(0x6000, 64);
    // A Write (opcode 0), signaled (flag 2).
    spec::SqWqe{.opcode = 0,
                .flags = 2,
                .units = 1,
                .num_sge = 1,
                .length = 3000,
                .remote_address = 4000,
                .rkey = theirs}
        .pack(sq);
    spec::WqeSge{.address = 50, .length = 3000, .lkey = mine}.pack(sq.subspan(32));
    cpu_a.access(true, true, 0, 8, uint64_t{1} << 32);  // SQ doorbell of QP 0: index 1
    spec::Cqe e;
    for (int i = 0; i < 1000 && e.phase == 0; ++i) {
      sc_core::wait(sc_time(100, sc_core::SC_NS));
      e = spec::Cqe::unpack(std::span(memory_a.bytes).subspan(0x4000, 32));
    }
    EXPECT_EQ(e.phase, 1);
    EXPECT_EQ(e.status, spec::WcStatus::kSuccess);
    EXPECT_EQ(e.byte_len, 3000U);
    sc_core::wait(sc_time(5, sc_core::SC_US));
    done = true;
  });
  sc_core::sc_start(sc_time(1, sc_core::SC_MS));
  ASSERT_TRUE(done);
  EXPECT_EQ(wire_a.records, 3U);  // 3000 bytes in FPDUs of at most 1460 bytes (MSS)
  // TO 4000 is 96 bytes before the end of the first page. The second page is not adjacent.
  for (size_t i = 0; i < 3000; ++i) {
    const size_t at = i < 96 ? 0x10000 + 4000 + i : 0x8000 + i - 96;
    ASSERT_EQ(memory_b.bytes[at], memory_a.bytes[0x10000 + 50 + i]) << i;
  }
  EXPECT_EQ(nic_a.device().waiting_for() + nic_b.device().waiting_for(), "");
}

}  // namespace
}  // namespace rnic::tb
