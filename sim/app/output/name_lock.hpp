// Locks the names of the files that this run writes. Of two simultaneous runs, the second is
// refused before it begins, instead of mixing its output into the first one's.
//
//   if (!hold_name("wire.pcap")) throw Missing("wire.pcap is being written by another run");
#pragma once

#include <filesystem>

namespace rnic::app {

/// Returns false while another run on this machine holds the name. Otherwise this process and its
/// children hold it until they have ended, in whatever way.
bool hold_name(const std::filesystem::path& file);

}  // namespace rnic::app
