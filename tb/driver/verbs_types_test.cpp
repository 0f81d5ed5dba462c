// Enumerators have the numbers that rdma-core publishes (libibverbs/verbs.h). The numbers sent to
// the device are the same. Both are typed here a second time, so that neither can change unnoticed.
#include <gtest/gtest.h>

#include "gen/errors.hpp"
#include "gen/queues.hpp"
#include "rnic/verbs.hpp"

namespace rnic::verbs {
namespace {

static_assert(IBV_WR_RDMA_WRITE == 0 && IBV_WR_RDMA_WRITE_WITH_IMM == 1 && IBV_WR_SEND == 2);
static_assert(IBV_WR_SEND_WITH_IMM == 3 && IBV_WR_RDMA_READ == 4);
static_assert(IBV_WR_ATOMIC_CMP_AND_SWP == 5 && IBV_WR_ATOMIC_FETCH_AND_ADD == 6);
static_assert(IBV_WR_LOCAL_INV == 7 && IBV_WR_BIND_MW == 8 && IBV_WR_SEND_WITH_INV == 9);
static_assert(IBV_WR_FLUSH == 14 && IBV_WR_ATOMIC_WRITE == 15);
// Of the Linux kernel's include/rdma/ib_verbs.h: user space has no fast registration.
static_assert(IBV_WR_REG_MR == 0x20 && IBV_WC_REG_MR == 10);
static_assert(RNIC_WR_IMM > IBV_WR_ATOMIC_WRITE && RNIC_WR_VERIFY > IBV_WR_ATOMIC_WRITE);

static_assert(IBV_SEND_FENCE == 1 && IBV_SEND_SIGNALED == 2 && IBV_SEND_SOLICITED == 4);
static_assert(IBV_SEND_INLINE == 8);

static_assert(IBV_ACCESS_LOCAL_WRITE == 1 && IBV_ACCESS_REMOTE_WRITE == 2);
static_assert(IBV_ACCESS_REMOTE_READ == 4 && IBV_ACCESS_REMOTE_ATOMIC == 8);
static_assert(IBV_ACCESS_MW_BIND == 16 && IBV_ACCESS_ZERO_BASED == 32);
static_assert(IBV_ACCESS_FLUSH_GLOBAL == 256 && IBV_ACCESS_FLUSH_PERSISTENT == 512);

static_assert(IBV_MW_TYPE_1 == 1 && IBV_MW_TYPE_2 == 2);
static_assert(inc_rkey(0x123400) == 0x123401 && inc_rkey(0x1234ff) == 0x123400);

static_assert(IBV_FLUSH_GLOBAL == 1 && IBV_FLUSH_PERSISTENT == 2);
static_assert(IBV_FLUSH_RANGE == 0 && IBV_FLUSH_MR == 1);

static_assert(IBV_ATOMIC_NONE == 0 && IBV_ATOMIC_HCA == 1 && IBV_ATOMIC_GLOB == 2);

static_assert(IBV_CREATE_CQ_ATTR_SINGLE_THREADED == 1);

static_assert(IBV_WC_SUCCESS == 0 && IBV_WC_LOC_LEN_ERR == 1 && IBV_WC_LOC_QP_OP_ERR == 2);
static_assert(IBV_WC_LOC_PROT_ERR == 4 && IBV_WC_WR_FLUSH_ERR == 5 && IBV_WC_MW_BIND_ERR == 6);
static_assert(IBV_WC_REM_INV_REQ_ERR == 9 && IBV_WC_REM_ACCESS_ERR == 10);
static_assert(IBV_WC_REM_OP_ERR == 11 && IBV_WC_FATAL_ERR == 19 && IBV_WC_GENERAL_ERR == 21);

static_assert(IBV_WC_SEND == 0 && IBV_WC_RDMA_WRITE == 1 && IBV_WC_RDMA_READ == 2);
static_assert(IBV_WC_COMP_SWAP == 3 && IBV_WC_FETCH_ADD == 4 && IBV_WC_BIND_MW == 5);
static_assert(IBV_WC_LOCAL_INV == 6 && IBV_WC_FLUSH == 8 && IBV_WC_ATOMIC_WRITE == 9);
static_assert(IBV_WC_RECV == 128);

static_assert(IBV_QPS_RESET == 0 && IBV_QPS_INIT == 1 && IBV_QPS_RTR == 2 && IBV_QPS_RTS == 3);
static_assert(IBV_QPS_SQD == 4 && IBV_QPS_SQE == 5 && IBV_QPS_ERR == 6);

static_assert(IBV_EVENT_CQ_ERR == 0 && IBV_EVENT_QP_FATAL == 1 && IBV_EVENT_QP_REQ_ERR == 2);
static_assert(IBV_EVENT_QP_ACCESS_ERR == 3 && IBV_EVENT_DEVICE_FATAL == 8);

constexpr uint32_t number(auto e) { return static_cast<uint32_t>(e); }
static_assert(number(spec::WrOpcode::kRdmaWrite) == IBV_WR_RDMA_WRITE);
static_assert(number(spec::WrOpcode::kSend) == IBV_WR_SEND);
static_assert(number(spec::WrOpcode::kRdmaRead) == IBV_WR_RDMA_READ);
static_assert(number(spec::WrOpcode::kAtomicCmpAndSwp) == IBV_WR_ATOMIC_CMP_AND_SWP);
static_assert(number(spec::WrOpcode::kAtomicFetchAndAdd) == IBV_WR_ATOMIC_FETCH_AND_ADD);
static_assert(number(spec::WrOpcode::kAtomicWrite) == IBV_WR_ATOMIC_WRITE);
static_assert(number(spec::WcStatus::kSuccess) == IBV_WC_SUCCESS);
static_assert(number(spec::WcStatus::kLocLenErr) == IBV_WC_LOC_LEN_ERR);
static_assert(number(spec::WcStatus::kLocQpOpErr) == IBV_WC_LOC_QP_OP_ERR);
static_assert(number(spec::WcStatus::kLocProtErr) == IBV_WC_LOC_PROT_ERR);
static_assert(number(spec::WcStatus::kWrFlushErr) == IBV_WC_WR_FLUSH_ERR);
static_assert(number(spec::WcStatus::kMwBindErr) == IBV_WC_MW_BIND_ERR);
static_assert(number(spec::WrOpcode::kRegMr) == IBV_WR_REG_MR);
static_assert(number(spec::WrOpcode::kBindMw) == IBV_WR_BIND_MW);
static_assert(number(spec::WcOpcode::kBindMw) == IBV_WC_BIND_MW);
static_assert(spec::kAccessMwBind == IBV_ACCESS_MW_BIND);
static_assert(number(spec::WcOpcode::kRegMr) == IBV_WC_REG_MR);
static_assert(number(spec::WcStatus::kRemInvReqErr) == IBV_WC_REM_INV_REQ_ERR);
static_assert(number(spec::WcStatus::kRemAccessErr) == IBV_WC_REM_ACCESS_ERR);
static_assert(number(spec::WcStatus::kRemOpErr) == IBV_WC_REM_OP_ERR);
static_assert(number(spec::WcStatus::kFatalErr) == IBV_WC_FATAL_ERR);
static_assert(number(spec::WcOpcode::kCompSwap) == IBV_WC_COMP_SWAP);
static_assert(number(spec::WcOpcode::kFetchAdd) == IBV_WC_FETCH_ADD);
static_assert(number(spec::WcOpcode::kAtomicWrite) == IBV_WC_ATOMIC_WRITE);
static_assert(number(spec::WcOpcode::kRecv) == IBV_WC_RECV);

TEST(VerbsTypes, NamesOfStatuses) {
  EXPECT_EQ(to_string(IBV_WC_SUCCESS), "success");
  EXPECT_EQ(to_string(IBV_WC_WR_FLUSH_ERR), "Work Request Flushed Error");
  EXPECT_EQ(to_string(static_cast<WcStatus>(3)), "unknown");
  EXPECT_EQ(to_string(IBV_QPS_SQE), "SQE");
}

}  // namespace
}  // namespace rnic::verbs
