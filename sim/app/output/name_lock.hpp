// The names of the files that this run writes, so that of two runs at a time the second is refused before it begins, not mixed
// into what the first one writes.
//
//   if (!hold_name("wire.pcap")) throw Missing("wire.pcap is being written by another run");
#pragma once

#include <filesystem>

namespace rnic::app {

/// False while another run of this machine holds the name. Else it is held until this process has ended, in whatever way, and with it
/// the children that it has made.
bool hold_name(const std::filesystem::path& file);

}  // namespace rnic::app
