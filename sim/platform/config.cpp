// The settings of the platform as rows: name, unit, least, most, meaning, member, then for some
// "power of two" or the choices of a text. Defaults are in config.hpp and link/config.hpp.
#include "platform/config.hpp"

#include <array>

namespace rnic::sim {
namespace {

using Row = SettingRow<PlatformConfig>;

// pcie<M>: the accessor (settings.hpp) of member M in PlatformConfig::pcie; the others likewise.
template <auto M>
constexpr auto pcie = &setting_of<&PlatformConfig::pcie, M, PlatformConfig>;
template <auto M>
constexpr auto host = &setting_of<&PlatformConfig::host, M, PlatformConfig>;
template <auto M>
constexpr auto link = &setting_of<&PlatformConfig::link, M, PlatformConfig>;
template <auto M>
constexpr auto run = &setting_of<&PlatformConfig::run, M, PlatformConfig>;

using P = PcieConfig;
using H = HostConfig;
using L = LinkConfig;
using R = RunConfig;

const std::array kRows = {
    Row{"pcie_gen", "", 3, 5, "PCIe generation: 8, 16 or 32 GT/s a lane.", pcie<&P::pcie_gen>},
    Row{"pcie_lanes", "lanes", 1, 16, "Lanes of the PCIe link.", pcie<&P::pcie_lanes>, true},
    Row{"pcie_gbps", "Gb/s", 0, 4000,
        "Rate of each direction after line coding; 0: from generation and lanes.",
        pcie<&P::pcie_gbps>},
    Row{"pcie_mps", "bytes", 128, 4096, "Largest payload of a write or completion.",
        pcie<&P::pcie_mps>, true},
    Row{"pcie_mrrs", "bytes", 128, 4096, "Largest read request.", pcie<&P::pcie_mrrs>, true},
    Row{"pcie_rcb", "bytes", 64, 128, "Read completion boundary.", pcie<&P::pcie_rcb>, true},
    Row{"pcie_latency_ns", "ns", 8, 1'000'000,
        "Round trip of a read without its time on the wire: a quarter each way, half in root "
        "complex and memory.",
        pcie<&P::pcie_latency_ns>},
    Row{"pcie_tags", "tags", 1, 256, "Reads that may be outstanding.", pcie<&P::pcie_tags>},
    Row{"pcie_posted_credits", "TLPs", 1, 65536, "Writes on their way that memory has not taken.",
        pcie<&P::pcie_posted_credits>},
    Row{"pcie_nonposted_credits", "TLPs", 1, 65536,
        "Reads on their way that memory has not served.", pcie<&P::pcie_nonposted_credits>},
    Row{"pcie_tx_queue_bytes", "bytes", 64, 1 << 20,
        "Bytes that wait for the upstream wire before the device is held.",
        pcie<&P::pcie_tx_queue_bytes>},
    Row{"pcie_reorder", "", 0, 1,
        "Probability that a completion is delayed, so that others pass it.",
        pcie<&P::pcie_reorder>},
    Row{"pcie_reorder_ns", "ns", 1, 1'000'000, "Longest such delay.", pcie<&P::pcie_reorder_ns>},
    Row{"pcie_split", "", 0, 1, "Probability that a completion is cut shorter than it need be.",
        pcie<&P::pcie_split>},
    Row{"pcie_relaxed", "", 0, 1, "Probability that a relaxed write passes the writes before it.",
        pcie<&P::pcie_relaxed>},
    Row{"pcie_posted_hold_ns", "ns", 0, 1'000'000,
        "Longest time for which the root complex holds back a posted write, drawn for each by "
        "seed; "
        "posted writes stay in order, and reads wait for those before them; 0: none.",
        pcie<&P::pcie_posted_hold_ns>},
    Row{"pcie_error_status", "", 0, 3,
        "Injected into reads: 0 nothing, 1 unsupported, 2 aborted, 3 poisoned.",
        pcie<&P::pcie_error_status>},
    Row{"pcie_error_nth", "", 0, 1e18, "The n-th read in the range fails; 0: none by number.",
        pcie<&P::pcie_error_nth>},
    Row{"pcie_error", "", 0, 1, "Probability that a read in the range fails.",
        pcie<&P::pcie_error>},
    Row{"pcie_error_from", "", 0, 1.9e19, "First bus address of the range.",
        pcie<&P::pcie_error_from>},
    Row{"pcie_error_to", "", 0, 1.9e19, "First bus address after the range.",
        pcie<&P::pcie_error_to>},
    Row{"mmio_write_ns", "ns", 0, 100'000, "What a register write costs the CPU.",
        host<&H::mmio_write_ns>},
    Row{"mmio_read_ns", "ns", 0, 100'000,
        "What a register read costs the CPU beside its round trip.", host<&H::mmio_read_ns>},
    Row{"wc_ns", "ns", 0, 100'000, "What a 64-byte write-combined store costs the CPU.",
        host<&H::wc_ns>},
    Row{"post_ns", "ns", 0, 100'000, "What making posted work visible costs: once a doorbell.",
        host<&H::post_ns>},
    Row{"poll_ns", "ns", 1, 100'000, "What a poll costs, empty or not.", host<&H::poll_ns>},
    Row{"interrupt_ns", "ns", 0, 1'000'000, "From an interrupt to the program that waits for it.",
        host<&H::interrupt_ns>},
    Row{"reset_ns", "ns", 0, 1e9, "What a function-level reset costs.", host<&H::reset_ns>},
    Row{"quantum_ns", "ns", 0, 100'000,
        "How far a thread's own time may run ahead before the others are let run.",
        host<&H::quantum_ns>},
    Row{"arena_mib", "MiB", 16, 65536, "Host memory that the device can reach.",
        host<&H::arena_mib>},
    Row{"scatter_pages", "pages", 1, 16, "Longest run of neighbouring pages in scattered memory.",
        host<&H::scatter_pages>},
    Row{"page_kib", "KiB", 4, 2048,
        "Pages of scattered memory; larger ones than 4 lie one by one, aligned to their size.",
        host<&H::page_kib>, true},
    Row{"guard_pages", "pages", 1, 16, "Unmapped pages after each buffer.", host<&H::guard_pages>},
    Row{"huge_from_mib", "MiB", 2, 65536,
        "Scattered buffers of at least this size have 2 MiB pages.", host<&H::huge_from_mib>},
    Row{"domain", "", 0, 0,
        "Where a store is safe from a failure of the power: eadr (in the caches too), adr (in the "
        "memory controller), none.",
        host<&H::domain>, false, "eadr adr none"},
    Row{"pmem_image", "", 0, 0,
        "File that holds the persistent memory before and after the run; empty: it begins zeroed "
        "and is gone at the end.",
        host<&H::pmem_image>},
    Row{"pmem_recover", "0 or 1", 0, 1, "Whether the file pmem_image must be there.",
        host<&H::pmem_recover>},
    Row{"pmem_bytes", "bytes", 4096, 68719476736.0, "Persistent memory of the host.",
        host<&H::pmem_bytes>},
    Row{"pmem_persist_ns", "ns", 0, 1'000'000,
        "What writing the host's own stores back to persistent memory costs: once a call.",
        host<&H::pmem_persist_ns>},
    Row{"power_fail_ns", "ns", 0, 1e12,
        "When the power of the host fails, if its programs still run; 0: never.",
        host<&H::power_fail_ns>},
    Row{"link_gbps", "Gb/s", 1, 1600, "Rate of the link.", link<&L::link_gbps>},
    Row{"link_delay_ns", "ns", 0, 100'000'000, "From the last bit sent to its arrival.",
        link<&L::link_delay_ns>},
    Row{"mtu", "bytes", 576, 65535, "Largest IP packet; the maximum segment size is 40 less.",
        link<&L::mtu>},
    Row{"link_tx_queue_bytes", "bytes", 64, 1 << 24,
        "Bytes that wait for the wire before the device is held.", link<&L::link_tx_queue_bytes>},
    Row{"llp_window_bytes", "bytes", 1024, 1 << 30,
        "Window of a connection; at least one segment and 128 bytes whatever is set.",
        link<&L::llp_window_bytes>},
    Row{"llp_narrow_connections", "", 0, 65535,
        "So many connections of each host, from number 0 on, have a window of one segment.",
        link<&L::llp_narrow_connections>},
    Row{"llp_timeout_us", "us", 1, 1e9, "How long the LLP tries to reach a peer that is gone.",
        link<&L::llp_timeout_us>},
    Row{"watchdog_us", "us", 1, 1e9, "The run ends if nothing has moved for this long.",
        run<&R::watchdog_us>},
    Row{"time_limit_us", "us", 1, 1e12, "The run ends after this simulated time.",
        run<&R::time_limit_us>},
};

PlatformConfig machine(uint64_t gen, uint64_t latency_ns) {
  PlatformConfig c;
  c.pcie.pcie_gen = gen;
  c.pcie.pcie_latency_ns = latency_ns;
  return c;
}

const std::array kPresets = {
    Preset{"gen4x16",
           "Reference: PCIe Gen4 x16, MPS 256, MRRS 512, 0.8 us read round trip, 100 GbE.",
           [] { return machine(4, 800); }},
    Preset{"gen3x16", "PCIe Gen3 x16, 1.0 us read round trip.", [] { return machine(3, 1000); }},
    Preset{"gen5x16", "PCIe Gen5 x16, 0.7 us read round trip.", [] { return machine(5, 700); }},
};

}  // namespace

double PcieConfig::gbps() const {
  if (pcie_gbps > 0) return pcie_gbps;
  const double lane = pcie_gen == 3 ? 8.0 : pcie_gen == 4 ? 16.0 : 32.0;
  return lane * static_cast<double>(pcie_lanes) * 128 / 130;  // line code 128b/130b
}

std::span<const SettingRow<PlatformConfig>> platform_settings() { return kRows; }
std::span<const Preset> platform_presets() { return kPresets; }

std::optional<PlatformConfig> preset(std::string_view name) {
  for (const auto& p : kPresets) {
    if (p.name == name) return p.make();
  }
  return std::nullopt;
}

}  // namespace rnic::sim
