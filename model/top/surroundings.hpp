// Calls of the device to the world outside; the owner of an Rnic implements them. All calls come
// from external stages (Stage::attach), at the time of their cycle. After a can_...() returned
// false, the implementation calls Rnic::wake() when that function would return true.
#pragma once

#include <cstdint>

#include "gen/streams.hpp"
#include "host_if/host_if.hpp"
#include "llp_if/llp_if.hpp"

namespace rnic::model {

class Surroundings {
 public:
  virtual ~Surroundings() = default;
  // can_*: the next call of that kind is accepted.
  virtual bool can_dma_write() const = 0;
  virtual void dma_write(WriteTlp tlp) = 0;
  virtual bool can_dma_read() const = 0;
  virtual void dma_read(const ReadTlp& tlp) = 0;
  virtual void mmio_response(uint64_t value) = 0;
  virtual bool can_llp_tx() const = 0;
  virtual void llp_tx(LlpRecord record) = 0;
  virtual void llp_ctl(const spec::LlpCtlReq& req) = 0;
};

}  // namespace rnic::model
