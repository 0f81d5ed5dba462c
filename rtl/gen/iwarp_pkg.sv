// Printed by specgen from docs/spec; do not edit.
//
// iwarp_pkg: every type of the device: enums, wire headers, queue entries, streams.
/* verilator lint_off UNUSEDPARAM */ /* verilator lint_off SYMRSVDWORD */
package iwarp_pkg;

  // RDMAP opcode. Four bits in RFC 5040; Atomic Write takes a fifth (docs/ambiguities.md A-02).
  //   RFC 5040 section 4.1, Figure 4; RFC 7306 section 3; draft-talpey-rdma-commit-01 section 3.2
  localparam int unsigned RdmapOpcodeWidth = 5;
  typedef enum logic [4:0] {
    OpRdmaWrite = 5'h0,
    OpReadRequest = 5'h1,
    OpReadResponse = 5'h2,
    OpSend = 5'h3,
    OpSendInv = 5'h4,
    OpSendSe = 5'h5,
    OpSendSeInv = 5'h6,
    OpTerminate = 5'h7,
    OpImmediate = 5'h8,
    OpImmediateSe = 5'h9,
    OpAtomicRequest = 5'ha,
    OpAtomicResponse = 5'hb,
    OpFlushRequest = 5'hc,
    OpFlushResponse = 5'hd,
    OpVerifyRequest = 5'he,
    OpVerifyResponse = 5'hf,
    OpAtomicWriteRequest = 5'h10,
    OpAtomicWriteResponse = 5'h11
  } rdmap_opcode_e;

  // Status of a completion entry; values are verbs'.
  //   rdma-core libibverbs/verbs.h enum ibv_wc_status
  localparam int unsigned WcStatusWidth = 8;
  typedef enum logic [7:0] {
    WcSuccess = 8'h0,
    WcLocLenErr = 8'h1,
    WcLocQpOpErr = 8'h2,
    WcLocProtErr = 8'h4,
    WcWrFlushErr = 8'h5,
    WcMwBindErr = 8'h6,
    WcRemInvReqErr = 8'h9,
    WcRemAccessErr = 8'ha,
    WcRemOpErr = 8'hb,
    WcFatalErr = 8'h13
  } wc_status_e;

  // Answer to an admin command. A command that fails (neither ok nor in_progress) has changed no
  // object. A failed create_mr may make another create_mr, in progress, begin anew.
  //   architecture 4 (Admin)
  localparam int unsigned AdminStatusWidth = 8;
  typedef enum logic [7:0] {
    AdmOk = 8'h0,
    AdmBadOpcode = 8'h1,
    AdmBadObject = 8'h2,
    AdmBadArgument = 8'h3,
    AdmExists = 8'h4,
    AdmNotFound = 8'h5,
    AdmInUse = 8'h6,
    AdmBadState = 8'h7,
    AdmNoResource = 8'h8,
    AdmDmaError = 8'h9,
    AdmNoCredit = 8'ha,
    AdmInProgress = 8'hb
  } admin_status_e;

  // Opcode of a send WQE; values are verbs'.
  //   architecture 13; rdma-core libibverbs/verbs.h enum ibv_wr_opcode
  localparam int unsigned WrOpcodeWidth = 8;
  typedef enum logic [7:0] {
    WrRdmaWrite = 8'h0,
    WrRdmaWriteWithImm = 8'h1,
    WrSend = 8'h2,
    WrSendWithImm = 8'h3,
    WrRdmaRead = 8'h4,
    WrAtomicCmpAndSwp = 8'h5,
    WrAtomicFetchAndAdd = 8'h6,
    WrLocalInv = 8'h7,
    WrBindMw = 8'h8,
    WrSendWithInv = 8'h9,
    WrFlush = 8'he,
    WrAtomicWrite = 8'hf,
    WrRegMr = 8'h20,
    WrImmediate = 8'h80
  } wr_opcode_e;

  // What completed; values are verbs'.
  //   architecture 13; rdma-core libibverbs/verbs.h enum ibv_wc_opcode
  localparam int unsigned WcOpcodeWidth = 8;
  typedef enum logic [7:0] {
    WcoSend = 8'h0,
    WcoRdmaWrite = 8'h1,
    WcoRdmaRead = 8'h2,
    WcoCompSwap = 8'h3,
    WcoFetchAdd = 8'h4,
    WcoBindMw = 8'h5,
    WcoLocalInv = 8'h6,
    WcoFlush = 8'h8,
    WcoAtomicWrite = 8'h9,
    WcoRegMr = 8'ha,
    WcoRecv = 8'h80,
    WcoRecvRdmaWithImm = 8'h81
  } wc_opcode_e;

  // QP states in hardware.
  //   architecture 7
  localparam int unsigned QpStateWidth = 3;
  typedef enum logic [2:0] {
    QpsIdle = 3'h0,
    QpsRts = 3'h1,
    QpsClosing = 3'h2,
    QpsTerminate = 3'h3,
    QpsError = 3'h4
  } qp_state_e;

  // Commands of the admin ring.
  //   architecture 4 (Admin)
  localparam int unsigned AdminOpcodeWidth = 8;
  typedef enum logic [7:0] {
    CmdNop = 8'h0,
    CmdCreatePd = 8'h1,
    CmdDestroyPd = 8'h2,
    CmdCreateEq = 8'h8,
    CmdDestroyEq = 8'h9,
    CmdCreateCq = 8'h10,
    CmdQueryCq = 8'h11,
    CmdDestroyCq = 8'h12,
    CmdModifyCq = 8'h13,
    CmdCreateQp = 8'h18,
    CmdModifyQp = 8'h19,
    CmdQueryQp = 8'h1a,
    CmdDestroyQp = 8'h1b,
    CmdCreateSrq = 8'h1c,
    CmdModifySrq = 8'h1d,
    CmdDestroySrq = 8'h1e,
    CmdCreateMr = 8'h20,
    CmdQueryMr = 8'h21,
    CmdDestroyMr = 8'h22,
    CmdConnListen = 8'h30,
    CmdConnUnlisten = 8'h31,
    CmdConnConnect = 8'h32,
    CmdConnQuery = 8'h33,
    CmdConnGive = 8'h34,
    CmdConnSend = 8'h35,
    CmdConnClose = 8'h36,
    CmdConnAbort = 8'h37,
    CmdConnRelease = 8'h38
  } admin_opcode_e;

  // What an event is about. The entry names the resource; the driver reads its state by a query, so
  // no event is lost.
  //   architecture 4 (Queue formats)
  localparam int unsigned EqeTypeWidth = 8;
  typedef enum logic [7:0] {
    EqCompletion = 8'h1,
    EqCqError = 8'h2,
    EqQp = 8'h3,
    EqConnection = 8'h4
  } eqe_type_e;

  // State of an LLP connection as llp_if keeps it.
  //   architecture 3.3
  localparam int unsigned ConnStateWidth = 4;
  typedef enum logic [3:0] {
    ConnFree = 4'h0,
    ConnConnecting = 4'h1,
    ConnEstablished = 4'h2,
    ConnPeerClosed = 4'h3,
    ConnLocalClosed = 4'h4,
    ConnClosed = 4'h5,
    ConnReset = 4'h6,
    ConnFailed = 4'h7
  } conn_state_e;

  // Kind of a doorbell, from its offset in the 4 KiB page.
  //   architecture 4 (Doorbell)
  localparam int unsigned DoorbellKindWidth = 3;
  typedef enum logic [2:0] {
    DbSq = 3'h0,
    DbRq = 3'h1,
    DbCq = 3'h2,
    DbCqArm = 3'h3,
    DbPush = 3'h4
  } doorbell_kind_e;

  // Bits of sq_wqe.flags, verbs' values.
  //   rdma-core libibverbs/verbs.h enum ibv_send_flags
  localparam int unsigned SqFlagBitWidth = 8;
  typedef enum logic [7:0] {
    SqFlagFence = 8'h1,
    SqFlagSignaled = 8'h2,
    SqFlagSolicited = 8'h4,
    SqFlagInlineData = 8'h8
  } sq_flag_bit_e;

  // How a DMA read ended.
  //   architecture 3.2
  localparam int unsigned RdStatusWidth = 2;
  typedef enum logic [1:0] {
    RdOk = 2'h0,
    RdUnsupported = 2'h1,
    RdAborted = 2'h2,
    RdPoisoned = 2'h3
  } rd_status_e;

  // llp_ctl_req: what the RNIC asks of the transport.
  //   architecture 3.3
  localparam int unsigned LlpOpWidth = 4;
  typedef enum logic [3:0] {
    LlpListen = 4'h0,
    LlpUnlisten = 4'h1,
    LlpConnect = 4'h2,
    LlpGive = 4'h3,
    LlpRdmaMode = 4'h4,
    LlpHalfClose = 4'h5,
    LlpAbort = 4'h6,
    LlpReleased = 4'h7
  } llp_op_e;

  // llp_ctl_evt: what the transport reports.
  //   architecture 3.3
  localparam int unsigned LlpEvtWidth = 4;
  typedef enum logic [3:0] {
    LlpEvAssigned = 4'h0,
    LlpEvIncoming = 4'h1,
    LlpEvEstablished = 4'h2,
    LlpEvFailed = 4'h3,
    LlpEvWaiting = 4'h4,
    LlpEvPeerClosed = 4'h5,
    LlpEvClosed = 4'h6,
    LlpEvReset = 4'h7,
    LlpEvMss = 4'h8
  } llp_evt_e;

  // Outcome of a check, in the order the checks run. The unit that requested the check turns it
  // into its cause.
  //   architecture 6; requirements.md section 7
  localparam int unsigned TptResultWidth = 3;
  typedef enum logic [2:0] {
    TptOk = 3'h0,
    TptStag = 3'h1,
    TptAssoc = 3'h2,
    TptRights = 3'h3,
    TptWrap = 3'h4,
    TptBounds = 3'h5,
    TptAlign = 3'h6,
    TptBind = 3'h7
  } tpt_result_e;

  // Whose message a connection sends.
  //   architecture 5
  localparam int unsigned TxSourceWidth = 2;
  typedef enum logic [1:0] {
    TxSq = 2'h0,
    TxResp = 2'h1,
    TxTerm = 2'h2
  } tx_source_e;

  // Orders of qp to the units that keep state of a QP. Each is acknowledged.
  //   architecture 4 (Conventions)
  localparam int unsigned QpOpWidth = 3;
  typedef enum logic [2:0] {
    QpoStart = 3'h0,
    QpoStop = 3'h1,
    QpoHalfClose = 3'h2,
    QpoAbort = 3'h3,
    QpoSync = 3'h4
  } qp_op_e;

  // What a rq_take_req gets.
  //   architecture 5
  localparam int unsigned RqTakeWidth = 2;
  typedef enum logic [1:0] {
    RqtEmpty = 2'h0,
    RqtOk = 2'h1,
    RqtFailed = 2'h2,
    RqtMalformed = 2'h3
  } rq_take_e;

  // What is reported once a segment is placed.
  //   architecture 5
  localparam int unsigned DeliverKindWidth = 3;
  typedef enum logic [2:0] {
    DelNothing = 3'h0,
    DelRecv = 3'h1,
    DelRead = 3'h2,
    DelImmediate = 3'h3,
    DelInvalidate = 3'h4
  } deliver_kind_e;

  // What llp_if reports to qp about a connection in RDMA mode.
  //   architecture 7
  localparam int unsigned LlpQpEvtWidth = 3;
  typedef enum logic [2:0] {
    LqePeerClosed = 3'h0,
    LqeClosed = 3'h1,
    LqeLost = 3'h2,
    LqeTermDone = 3'h3
  } llp_qp_evt_e;

  // What unit atomic does.
  //   RFC 7306 section 5; draft-talpey-rdma-commit-01 section 3.1.3
  localparam int unsigned AtomicOpWidth = 2;
  typedef enum logic [1:0] {
    AtFetchAdd = 2'h0,
    AtCmpSwap = 2'h1,
    AtWrite = 2'h2,
    AtResult = 2'h3
  } atomic_op_e;

  // How an item of unit atomic ended.
  //   architecture 4
  localparam int unsigned AtomicEndWidth = 2;
  typedef enum logic [1:0] {
    AtEndDone = 2'h0,
    AtEndRefused = 2'h1,
    AtEndUnread = 2'h2,
    AtEndDropped = 2'h3
  } atomic_end_e;

  // Why something failed; travels with what failed.
  //   docs/spec/errors.yaml, causes
  localparam int unsigned CauseWidth = 8;
  typedef enum logic [7:0] {
    CauseNone = 8'h0,
    CauseMpaCrc = 8'h1,
    CauseMpaMarker = 8'h2,
    CauseLlpLost = 8'h3,
    CauseDdpTaggedStag = 8'h8,
    CauseDdpTaggedBounds = 8'h9,
    CauseDdpTaggedAssoc = 8'ha,
    CauseDdpTaggedWrap = 8'hb,
    CauseDdpTaggedVersion = 8'hc,
    CauseDdpUntaggedQn = 8'h10,
    CauseDdpUntaggedNoBuffer = 8'h11,
    CauseDdpUntaggedMsn = 8'h12,
    CauseDdpUntaggedMo = 8'h13,
    CauseDdpUntaggedTooLong = 8'h14,
    CauseDdpUntaggedVersion = 8'h15,
    CauseRdmapStag = 8'h20,
    CauseRdmapBounds = 8'h21,
    CauseRdmapRights = 8'h22,
    CauseRdmapAssoc = 8'h23,
    CauseRdmapWrap = 8'h24,
    CauseRdmapInvProtected = 8'h25,
    CauseRdmapVersion = 8'h28,
    CauseRdmapOpcode = 8'h29,
    CauseRdmapLength = 8'h2a,
    CauseFlushFailed = 8'h2b,
    CauseRdmapInvStag = 8'h2c,
    CauseLocalCatastrophic = 8'h30,
    CausePeerTerminate = 8'h31
  } cause_e;

  // RDMA Write and Read Response: placed by STag and TO.
  //   RFC 5041 section 4.2 (requirements.md 2.1)
  localparam int unsigned DdpTaggedWidth = 112;
  typedef struct packed {
    logic is_tagged;
    logic is_last;
    logic [3:0] reserved0;
    logic [1:0] dv;
    logic [1:0] rv;
    logic reserved1;
    rdmap_opcode_e opcode;
    logic [31:0] stag;
    logic [63:0] tagged_offset;
  } ddp_tagged_t;

  // Everything else: placed by QN, MSN and MO.
  //   RFC 5041 section 4.3 (requirements.md 2.2)
  localparam int unsigned DdpUntaggedWidth = 144;
  typedef struct packed {
    logic is_tagged;
    logic is_last;
    logic [3:0] reserved0;
    logic [1:0] dv;
    logic [1:0] rv;
    logic reserved1;
    rdmap_opcode_e opcode;
    logic [31:0] invalidate_stag;
    logic [31:0] qn;
    logic [31:0] msn;
    logic [31:0] mo;
  } ddp_untagged_t;

  // After the untagged DDP header. The size stands between sink and source.
  //   RFC 5040 section 4.4, Figure 6
  localparam int unsigned ReadRequestWidth = 224;
  typedef struct packed {
    logic [31:0] sink_stag;
    logic [63:0] sink_to;
    logic [31:0] read_size;
    logic [31:0] source_stag;
    logic [63:0] source_to;
  } read_request_t;

  // First word of a Terminate. Then, as M, D and R say: 2 bytes length, DDP header, Read Request
  // header.
  //   RFC 5040 section 4.8, Figure 7
  localparam int unsigned TerminateCtrlWidth = 32;
  typedef struct packed {
    logic [3:0] layer;
    logic [3:0] etype;
    logic [7:0] code;
    logic has_length;
    logic has_ddp_header;
    logic has_rdma_header;
    logic [12:0] reserved;
  } terminate_ctrl_t;

  // After the untagged DDP header. The length stands before the offset. flags: flush_persistent,
  // flush_visible; any other bit is an error.
  //   draft-talpey-rdma-commit-01 section 3.1.1.1 (requirements.md 5.6, A-06)
  localparam int unsigned FlushRequestWidth = 160;
  typedef struct packed {
    logic [31:0] sink_stag;
    logic [31:0] length;
    logic [63:0] sink_to;
    logic [31:0] flags;
  } flush_request_t;

  // After the untagged DDP header. aopcode: atomic_fetch_add or atomic_cmp_swap.
  //   RFC 7306 section 5.2, Figure 4 (requirements.md 5.4, A-08)
  localparam int unsigned AtomicRequestWidth = 416;
  typedef struct packed {
    logic [27:0] reserved;
    logic [3:0] aopcode;
    logic [31:0] request_id;
    logic [31:0] remote_stag;
    logic [63:0] remote_to;
    logic [63:0] data;
    logic [63:0] mask;
    logic [63:0] compare;
    logic [63:0] compare_mask;
  } atomic_request_t;

  // After the untagged DDP header.
  //   RFC 7306 section 5.2, Figure 5 (requirements.md 5.5, A-01)
  localparam int unsigned AtomicResponseWidth = 96;
  typedef struct packed {
    logic [31:0] request_id;
    logic [63:0] value;
  } atomic_response_t;

  // After the untagged DDP header. length is 8.
  //   draft-talpey-rdma-commit-01 section 3.1.3.1 (requirements.md 5.8, A-10)
  localparam int unsigned AtomicWriteRequestWidth = 192;
  typedef struct packed {
    logic [31:0] sink_stag;
    logic [31:0] length;
    logic [63:0] sink_to;
    logic [63:0] data;
  } atomic_write_request_t;

  // Starts an FPDU; counts the ULPDU alone.
  //   RFC 5044 section 4 (docs/ambiguities.md C-20)
  localparam int unsigned MpaLengthWidth = 16;
  typedef struct packed {
    logic [15:0] ulpdu_length;
  } mpa_length_t;

  // Every 512 bytes of the stream: distance back to the FPDU's length field.
  //   RFC 5044 section 4.3 (C-23)
  localparam int unsigned MpaMarkerWidth = 32;
  typedef struct packed {
    logic [15:0] reserved;
    logic [15:0] fpdu_ptr;
  } mpa_marker_t;

  // After the 16-byte key `MPA ID Req Frame` or `MPA ID Rep Frame`, before the private data.
  //   RFC 5044 section 7.1, RFC 6581 section 4 (C-24, C-40)
  localparam int unsigned MpaStartWidth = 32;
  typedef struct packed {
    logic markers;
    logic crc;
    logic reject;
    logic enhanced;
    logic [3:0] reserved;
    logic [7:0] revision;
    logic [15:0] pd_length;
  } mpa_start_t;

  // First 4 bytes of private data in revision 2. A: peer-to-peer; B, C, D: RTR by FPDU or Send,
  // Write, Read.
  //   RFC 6581 section 4 (C-40)
  localparam int unsigned MpaIrdOrdWidth = 32;
  typedef struct packed {
    logic peer_to_peer;
    logic rtr_send;
    logic [13:0] ird;
    logic rtr_write;
    logic rtr_read;
    logic [13:0] ord;
  } mpa_ird_ord_t;

  // One 64-bit write.
  //   architecture 4 (Doorbell)
  localparam int unsigned DoorbellWidth = 64;
  typedef struct packed {
    logic [31:0] index;
    logic [7:0] flags;
    logic [23:0] object;
  } doorbell_t;

  // A scatter/gather element in a WQE. An SGE of length 0 is skipped, and its key is not checked.
  //   rdma-core libibverbs/verbs.h struct ibv_sge
  localparam int unsigned WqeSgeWidth = 128;
  typedef struct packed {
    logic [31:0] lkey;
    logic [31:0] length;
    logic [63:0] address;
  } wqe_sge_t;

  // Header of a send WQE, 32 bytes; then num_sge SGEs or length bytes of inline data. units 64-byte
  // units in all (1 to 4), contiguous modulo the ring. `ring` is the doorbell that announces this
  // WQE; read only in a push. A pushed WQE of two units repeats it in its last 8 bytes, which then
  // hold no SGE or inline data: it names the WQE that each half is of. disposition: of a Flush,
  // verbs' placement type (1 global, 2 persistent; at least one); else 0.
  //   architecture 4 (Queue formats)
  localparam int unsigned SqWqeWidth = 256;
  typedef struct packed {
    doorbell_t ring;
    logic [31:0] reserved2;
    logic [31:0] rkey;
    logic [63:0] remote_address;
    logic [31:0] length;
    logic [7:0] disposition;
    logic [3:0] num_sge;
    logic reserved0;
    logic [2:0] units;
    logic [7:0] flags;
    logic [7:0] opcode;
  } sq_wqe_t;

  // Inline data of a fetch and add or compare and swap: its one SGE, then the operands. Fetch and
  // add: data is added; a bit of mask marks the top bit of a field, and no carry leaves the field;
  // the others are ignored. The SGE has 8 bytes, aligned to 8.
  //   RFC 7306 section 5.1
  localparam int unsigned AtomicOperandsWidth = 384;
  typedef struct packed {
    logic [63:0] compare_mask;
    logic [63:0] compare;
    logic [63:0] mask;
    logic [63:0] data;
    wqe_sge_t sink;
  } atomic_operands_t;

  // Inline data of a fast registration. pages entries of 8 bytes at page_list, each a bus address,
  // give the pages of 2^log_page bytes; first_offset is the offset of the first byte in the first
  // page. Rights: bits of access_flag.
  //   architecture 6
  localparam int unsigned RegOperandsWidth = 256;
  typedef struct packed {
    logic [39:0] reserved0;
    logic [7:0] log_page;
    logic [15:0] rights;
    logic [31:0] pages;
    logic [31:0] first_offset;
    logic [63:0] length;
    logic [63:0] page_list;
  } reg_operands_t;

  // Inline data of a bind: the window is the length bytes at TO address of the region whose STag is
  // lkey. Length 0: unbinds a window of type 1. Rights: bits of access_flag, of the peer only.
  //   architecture 6
  localparam int unsigned BindOperandsWidth = 256;
  typedef struct packed {
    logic [79:0] reserved0;
    logic [15:0] rights;
    logic [31:0] lkey;
    logic [63:0] length;
    logic [63:0] address;
  } bind_operands_t;

  // A receive WQE. The buffer is the SGEs one after the other. tag: in an SRQ, what its completion
  // has as index, since receives of several QPs complete in any order; else ignored.
  //   architecture 4 (Queue formats)
  localparam int unsigned RqWqeWidth = 512;
  typedef struct packed {
    wqe_sge_t sge2;
    wqe_sge_t sge1;
    wqe_sge_t sge0;
    logic [63:0] reserved1;
    logic [15:0] reserved2;
    logic [15:0] tag;
    logic [27:0] reserved0;
    logic [3:0] num_sge;
  } rq_wqe_t;

  // A completion. The phase bit is 1 on the first pass over the ring and flips with each. index: of
  // the WQE's first unit; in a wr_flush_err entry one past the last unit flushed, so one entry
  // flushes many. Of a receive from an SRQ: the WQE's tag, also in a wr_flush_err entry, which
  // flushes that one. with_inv: the receive invalidated the STag in the low half of immediate.
  //   architecture 4 (Queue formats)
  localparam int unsigned CqeWidth = 256;
  typedef struct packed {
    logic phase;
    logic [14:0] reserved1;
    logic [47:0] timestamp;
    logic [63:0] immediate;
    logic [28:0] reserved0;
    logic with_inv;
    logic solicited;
    logic is_recv;
    logic [7:0] vendor;
    wc_status_e status;
    logic [15:0] index;
    logic [31:0] byte_len;
    wc_opcode_e opcode;
    logic [23:0] qpn;
  } cqe_t;

  // An event.
  //   architecture 4 (Queue formats)
  localparam int unsigned EqeWidth = 128;
  typedef struct packed {
    logic phase;
    logic [62:0] reserved1;
    logic [31:0] object;
    logic [23:0] reserved0;
    eqe_type_e kind;
  } eqe_t;

  // A command; args as its opcode says, else zero.
  //   architecture 4 (Admin)
  localparam int unsigned AdminCmdWidth = 512;
  typedef struct packed {
    logic [447:0] args;
    logic [31:0] object;
    logic [15:0] cookie;
    logic [7:0] flags;
    logic [7:0] opcode;
  } admin_cmd_t;

  // The answer, in the order of the commands; same phase rule as a CQE.
  //   architecture 4 (Admin)
  localparam int unsigned AdminRspWidth = 256;
  typedef struct packed {
    logic phase;
    logic [62:0] reserved0;
    logic [127:0] result;
    logic [31:0] object;
    logic [7:0] opcode;
    admin_status_e status;
    logic [15:0] cookie;
  } admin_rsp_t;

  // create_cq, create_eq: a ring on the bus, aligned to its entry size, at most 2 MiB. CQ:
  // 2^log_size CQEs; EQ: 2^log_size EQEs and its MSI-X vector.
  //   architecture 4
  localparam int unsigned AdminRingArgsWidth = 448;
  typedef struct packed {
    logic [319:0] reserved2;
    logic [15:0] reserved1;
    logic [15:0] page;
    logic [7:0] reserved0;
    logic [7:0] vector;
    logic [7:0] eqn;
    logic [7:0] log_size;
    logic [63:0] base;
  } admin_ring_args_t;

  // create_qp. Rings of 2^log 64-byte units, 4 to 32768. privileged: may register memory, whose
  // page addresses are bus addresses. has_srq: receives come from SRQ srq of the same PD; rq_base
  // and log_rq are 0.
  //   architecture 4
  localparam int unsigned AdminQpArgsWidth = 448;
  typedef struct packed {
    logic [191:0] reserved1;
    logic [15:0] reserved2;
    logic [15:0] srq;
    logic [13:0] reserved0;
    logic has_srq;
    logic privileged;
    logic [7:0] log_rq;
    logic [7:0] log_sq;
    logic [63:0] rq_base;
    logic [63:0] sq_base;
    logic [15:0] recv_cq;
    logic [15:0] send_cq;
    logic [15:0] page;
    logic [15:0] pd;
  } admin_qp_args_t;

  // create_srq. A ring of 2^log_size receive WQEs, 4 to 32768, at base. Its fields lie where
  // admin_qp_args has those of the receive queue.
  //   architecture 4
  localparam int unsigned AdminSrqArgsWidth = 448;
  typedef struct packed {
    logic [191:0] reserved4;
    logic [47:0] reserved3;
    logic [7:0] log_size;
    logic [7:0] reserved2;
    logic [63:0] base;
    logic [63:0] reserved1;
    logic [31:0] reserved0;
    logic [15:0] page;
    logic [15:0] pd;
  } admin_srq_args_t;

  // modify_srq. The next take that leaves fewer than limit WQEs in the SRQ makes one event, and no
  // later one does. 0: none.
  //   architecture 4; rdma-core libibverbs/verbs.h struct ibv_srq_attr
  localparam int unsigned AdminLimitArgsWidth = 448;
  typedef struct packed {
    logic [319:0] reserved2;
    logic [63:0] reserved1;
    logic [47:0] reserved0;
    logic [15:0] limit;
  } admin_limit_args_t;

  // modify_qp. For rts: the connection, what was agreed in MPA start-up, the QP's share of the IRD
  // and ORD pools (first slot and count), and up to 532 last streaming bytes (the Reply), which
  // leave before RDMA mode (no_credit if the LLP would not take them at once). hold_tx: send no
  // FPDU before the first has arrived (passive side, RFC 5044). persist: both sides agreed on Flush
  // (decision 10).
  //   architecture 7
  localparam int unsigned AdminModifyArgsWidth = 448;
  typedef struct packed {
    logic [255:0] reserved3;
    logic [63:0] stream_address;
    logic [15:0] reserved2;
    logic [15:0] stream_length;
    logic [15:0] ord_base;
    logic [15:0] ird_base;
    logic [15:0] reserved1;
    logic [7:0] ord;
    logic [7:0] ird;
    logic [15:0] connection;
    logic [2:0] reserved0;
    logic persist;
    logic hold_tx;
    logic tx_markers;
    logic rx_markers;
    logic use_crc;
    logic [7:0] to_state;
  } admin_modify_args_t;

  // create_mr. base_to is the TO of the first byte (0 for zero-based); first_offset its offset in
  // the first page. pages entries of 8 bytes at page_list go to page-list entries from pbl_base on.
  // Rights: bits of access_flag. bound: only QP qpn may use the STag, as its remote invalidation
  // requires. fast: an STag for fast registrations, closed until the first; 2^log_page page-list
  // entries (pages) are kept for it, and fields without a meaning are 0. window: 1 or 2: a memory
  // window of this type, not bound; likewise closed, and all fields but pd and key are 0.
  //   architecture 6
  localparam int unsigned AdminMrArgsWidth = 448;
  typedef struct packed {
    logic [63:0] reserved2;
    logic [27:0] reserved1;
    logic [1:0] window;
    logic fast;
    logic bound;
    logic [31:0] pages;
    logic [63:0] page_list;
    logic [31:0] pbl_base;
    logic [31:0] first_offset;
    logic [63:0] length;
    logic [63:0] base_to;
    logic [15:0] qpn;
    logic [15:0] rights;
    logic [7:0] log_page;
    logic [7:0] key;
    logic [15:0] pd;
  } admin_mr_args_t;

  // Connection commands.
  //   architecture 7
  localparam int unsigned AdminConnArgsWidth = 448;
  typedef struct packed {
    logic [319:0] reserved0;
    logic [31:0] peer_address;
    logic [15:0] peer_port;
    logic [15:0] length;
    logic [63:0] address;
  } admin_conn_args_t;

  // Result of conn_query and conn_connect. waiting: streaming bytes that conn_give would find.
  //   architecture 7
  localparam int unsigned AdminConnResultWidth = 128;
  typedef struct packed {
    logic [15:0] local_port;
    logic [15:0] peer_port;
    logic [31:0] peer_address;
    logic [15:0] mss;
    logic [15:0] waiting;
    logic [7:0] reserved1;
    logic [1:0] reserved0;
    logic has_qp;
    logic passive;
    conn_state_e state;
    logic [15:0] connection;
  } admin_conn_result_t;

  // Result of conn_give. length: bytes that came; fewer than requested, or none, if the LLP had
  // reported the bytes that wait before an earlier conn_give took some of them.
  //   architecture 7
  localparam int unsigned AdminGiveResultWidth = 128;
  typedef struct packed {
    logic [63:0] reserved1;
    logic [47:0] reserved0;
    logic [15:0] length;
  } admin_give_result_t;

  // Result of query_qp. peer_term: layer, type, code of a Terminate that the peer sent
  // (has_peer_term). drained: destroy is allowed.
  //   architecture 7
  localparam int unsigned AdminQpResultWidth = 128;
  typedef struct packed {
    logic [63:0] reserved1;
    logic [15:0] rq_retired;
    logic [15:0] sq_retired;
    logic [15:0] peer_term;
    cause_e cause;
    logic [2:0] reserved0;
    logic drained;
    logic has_peer_term;
    qp_state_e state;
  } admin_qp_result_t;

  // Result of query_cq.
  //   architecture 4
  localparam int unsigned AdminCqResultWidth = 128;
  typedef struct packed {
    logic [63:0] reserved1;
    logic [29:0] reserved0;
    logic armed;
    logic overrun;
    logic [15:0] consumer;
    logic [15:0] producer;
  } admin_cq_result_t;

  // Result of create_mr and query_mr.
  //   architecture 6
  localparam int unsigned AdminMrResultWidth = 128;
  typedef struct packed {
    logic [63:0] length;
    logic [15:0] rights;
    logic [15:0] pd;
    logic [31:0] stag;
  } admin_mr_result_t;

  // Result of destroy_mr: what is free again.
  //   architecture 6
  localparam int unsigned AdminDestroyMrResultWidth = 128;
  typedef struct packed {
    logic [63:0] reserved0;
    logic [15:0] slot;
    logic [15:0] pd;
    logic [31:0] stag;
  } admin_destroy_mr_result_t;

  // A beat of any packet stream; streams marked `beat` have this form. error (with last): drop the
  // whole packet. keep: how many bytes are valid, 0 to 64, less than 64 only with last. Byte 0 in
  // data[7:0].
  //   architecture 4 (Packets are dense)
  localparam int unsigned BeatWidth = 521;
  typedef struct packed {
    logic last;
    logic error;
    logic [6:0] keep;
    logic [511:0] data;
  } beat_t;

  // A range given by STag and tagged offset.
  //   architecture 4
  localparam int unsigned SgeWidth = 128;
  typedef struct packed {
    logic [63:0] tagged_offset;
    logic [31:0] length;
    logic [31:0] stag;
  } sge_t;

  // Counters that each unit shows to host_if.
  //   architecture 12
  localparam int unsigned UnitCountWidth = 144;
  typedef struct packed {
    logic [47:0] items;
    logic [47:0] busy;
    logic [47:0] stalled;
  } unit_count_t;

  // Registers that admin and tpt read; a plain port, stable while enabled.
  //   architecture 3.1
  localparam int unsigned DevCfgWidth = 197;
  typedef struct packed {
    logic enable;
    logic [63:0] stag_key;
    logic [63:0] admin_cmd_base;
    logic [63:0] admin_rsp_base;
    logic [3:0] admin_log_size;
  } dev_cfg_t;

  // From the platform's configuration space; a plain port. mps, mrrs: 128 << n bytes. rcb128:
  // completion boundary 128, else 64.
  //   architecture 4 (PCIe settings)
  localparam int unsigned PcieCfgWidth = 10;
  typedef struct packed {
    logic bus_master;
    logic msix_enable;
    logic msix_mask;
    logic [2:0] mps;
    logic [2:0] mrrs;
    logic rcb128;
  } pcie_cfg_t;

  // A receive WQE as ddp keeps it. index: in the ring; of an SRQ's WQE its tag.
  //   architecture 4
  localparam int unsigned RecvWqeWidth = 402;
  typedef struct packed {
    logic [15:0] index;
    logic [1:0] num_sge;
    sge_t sge0;
    sge_t sge1;
    sge_t sge2;
  } recv_wqe_t;

  // What the units that keep state of a QP need to know. persist: Flush, atomics and Atomic Write
  // are enabled on this stream. privileged: it may register memory.
  //   architecture 7
  localparam int unsigned QpParamsWidth = 82;
  typedef struct packed {
    logic [15:0] connection;
    logic [15:0] pd;
    logic use_crc;
    logic rx_markers;
    logic tx_markers;
    logic hold_tx;
    logic persist;
    logic privileged;
    logic [5:0] ird;
    logic [5:0] ord;
    logic [15:0] ird_base;
    logic [15:0] ord_base;
  } qp_params_t;

  // A command that admin has checked as far as it can.
  //   architecture 4 (Admin)
  localparam int unsigned CmdWidth = 488;
  typedef struct packed {
    admin_opcode_e opcode;
    logic [31:0] object;
    logic [447:0] args;
  } cmd_t;

  // The unit's answer.
  //   architecture 4 (Admin)
  localparam int unsigned CmdRspWidth = 136;
  typedef struct packed {
    admin_status_e status;
    logic [127:0] result;
  } cmd_rsp_t;

  // Read length bytes (1 to 4096) at a bus address, which may cross 4 KiB; answers come in the
  // client's order.
  //   architecture 3.2
  localparam int unsigned RdReqWidth = 77;
  typedef struct packed {
    logic [63:0] address;
    logic [12:0] length;
  } rd_req_t;

  // Answer: status of the whole, then length bytes (on error one empty beat).
  //   architecture 3.2
  localparam int unsigned RdHdrWidth = 15;
  typedef struct packed {
    rd_status_e status;
    logic [12:0] length;
  } rd_hdr_t;

  // A bus extent; never crosses a page of its region. last: of its group. epoch: of its lookup;
  // `retired` returns it when the extent's write was accepted or its read returned.
  //   architecture 4 (Keys at work)
  localparam int unsigned ExtentWidth = 86;
  typedef struct packed {
    logic [63:0] address;
    logic [16:0] length;
    tpt_result_e result;
    logic epoch;
    logic last;
  } extent_t;

  // An extent has ended: its write was accepted, or its read has returned.
  //   architecture 6
  localparam int unsigned RetiredWidth = 1;
  typedef struct packed {
    logic epoch;
  } retired_t;

  // bytes: 4, 8 or 64, aligned. 64 only as a write to a push window. Data from lane 0.
  //   architecture 3.1
  //   from pcie to host_if
  localparam int unsigned MmioReqWidth = 555;
  typedef struct packed {
    logic is_write;
    logic [2:0] bar;
    logic [31:0] offset;
    logic [6:0] bytes;
    logic [511:0] data;
  } mmio_req_t;

  // Answer to a read, in order, never before earlier dma_wr.
  //   architecture 3.1
  //   from host_if to pcie
  localparam int unsigned MmioRspWidth = 64;
  typedef struct packed {
    logic [63:0] data;
  } mmio_rsp_t;

  // Never crosses 4 KiB; length up to MRRS.
  //   architecture 3.2
  //   from host_if to pcie
  localparam int unsigned DmaRdReqWidth = 87;
  typedef struct packed {
    logic [7:0] tag;
    logic [63:0] address;
    logic [12:0] length;
    logic relaxed;
    logic no_alloc;
  } dma_rd_req_t;

  // Beats of completion pieces, each piece dense from lane 0; piece_last ends a piece, is_last
  // (with it) the request. status other than ok ends the request at once, with one beat.
  //   architecture 3.2
  //   from pcie to host_if
  localparam int unsigned DmaRdRspWidth = 531;
  typedef struct packed {
    logic [7:0] tag;
    rd_status_e status;
    logic piece_last;
    logic is_last;
    logic [6:0] keep;
    logic [511:0] data;
  } dma_rd_rsp_t;

  // Beats of a posted write, dense from lane 0; address and length repeat in each beat; never
  // crosses 4 KiB; length up to MPS.
  //   architecture 3.2
  //   from host_if to pcie
  localparam int unsigned DmaWrWidth = 599;
  typedef struct packed {
    logic [63:0] address;
    logic [12:0] length;
    logic relaxed;
    logic no_alloc;
    logic last;
    logic [6:0] keep;
    logic [511:0] data;
  } dma_wr_t;

  // A record: one FPDU, or streaming bytes.
  //   architecture 3.3
  //   from llp to llp_if
  localparam int unsigned LlpRxHdrWidth = 34;
  typedef struct packed {
    logic [15:0] connection;
    logic is_stream;
    logic [16:0] length;
  } llp_rx_hdr_t;

  // Its beats.
  //   architecture 3.3
  //   from llp to llp_if
  localparam int unsigned LlpRxWidth = 521;
  typedef struct packed {
    logic last;
    logic error;
    logic [6:0] keep;
    logic [511:0] data;
  } llp_rx_t;

  // A record.
  //   architecture 3.3
  //   from llp_if to llp
  localparam int unsigned LlpTxHdrWidth = 34;
  typedef struct packed {
    logic [15:0] connection;
    logic is_stream;
    logic [16:0] length;
  } llp_tx_hdr_t;

  // Its beats.
  //   architecture 3.3
  //   from llp_if to llp
  localparam int unsigned LlpTxWidth = 521;
  typedef struct packed {
    logic last;
    logic error;
    logic [6:0] keep;
    logic [511:0] data;
  } llp_tx_t;

  // Control.
  //   architecture 3.3
  //   from llp_if to llp
  localparam int unsigned LlpCtlReqWidth = 103;
  typedef struct packed {
    llp_op_e op;
    logic [15:0] connection;
    logic [15:0] length;
    logic use_crc;
    logic rx_markers;
    logic tx_markers;
    logic [31:0] address;
    logic [15:0] port;
    logic [15:0] cookie;
  } llp_ctl_req_t;

  // Events, in order per connection with the records on llp_rx.
  //   architecture 3.3
  //   from llp to llp_if
  localparam int unsigned LlpCtlEvtWidth = 116;
  typedef struct packed {
    llp_evt_e kind;
    logic [15:0] connection;
    logic [15:0] length;
    logic [31:0] address;
    logic [15:0] port;
    logic [15:0] local_port;
    logic [15:0] cookie;
  } llp_ctl_evt_t;

  // Bytes of records the LLP promises to accept on this connection, counted from its beginning,
  // modulo 2^32.
  //   architecture 3.3
  //   from llp to llp_if
  localparam int unsigned LlpCreditWidth = 48;
  typedef struct packed {
    logic [15:0] connection;
    logic [31:0] limit;
  } llp_credit_t;

  // kind sq, rq or push. A push carries 1 or 2 units; index is the producer index after them. Never
  // stalls for longer than a table access.
  //   architecture 3.1
  //   from host_if to qp
  localparam int unsigned QpDoorbellWidth = 1077;
  typedef struct packed {
    doorbell_kind_e kind;
    logic [15:0] qpn;
    logic [15:0] page;
    logic [15:0] index;
    logic [1:0] units;
    logic [1023:0] data;
  } qp_doorbell_t;

  // Consumer index; arm, for solicited completions only.
  //   architecture 3.1
  //   from host_if to cq
  localparam int unsigned CqDoorbellWidth = 50;
  typedef struct packed {
    logic [15:0] cqn;
    logic [15:0] page;
    logic [15:0] index;
    logic arm;
    logic solicited_only;
  } cq_doorbell_t;

  // Consumer index of an EQ.
  //   architecture 3.1
  //   from host_if to cq
  localparam int unsigned EqDoorbellWidth = 24;
  typedef struct packed {
    logic [7:0] eqn;
    logic [15:0] index;
  } eq_doorbell_t;

  // Producer index of the command ring.
  //   architecture 3.1
  //   from host_if to admin
  localparam int unsigned AdminDoorbellWidth = 16;
  typedef struct packed {
    logic [15:0] index;
  } admin_doorbell_t;

  // SQ fetch.
  //   architecture 3.2
  //   from qp to host_if
  localparam int unsigned SqRdReqWidth = 77;
  typedef struct packed {
    logic [63:0] address;
    logic [12:0] length;
  } sq_rd_req_t;

  // SQ fetch.
  //   architecture 3.2
  //   from host_if to qp
  localparam int unsigned SqRdHdrWidth = 15;
  typedef struct packed {
    rd_status_e status;
    logic [12:0] length;
  } sq_rd_hdr_t;

  // SQ fetch: WQE units.
  //   architecture 3.2
  //   from host_if to qp
  localparam int unsigned SqRdWidth = 521;
  typedef struct packed {
    logic last;
    logic error;
    logic [6:0] keep;
    logic [511:0] data;
  } sq_rd_t;

  // RQ fetch.
  //   architecture 3.2
  //   from qp to host_if
  localparam int unsigned RqRdReqWidth = 77;
  typedef struct packed {
    logic [63:0] address;
    logic [12:0] length;
  } rq_rd_req_t;

  // RQ fetch.
  //   architecture 3.2
  //   from host_if to qp
  localparam int unsigned RqRdHdrWidth = 15;
  typedef struct packed {
    rd_status_e status;
    logic [12:0] length;
  } rq_rd_hdr_t;

  // RQ fetch: WQEs.
  //   architecture 3.2
  //   from host_if to qp
  localparam int unsigned RqRdWidth = 521;
  typedef struct packed {
    logic last;
    logic error;
    logic [6:0] keep;
    logic [511:0] data;
  } rq_rd_t;

  // Commands, page lists, streaming bytes.
  //   architecture 3.2
  //   from admin to host_if
  localparam int unsigned AdminRdReqWidth = 77;
  typedef struct packed {
    logic [63:0] address;
    logic [12:0] length;
  } admin_rd_req_t;

  // The same.
  //   architecture 3.2
  //   from host_if to admin
  localparam int unsigned AdminRdHdrWidth = 15;
  typedef struct packed {
    rd_status_e status;
    logic [12:0] length;
  } admin_rd_hdr_t;

  // The same.
  //   architecture 3.2
  //   from host_if to admin
  localparam int unsigned AdminRdWidth = 521;
  typedef struct packed {
    logic last;
    logic error;
    logic [6:0] keep;
    logic [511:0] data;
  } admin_rd_t;

  // A packet of length bytes (1 and more), whose extents come on tx_extent. With a watermark it is
  // read only when that many place packets were accepted on dma_wr.
  //   architecture 3.2
  //   from ddp to host_if
  localparam int unsigned PayloadReqWidth = 82;
  typedef struct packed {
    logic [16:0] length;
    logic has_watermark;
    logic [63:0] watermark;
  } payload_req_t;

  // Extents of payload_req packets, in their order. A failed check gives one extent of length 0
  // with its result, and ends the group.
  //   architecture 4 (Keys at work)
  //   from tpt to host_if
  localparam int unsigned TxExtentWidth = 86;
  typedef struct packed {
    logic [63:0] address;
    logic [16:0] length;
    tpt_result_e result;
    logic epoch;
    logic last;
  } tx_extent_t;

  // All reads of the packet have completed. result, status: the first failure; then one empty beat
  // follows.
  //   architecture 4 (Packets are dense)
  //   from host_if to ddp
  localparam int unsigned PayloadHdrWidth = 22;
  typedef struct packed {
    logic [16:0] length;
    rd_status_e status;
    tpt_result_e result;
  } payload_hdr_t;

  // The bytes.
  //   architecture 4 (Packets are dense)
  //   from host_if to ddp
  localparam int unsigned PayloadWidth = 521;
  typedef struct packed {
    logic last;
    logic error;
    logic [6:0] keep;
    logic [511:0] data;
  } payload_t;

  // One for each tx_extent (failed ones too). Always taken.
  //   architecture 6
  //   from host_if to tpt
  localparam int unsigned RdRetiredWidth = 1;
  typedef struct packed {
    logic epoch;
  } rd_retired_t;

  // A packet to be placed, length 1 and more.
  //   architecture 5
  //   from ddp to host_if
  localparam int unsigned PlaceHdrWidth = 17;
  typedef struct packed {
    logic [16:0] length;
  } place_hdr_t;

  // Its extents.
  //   architecture 5
  //   from ddp to host_if
  localparam int unsigned PlaceExtentWidth = 86;
  typedef struct packed {
    logic [63:0] address;
    logic [16:0] length;
    tpt_result_e result;
    logic epoch;
    logic last;
  } place_extent_t;

  // Its bytes.
  //   architecture 5
  //   from ddp to host_if
  localparam int unsigned PlaceWidth = 521;
  typedef struct packed {
    logic last;
    logic error;
    logic [6:0] keep;
    logic [511:0] data;
  } place_t;

  // In order, one a packet: its last beat was accepted on dma_wr. count: packets placed since
  // reset, modulo 2^16, this one included; only benches use it.
  //   architecture 5
  //   from host_if to ddp
  localparam int unsigned PlaceDoneWidth = 16;
  typedef struct packed {
    logic [15:0] count;
  } place_done_t;

  // One for each place_extent. Always taken.
  //   architecture 6
  //   from host_if to tpt
  localparam int unsigned WrRetiredWidth = 1;
  typedef struct packed {
    logic epoch;
  } wr_retired_t;

  // A CQE or EQE of length bytes, or the MSI-X message of vector.
  //   architecture 3.2
  //   from cq to host_if
  localparam int unsigned CqWrWidth = 336;
  typedef struct packed {
    logic is_msix;
    logic [7:0] vector;
    logic [63:0] address;
    logic [6:0] length;
    logic [255:0] data;
  } cq_wr_t;

  // 1 to 64 bytes to a bus address; may cross 4 KiB.
  //   architecture 3.2
  //   from admin to host_if
  localparam int unsigned AdminWrWidth = 583;
  typedef struct packed {
    logic [63:0] address;
    logic [6:0] length;
    logic [511:0] data;
  } admin_wr_t;

  // create, modify, query, destroy_qp; create, modify, destroy_srq.
  //   architecture 4
  //   from admin to qp
  localparam int unsigned QpCmdWidth = 488;
  typedef struct packed {
    admin_opcode_e opcode;
    logic [31:0] object;
    logic [447:0] args;
  } qp_cmd_t;

  // Answer.
  //   architecture 4
  //   from qp to admin
  localparam int unsigned QpCmdRspWidth = 136;
  typedef struct packed {
    admin_status_e status;
    logic [127:0] result;
  } qp_cmd_rsp_t;

  // CQ and EQ commands.
  //   architecture 4
  //   from admin to cq
  localparam int unsigned CqCmdWidth = 488;
  typedef struct packed {
    admin_opcode_e opcode;
    logic [31:0] object;
    logic [447:0] args;
  } cq_cmd_t;

  // Answer.
  //   architecture 4
  //   from cq to admin
  localparam int unsigned CqCmdRspWidth = 136;
  typedef struct packed {
    admin_status_e status;
    logic [127:0] result;
  } cq_cmd_rsp_t;

  // Region commands.
  //   architecture 4
  //   from admin to tpt
  localparam int unsigned TptCmdWidth = 488;
  typedef struct packed {
    admin_opcode_e opcode;
    logic [31:0] object;
    logic [447:0] args;
  } tpt_cmd_t;

  // Answer.
  //   architecture 4
  //   from tpt to admin
  localparam int unsigned TptCmdRspWidth = 136;
  typedef struct packed {
    admin_status_e status;
    logic [127:0] result;
  } tpt_cmd_rsp_t;

  // Connection commands (conn_give, conn_send: the control part).
  //   architecture 4
  //   from admin to llp_if
  localparam int unsigned ConnCmdWidth = 488;
  typedef struct packed {
    admin_opcode_e opcode;
    logic [31:0] object;
    logic [447:0] args;
  } conn_cmd_t;

  // Answer.
  //   architecture 4
  //   from llp_if to admin
  localparam int unsigned ConnCmdRspWidth = 136;
  typedef struct packed {
    admin_status_e status;
    logic [127:0] result;
  } conn_cmd_rsp_t;

  // Write a page-list entry.
  //   architecture 6
  //   from admin to tpt
  localparam int unsigned PblWrWidth = 96;
  typedef struct packed {
    logic [31:0] index;
    logic [63:0] address;
  } pbl_wr_t;

  // Streaming bytes out.
  //   architecture 7
  //   from admin to llp_if
  localparam int unsigned RawTxHdrWidth = 32;
  typedef struct packed {
    logic [15:0] connection;
    logic [15:0] length;
  } raw_tx_hdr_t;

  // Streaming bytes out.
  //   architecture 7
  //   from admin to llp_if
  localparam int unsigned RawTxWidth = 521;
  typedef struct packed {
    logic last;
    logic error;
    logic [6:0] keep;
    logic [511:0] data;
  } raw_tx_t;

  // Streaming bytes in, one packet for each conn_give. ended: none, the connection has ended before
  // its record.
  //   architecture 7
  //   from llp_if to admin
  localparam int unsigned RawRxHdrWidth = 33;
  typedef struct packed {
    logic [15:0] connection;
    logic [15:0] length;
    logic ended;
  } raw_rx_hdr_t;

  // Streaming bytes in.
  //   architecture 7
  //   from llp_if to admin
  localparam int unsigned RawRxWidth = 521;
  typedef struct packed {
    logic last;
    logic error;
    logic [6:0] keep;
    logic [511:0] data;
  } raw_rx_t;

  // Start, stop, half_close, abort.
  //   architecture 4
  //   from qp to llp_if
  localparam int unsigned QpCtlLlpWidth = 101;
  typedef struct packed {
    qp_op_e op;
    logic [15:0] qpn;
    qp_params_t params;
  } qp_ctl_llp_t;

  // Start, stop, sync.
  //   architecture 4
  //   from qp to mpa
  localparam int unsigned QpCtlMpaWidth = 101;
  typedef struct packed {
    qp_op_e op;
    logic [15:0] qpn;
    qp_params_t params;
  } qp_ctl_mpa_t;

  // Start, stop, sync.
  //   architecture 4
  //   from qp to ddp
  localparam int unsigned QpCtlDdpWidth = 101;
  typedef struct packed {
    qp_op_e op;
    logic [15:0] qpn;
    qp_params_t params;
  } qp_ctl_ddp_t;

  // Start, stop, half_close, sync.
  //   architecture 4
  //   from qp to rdmap
  localparam int unsigned QpCtlRdmapWidth = 101;
  typedef struct packed {
    qp_op_e op;
    logic [15:0] qpn;
    qp_params_t params;
  } qp_ctl_rdmap_t;

  // Done.
  //   architecture 4
  //   from llp_if to qp
  localparam int unsigned QpAckLlpWidth = 16;
  typedef struct packed {
    logic [15:0] qpn;
  } qp_ack_llp_t;

  // Done.
  //   architecture 4
  //   from mpa to qp
  localparam int unsigned QpAckMpaWidth = 16;
  typedef struct packed {
    logic [15:0] qpn;
  } qp_ack_mpa_t;

  // Done.
  //   architecture 4
  //   from ddp to qp
  localparam int unsigned QpAckDdpWidth = 16;
  typedef struct packed {
    logic [15:0] qpn;
  } qp_ack_ddp_t;

  // Done.
  //   architecture 4
  //   from rdmap to qp
  localparam int unsigned QpAckRdmapWidth = 16;
  typedef struct packed {
    logic [15:0] qpn;
  } qp_ack_rdmap_t;

  // Local keys of a WQE, one SGE an item; last ends the WQE. qpn: compared with the QP of a bound
  // STag. invalidate: check whether the STag may be invalidated: with rights remote_invalidate by
  // the peer of qpn, with rights 0 by QP qpn itself. Then tagged_offset and length are 0, and
  // bounds are not checked.
  //   architecture 4 (Keys at work)
  //   from qp to tpt
  localparam int unsigned WqeCheckWidth = 178;
  typedef struct packed {
    logic [31:0] stag;
    logic [63:0] tagged_offset;
    logic [31:0] length;
    logic [15:0] pd;
    logic [15:0] qpn;
    logic [15:0] rights;
    logic invalidate;
    logic last;
  } wqe_check_t;

  // One a WQE: the first failure, or ok.
  //   architecture 4 (Keys at work)
  //   from tpt to qp
  localparam int unsigned WqeCheckRspWidth = 3;
  typedef struct packed {
    tpt_result_e result;
  } wqe_check_rsp_t;

  // A WQE whose keys are good. slot: its index in the QP's window of issued WQEs. disposition: of a
  // Flush, bit 0 global, bit 1 persistent.
  //   architecture 5
  //   from qp to rdmap
  localparam int unsigned WqeHdrWidth = 168;
  typedef struct packed {
    logic [15:0] qpn;
    logic [7:0] slot;
    wr_opcode_e opcode;
    logic is_solicited;
    logic is_inline;
    logic [3:0] num_sge;
    logic [31:0] length;
    logic [63:0] remote_to;
    logic [31:0] remote_stag;
    logic [1:0] disposition;
  } wqe_hdr_t;

  // num_sge SGEs (wqe_sge, 16 bytes each) or length bytes of inline data.
  //   architecture 5
  //   from qp to rdmap
  localparam int unsigned WqeWidth = 521;
  typedef struct packed {
    logic last;
    logic error;
    logic [6:0] keep;
    logic [511:0] data;
  } wqe_t;

  // The next receive WQE of a QP, for a message that begins.
  //   architecture 5
  //   from ddp to qp
  localparam int unsigned RqTakeReqWidth = 16;
  typedef struct packed {
    logic [15:0] qpn;
  } rq_take_req_t;

  // In order. `ok`, `malformed` and, without an SRQ, `failed` consume the WQE. `malformed` and,
  // without an SRQ, `failed` complete the receive of that index with an error status. `failed` with
  // an SRQ leaves the WQE in the SRQ and ends only the stream. shared: the QP takes from an SRQ.
  //   architecture 5
  //   from qp to ddp
  localparam int unsigned RqTakeRspWidth = 405;
  typedef struct packed {
    rq_take_e result;
    logic shared;
    recv_wqe_t wqe;
  } rq_take_rsp_t;

  // Write a completion; phase and timestamp are cq's.
  //   architecture 4
  //   from qp to cq
  localparam int unsigned CqeReqWidth = 272;
  typedef struct packed {
    logic [15:0] cqn;
    cqe_t entry;
  } cqe_req_t;

  // A QP has an event, or an SRQ its limit event.
  //   architecture 4
  //   from qp to cq
  localparam int unsigned QpAsyncWidth = 16;
  typedef struct packed {
    logic [15:0] qpn;
  } qp_async_t;

  // destroy_qp: forget halves of pushes for this QP. Accepted in the cycle in which they are
  // forgotten.
  //   architecture 3.1
  //   from qp to host_if
  localparam int unsigned QpPurgeWidth = 16;
  typedef struct packed {
    logic [15:0] qpn;
  } qp_purge_t;

  // A CQ has overrun: its QPs fail.
  //   architecture 4
  //   from cq to qp
  localparam int unsigned CqFaultWidth = 16;
  typedef struct packed {
    logic [15:0] cqn;
  } cq_fault_t;

  // A local failure of a QP. rdmap decides whether it is the QP's first error.
  //   architecture 5
  //   from qp to rdmap
  localparam int unsigned QpFaultWidth = 24;
  typedef struct packed {
    logic [15:0] qpn;
    cause_e cause;
  } qp_fault_t;

  // The first error of a QP, reported once: the QP must stop. With cause none it is no error: the
  // responder is idle after half_close. sends_term: rdmap sends ddp a Terminate. has_wr: the send
  // WQE in slot has failed; qp completes it with status. That is the WQE of a tx_fault, of a failed
  // atomic or sq_local, or the request that the peer's Terminate names. peer_term: layer, type,
  // code of the peer's Terminate.
  //   architecture 5
  //   from rdmap to qp
  localparam int unsigned QpErrorWidth = 59;
  typedef struct packed {
    logic [15:0] qpn;
    cause_e cause;
    logic sends_term;
    logic has_wr;
    logic [7:0] slot;
    wc_status_e status;
    logic has_peer_term;
    logic [15:0] peer_term;
  } qp_error_t;

  // A message, for a free slot of (qpn, source). done: report slot when the LLP has its last byte.
  // For resp the body is one SGE; of a Flush Response (untagged, length 0) the byte that is read
  // back, or none (num_sge 0); of an Atomic Response 12 bytes inline, of an Atomic Write Response
  // nothing.
  //   architecture 5
  //   from rdmap to ddp
  localparam int unsigned TxMessageHdrWidth = 233;
  typedef struct packed {
    logic [15:0] qpn;
    tx_source_e source;
    logic is_tagged;
    rdmap_opcode_e opcode;
    logic [1:0] qn;
    logic [31:0] stag;
    logic [63:0] tagged_offset;
    logic [31:0] length;
    logic is_inline;
    logic [3:0] num_sge;
    logic done;
    logic [7:0] slot;
    logic has_watermark;
    logic [63:0] watermark;
  } tx_message_hdr_t;

  // num_sge SGEs (wqe_sge) or length bytes inline: inline data, Terminate, the requests for Read,
  // Flush and atomics, Atomic Write, Atomic Response.
  //   architecture 5
  //   from rdmap to ddp
  localparam int unsigned TxMessageWidth = 521;
  typedef struct packed {
    logic last;
    logic error;
    logic [6:0] keep;
    logic [511:0] data;
  } tx_message_t;

  // ddp has read the last segment of an SQ message from its slot: the slot is free. A QP has
  // sq_slots of them.
  //   architecture 5
  //   from ddp to qp
  localparam int unsigned SqSlotFreeWidth = 16;
  typedef struct packed {
    logic [15:0] qpn;
  } sq_slot_free_t;

  // The same of a response; of a Flush Response: ddp has sent it, after its read-back. A QP has one
  // slot.
  //   architecture 5
  //   from ddp to rdmap
  localparam int unsigned RespSlotFreeWidth = 16;
  typedef struct packed {
    logic [15:0] qpn;
  } resp_slot_free_t;

  // The QP has a segment to send; one want a QP at a time, and one for Terminate beside it.
  //   architecture 5
  //   from ddp to llp_if
  localparam int unsigned TxWantWidth = 17;
  typedef struct packed {
    logic [15:0] qpn;
    logic is_term;
  } tx_want_t;

  // Credit for one worst-case FPDU is set aside.
  //   architecture 5
  //   from llp_if to ddp
  localparam int unsigned TxGrantWidth = 33;
  typedef struct packed {
    logic [15:0] qpn;
    logic is_term;
    logic [15:0] mulpdu;
  } tx_grant_t;

  // A piece of a segment; last ends the segment. rights 0: reading local memory needs none.
  //   architecture 4 (Keys at work)
  //   from ddp to tpt
  localparam int unsigned TxXlateWidth = 178;
  typedef struct packed {
    logic [31:0] stag;
    logic [63:0] tagged_offset;
    logic [31:0] length;
    logic [15:0] pd;
    logic [15:0] qpn;
    logic [15:0] rights;
    logic invalidate;
    logic last;
  } tx_xlate_t;

  // A segment's payload could not be read; nothing more of its message is sent. offset: bytes of
  // the message in earlier segments.
  //   architecture 5
  //   from ddp to rdmap
  localparam int unsigned TxFaultWidth = 63;
  typedef struct packed {
    logic [15:0] qpn;
    tx_source_e source;
    logic [7:0] slot;
    logic [31:0] offset;
    rd_status_e status;
    tpt_result_e result;
  } tx_fault_t;

  // A ULPDU. done, slot: report when taken. is_term: FIN follows.
  //   architecture 5
  //   from ddp to mpa
  localparam int unsigned TxUlpduHdrWidth = 42;
  typedef struct packed {
    logic [15:0] qpn;
    logic [15:0] length;
    logic done;
    logic [7:0] slot;
    logic is_term;
  } tx_ulpdu_hdr_t;

  // DDP header and payload.
  //   architecture 5
  //   from ddp to mpa
  localparam int unsigned TxUlpduWidth = 521;
  typedef struct packed {
    logic last;
    logic error;
    logic [6:0] keep;
    logic [511:0] data;
  } tx_ulpdu_t;

  // A FPDU.
  //   architecture 5
  //   from mpa to llp_if
  localparam int unsigned TxFpduHdrWidth = 43;
  typedef struct packed {
    logic [15:0] qpn;
    logic [16:0] length;
    logic done;
    logic [7:0] slot;
    logic is_term;
  } tx_fpdu_hdr_t;

  // Length, ULPDU, pad, CRC, markers.
  //   architecture 5
  //   from mpa to llp_if
  localparam int unsigned TxFpduWidth = 521;
  typedef struct packed {
    logic last;
    logic error;
    logic [6:0] keep;
    logic [511:0] data;
  } tx_fpdu_t;

  // The LLP has the last byte of this request's message.
  //   architecture 5
  //   from llp_if to qp
  localparam int unsigned WrDoneWidth = 24;
  typedef struct packed {
    logic [15:0] qpn;
    logic [7:0] slot;
  } wr_done_t;

  // A FPDU of a QP.
  //   architecture 5
  //   from llp_if to mpa
  localparam int unsigned RxFpduHdrWidth = 33;
  typedef struct packed {
    logic [15:0] qpn;
    logic [16:0] length;
  } rx_fpdu_hdr_t;

  // Its bytes; error: the record is damaged, counts as a bad CRC.
  //   architecture 5
  //   from llp_if to mpa
  localparam int unsigned RxFpduWidth = 521;
  typedef struct packed {
    logic last;
    logic error;
    logic [6:0] keep;
    logic [511:0] data;
  } rx_fpdu_t;

  // A checked ULPDU; with a cause one empty beat follows.
  //   architecture 5
  //   from mpa to ddp
  localparam int unsigned RxUlpduHdrWidth = 40;
  typedef struct packed {
    logic [15:0] qpn;
    logic [15:0] length;
    cause_e cause;
  } rx_ulpdu_hdr_t;

  // The ULPDU.
  //   architecture 5
  //   from mpa to ddp
  localparam int unsigned RxUlpduWidth = 521;
  typedef struct packed {
    logic last;
    logic error;
    logic [6:0] keep;
    logic [511:0] data;
  } rx_ulpdu_t;

  // 1 to 3 pieces of a received segment; last ends it. Before those of the last segment of a Send
  // with Invalidate, its STag (invalidate).
  //   architecture 4 (Keys at work)
  //   from ddp to tpt
  localparam int unsigned RxXlateWidth = 178;
  typedef struct packed {
    logic [31:0] stag;
    logic [63:0] tagged_offset;
    logic [31:0] length;
    logic [15:0] pd;
    logic [15:0] qpn;
    logic [15:0] rights;
    logic invalidate;
    logic last;
  } rx_xlate_t;

  // One a segment, before its extents: the first failure (then no extents), or ok. invalidate: the
  // failure is that of the STag to be invalidated.
  //   architecture 4 (Keys at work)
  //   from tpt to ddp
  localparam int unsigned RxXlateRspWidth = 4;
  typedef struct packed {
    tpt_result_e result;
    logic invalidate;
  } rx_xlate_rsp_t;

  // Extents of a segment that was found good.
  //   architecture 4 (Keys at work)
  //   from tpt to ddp
  localparam int unsigned RxExtentWidth = 86;
  typedef struct packed {
    logic [63:0] address;
    logic [16:0] length;
    tpt_result_e result;
    logic epoch;
    logic last;
  } rx_extent_t;

  // One for each rx_extent that was not passed on. Always taken.
  //   architecture 6
  //   from ddp to tpt
  localparam int unsigned RxDroppedWidth = 1;
  typedef struct packed {
    logic epoch;
  } rx_dropped_t;

  // A received segment after all of DDP's checks. head: its first 70 bytes as they came
  // (ulpdu_length of them valid). persist: the extensions are enabled on its stream.
  //   architecture 5
  //   from ddp to rdmap
  localparam int unsigned RxSegmentWidth = 601;
  typedef struct packed {
    logic [15:0] qpn;
    logic persist;
    cause_e cause;
    logic [15:0] ulpdu_length;
    logic [559:0] head;
  } rx_segment_t;

  // In order. accept 0: drop. place: its payload goes to memory. slot: of the Read, Flush or Atomic
  // Write that completes. immediate: the 8 bytes of Immediate Data, the first on the wire in the
  // top bits. Of a Send with Invalidate: the STag, in the low half.
  //   architecture 5
  //   from rdmap to ddp
  localparam int unsigned RxVerdictWidth = 78;
  typedef struct packed {
    logic accept;
    logic place;
    deliver_kind_e deliver;
    logic solicited;
    logic [7:0] slot;
    logic [63:0] immediate;
  } rx_verdict_t;

  // Placed, and to be reported: a receive (index, byte_len, status; immediate) or a Read, Flush or
  // Atomic Write (slot). A WQE that was taken from an SRQ is always reported, with wr_flush_err if
  // its message does not end.
  //   architecture 5
  //   from ddp to qp
  localparam int unsigned RxDoneWidth = 148;
  typedef struct packed {
    logic [15:0] qpn;
    deliver_kind_e kind;
    logic [7:0] slot;
    logic [15:0] index;
    logic [31:0] byte_len;
    logic solicited;
    wc_status_e status;
    logic [63:0] immediate;
  } rx_done_t;

  // A Send with Invalidate is placed: close its STag.
  //   RFC 5040 section 5.3
  //   from ddp to tpt
  localparam int unsigned InvalidateWidth = 32;
  typedef struct packed {
    logic [31:0] stag;
  } invalidate_t;

  // One for each invalidate, in order: the STag is closed, and nothing through it is in flight.
  // Always taken.
  //   RFC 5040 section 5.3
  //   from tpt to ddp
  localparam int unsigned InvalidatedWidth = 32;
  typedef struct packed {
    logic [31:0] stag;
  } invalidated_t;

  // A request of the send queue to our own table: close the STag, register memory under it (is_reg;
  // operands: reg_operands), or bind it (is_bind; bind_operands).
  //   architecture 6
  //   from rdmap to tpt
  localparam int unsigned SqLocalWidth = 394;
  typedef struct packed {
    logic [15:0] qpn;
    logic [7:0] slot;
    logic [31:0] stag;
    logic is_reg;
    logic is_bind;
    logic [15:0] pd;
    logic [63:0] base;
    logic [255:0] operands;
  } sq_local_t;

  // One for each sq_local. Invalidations come in their order, registrations in theirs. Exception: a
  // refused registration, or a bind, may overtake registrations that are reading their page lists.
  // result and status ok: the STag is closed and nothing through it is in flight, or the memory is
  // registered, or the window is bound or unbound. Otherwise the request has failed: result bind,
  // or status if its page list could not be read.
  //   architecture 6
  //   from tpt to rdmap
  localparam int unsigned SqLocalDoneWidth = 29;
  typedef struct packed {
    logic [15:0] qpn;
    logic [7:0] slot;
    tpt_result_e result;
    rd_status_e status;
  } sq_local_done_t;

  // A request whose turn has come: all before it is placed, and what earlier Reads of the QP ask
  // for is fetched. At most one a QP, and 64 in all; results of our own atomics (at most 8) are
  // counted separately. tagged_offset, stag: the target; of result the local sink. Values are
  // integers. right: what the STag needs.
  //   RFC 7306 section 5
  //   from rdmap to atomic
  localparam int unsigned AtomicReqWidth = 410;
  typedef struct packed {
    atomic_op_e op;
    logic [15:0] qpn;
    logic [15:0] pd;
    logic [7:0] slot;
    logic [31:0] stag;
    logic [63:0] tagged_offset;
    logic [15:0] right;
    logic [63:0] data;
    logic [63:0] mask;
    logic [63:0] compare;
    logic [63:0] compare_mask;
  } atomic_req_t;

  // A QP has stopped or failed: a request of it that is not begun is dropped. Always taken.
  //   architecture 4
  //   from rdmap to atomic
  localparam int unsigned AtomicDeadWidth = 16;
  typedef struct packed {
    logic [15:0] qpn;
  } atomic_dead_t;

  // One for each atomic_req; those of one QP and kind in order. value: the old value. rdmap takes
  // each one in the end: it waits only for ddp and qp, never for atomic.
  //   RFC 7306 section 5
  //   from atomic to rdmap
  localparam int unsigned AtomicRspWidth = 97;
  typedef struct packed {
    atomic_op_e op;
    logic [15:0] qpn;
    logic [7:0] slot;
    atomic_end_e ending;
    tpt_result_e result;
    rd_status_e status;
    logic [63:0] value;
  } atomic_rsp_t;

  // The 8 bytes of an atomic, one item a group.
  //   architecture 4 (Keys at work)
  //   from atomic to tpt
  localparam int unsigned Qn1XlateWidth = 178;
  typedef struct packed {
    logic [31:0] stag;
    logic [63:0] tagged_offset;
    logic [31:0] length;
    logic [15:0] pd;
    logic [15:0] qpn;
    logic [15:0] rights;
    logic invalidate;
    logic last;
  } qn1_xlate_t;

  // Its one extent, in the order of qn1_xlate; 8 aligned bytes never cross a page. A failed check
  // gives length 0 and the result.
  //   architecture 4 (Keys at work)
  //   from tpt to atomic
  localparam int unsigned Qn1ExtentWidth = 86;
  typedef struct packed {
    logic [63:0] address;
    logic [16:0] length;
    tpt_result_e result;
    logic epoch;
    logic last;
  } qn1_extent_t;

  // One for each qn1_extent (failed ones too): stored, or nothing to store. Always taken.
  //   architecture 6
  //   from atomic to tpt
  localparam int unsigned Qn1RetiredWidth = 1;
  typedef struct packed {
    logic epoch;
  } qn1_retired_t;

  // Read of an old value: 8 bytes.
  //   architecture 3.2
  //   from atomic to host_if
  localparam int unsigned Qn1RdReqWidth = 77;
  typedef struct packed {
    logic [63:0] address;
    logic [12:0] length;
  } qn1_rd_req_t;

  // The same.
  //   architecture 3.2
  //   from host_if to atomic
  localparam int unsigned Qn1RdHdrWidth = 15;
  typedef struct packed {
    rd_status_e status;
    logic [12:0] length;
  } qn1_rd_hdr_t;

  // The same.
  //   architecture 3.2
  //   from host_if to atomic
  localparam int unsigned Qn1RdWidth = 521;
  typedef struct packed {
    logic last;
    logic error;
    logic [6:0] keep;
    logic [511:0] data;
  } qn1_rd_t;

  // Page lists of fast registrations.
  //   architecture 3.2
  //   from tpt to host_if
  localparam int unsigned RegRdReqWidth = 77;
  typedef struct packed {
    logic [63:0] address;
    logic [12:0] length;
  } reg_rd_req_t;

  // The same.
  //   architecture 3.2
  //   from host_if to tpt
  localparam int unsigned RegRdHdrWidth = 15;
  typedef struct packed {
    rd_status_e status;
    logic [12:0] length;
  } reg_rd_hdr_t;

  // The same.
  //   architecture 3.2
  //   from host_if to tpt
  localparam int unsigned RegRdWidth = 521;
  typedef struct packed {
    logic last;
    logic error;
    logic [6:0] keep;
    logic [511:0] data;
  } reg_rd_t;

  // Store 8 bytes at an address aligned to 8.
  //   architecture 3.2
  //   from atomic to host_if
  localparam int unsigned WordWrWidth = 128;
  typedef struct packed {
    logic [63:0] address;
    logic [63:0] data;
  } word_wr_t;

  // One for each word_wr, in order: it was accepted on dma_wr. Always taken. count: words since
  // reset, modulo 2^16; only benches use it.
  //   architecture 3.2
  //   from host_if to atomic
  localparam int unsigned WordDoneWidth = 16;
  typedef struct packed {
    logic [15:0] count;
  } word_done_t;

  // All payload of a Read Response of this QP has been read without error. Not sent for a response
  // of size 0, nor for one that ddp drops, whose QP has failed or stopped.
  //   RFC 7306 section 7
  //   from ddp to rdmap
  localparam int unsigned RespFetchedWidth = 16;
  typedef struct packed {
    logic [15:0] qpn;
  } resp_fetched_t;

  // The result of an atomic is stored, or a request to our own table is done: the request in slot
  // is complete.
  //   RFC 7306 section 5
  //   from rdmap to qp
  localparam int unsigned ResDoneWidth = 24;
  typedef struct packed {
    logic [15:0] qpn;
    logic [7:0] slot;
  } res_done_t;

  // The source of a Read, whole, when its service begins.
  //   architecture 5
  //   from rdmap to tpt
  localparam int unsigned RespCheckWidth = 178;
  typedef struct packed {
    logic [31:0] stag;
    logic [63:0] tagged_offset;
    logic [31:0] length;
    logic [15:0] pd;
    logic [15:0] qpn;
    logic [15:0] rights;
    logic invalidate;
    logic last;
  } resp_check_t;

  // Answer.
  //   architecture 5
  //   from tpt to rdmap
  localparam int unsigned RespCheckRspWidth = 3;
  typedef struct packed {
    tpt_result_e result;
  } resp_check_rsp_t;

  // Of a connection that a QP has taken.
  //   architecture 7
  //   from llp_if to qp
  localparam int unsigned LlpEventWidth = 19;
  typedef struct packed {
    logic [15:0] qpn;
    llp_qp_evt_e kind;
  } llp_event_t;

  // A connection that no QP has taken changed.
  //   architecture 7
  //   from llp_if to cq
  localparam int unsigned ConnAsyncWidth = 16;
  typedef struct packed {
    logic [15:0] connection;
  } conn_async_t;

  // A dma_rd_req was accepted. client: 0 sq, 1 rq, 2 admin, 3 payload, 4 qn1, 5 reg.
  //   architecture 3.2
  //   tap_dma_rd_req in u_host_if; simulation only
  localparam int unsigned DmaRdReqCommitWidth = 4;
  typedef struct packed {
    logic valid;
    logic [2:0] client;
  } dma_rd_req_commit_t;

  // The read with this tag has timed out: no later piece of it counts.
  //   architecture 3.2
  //   tap_dma_rd_timeout in u_host_if.u_rd.u_reorder.u_tags; simulation only
  localparam int unsigned DmaRdTimeoutCommitWidth = 9;
  typedef struct packed {
    logic valid;
    logic [7:0] tag;
  } dma_rd_timeout_commit_t;

  // A beat of dma_wr was accepted. client: 3 word, 4 place, 5 cq, 6 msix, 7 admin.
  //   architecture 3.2
  //   tap_dma_wr in u_host_if; simulation only
  localparam int unsigned DmaWrCommitWidth = 4;
  typedef struct packed {
    logic valid;
    logic [2:0] client;
  } dma_wr_commit_t;

  // The time of a half of a pushed WQE is over: a first half counts as a doorbell alone, a second
  // is dropped.
  //   architecture 3.1
  //   tap_push_late in u_host_if.u_doorbell; simulation only
  localparam int unsigned PushLateCommitWidth = 50;
  typedef struct packed {
    logic valid;
    logic [15:0] page;
    logic [15:0] qpn;
    logic [15:0] index;
    logic is_second;
  } push_late_commit_t;

  // A qp_purge is accepted: the halves of pushes of this QP are forgotten.
  //   architecture 3.1
  //   tap_push_purge in u_host_if.u_doorbell; simulation only
  localparam int unsigned PushPurgeCommitWidth = 17;
  typedef struct packed {
    logic valid;
    logic [15:0] qpn;
  } push_purge_commit_t;

  // An operation on the CQ table: 0 doorbell, 1 command, 2 completion (of qpn), 3 a due event.
  //   architecture 10
  //   tap_cq_op in u_cq.u_write; simulation only
  localparam int unsigned CqOpCommitWidth = 35;
  typedef struct packed {
    logic valid;
    logic [1:0] op;
    logic [15:0] cqn;
    logic [15:0] qpn;
  } cq_op_commit_t;

  // An event entry is written. kind as in the EQE, object: CQN, QPN or connection.
  //   architecture 10
  //   tap_cq_event in u_cq.u_event; simulation only
  localparam int unsigned CqEventCommitWidth = 25;
  typedef struct packed {
    logic valid;
    logic [7:0] kind;
    logic [15:0] object;
  } cq_event_commit_t;

  // llp_if_rule has decided an item, and the connection's row is written. source: 0 a Terminate was
  // sent, 1 a Terminate got no credit in time, 2 event of the LLP, 3 check whether streaming bytes
  // may be sent, 4 streaming bytes could not be sent, 5 order of qp, 6 command of admin. no_credit:
  // the command is answered with status no_credit.
  //   architecture 10
  //   tap_llp_rule in u_llp_if.u_ctl; simulation only
  localparam int unsigned LlpRuleCommitWidth = 37;
  typedef struct packed {
    logic valid;
    logic [2:0] source;
    logic [15:0] connection;
    logic [15:0] qpn;
    logic no_credit;
  } llp_rule_commit_t;

  // A record's way is decided. way: 0 FPDU of qpn, 1 streaming bytes, 2 dropped.
  //   architecture 10
  //   tap_llp_rx in u_llp_if.u_rx; simulation only
  localparam int unsigned LlpRxCommitWidth = 35;
  typedef struct packed {
    logic valid;
    logic [15:0] connection;
    logic [1:0] way;
    logic [15:0] qpn;
  } llp_rx_commit_t;

  // A tx_grant is given.
  //   architecture 10
  //   tap_llp_grant in u_llp_if.u_grant; simulation only
  localparam int unsigned LlpGrantCommitWidth = 34;
  typedef struct packed {
    logic valid;
    logic [15:0] qpn;
    logic is_term;
    logic [15:0] mulpdu;
  } llp_grant_commit_t;

  // A rx_ulpdu_hdr was accepted: the segment is inside ddp. A stop that takes effect from this
  // cycle on waits for it.
  //   architecture 10
  //   tap_ddp_rx in u_ddp.u_rx; simulation only
  localparam int unsigned DdpRxCommitWidth = 17;
  typedef struct packed {
    logic valid;
    logic [15:0] qpn;
  } ddp_rx_commit_t;

  // A qp_ctl_ddp takes effect.
  //   architecture 10
  //   tap_ddp_ctl in u_ddp.u_qp; simulation only
  localparam int unsigned DdpCtlCommitWidth = 20;
  typedef struct packed {
    logic valid;
    qp_op_e op;
    logic [15:0] qpn;
  } ddp_ctl_commit_t;

  // A qp_ack_ddp was accepted: what was inside when the order took effect was sent or dropped.
  //   architecture 10
  //   tap_ddp_ack in u_ddp.u_qp; simulation only
  localparam int unsigned DdpAckCommitWidth = 20;
  typedef struct packed {
    logic valid;
    qp_op_e op;
    logic [15:0] qpn;
  } ddp_ack_commit_t;

  // A grant was used. nothing: the message that wanted it has been dropped.
  //   architecture 10
  //   tap_ddp_segment in u_ddp.u_tx.u_sched; simulation only
  localparam int unsigned DdpSegmentCommitWidth = 20;
  typedef struct packed {
    logic valid;
    logic [15:0] qpn;
    tx_source_e source;
    logic nothing;
  } ddp_segment_commit_t;

  // All messages of this QP that wait are dropped: a Terminate has arrived (is_term), or a payload
  // came back bad.
  //   architecture 10
  //   tap_ddp_drop in u_ddp.u_tx.u_sched; simulation only
  localparam int unsigned DdpDropCommitWidth = 18;
  typedef struct packed {
    logic valid;
    logic [15:0] qpn;
    logic is_term;
  } ddp_drop_commit_t;

  // A tx_ulpdu_hdr was accepted by mpa: the segment's payload has arrived and is good.
  //   architecture 10
  //   tap_ddp_ulpdu in u_ddp; simulation only
  localparam int unsigned DdpUlpduCommitWidth = 17;
  typedef struct packed {
    logic valid;
    logic [15:0] qpn;
  } ddp_ulpdu_commit_t;

  // A response is begun: its source is good (or its size 0), and it will go to ddp. A source that
  // is not good: rdmap_op 3.
  //   architecture 10
  //   tap_rdmap_response in u_rdmap.u_resp; simulation only
  localparam int unsigned RdmapResponseCommitWidth = 17;
  typedef struct packed {
    logic valid;
    logic [15:0] qpn;
  } rdmap_response_commit_t;

  // A request has come back from atomic, or was dropped before it went there. answers: its response
  // goes to ddp. fails: its fault will come as rdmap_op 3. Neither: it was dropped, or its QP is
  // dead.
  //   RFC 7306 section 5
  //   tap_rdmap_atomic in u_rdmap.u_resp.u_atomic; simulation only
  localparam int unsigned RdmapAtomicCommitWidth = 19;
  typedef struct packed {
    logic valid;
    logic [15:0] qpn;
    logic answers;
    logic fails;
  } rdmap_atomic_commit_t;

  // An operation was done. op as in rdmap_core: 0 ctl, 1 qp_fault, 2 tx_fault, 3 responder check
  // failed, 4 segment (its verdict), 6 response slot free, 7 WQE. Op 5 (head) has no commit.
  //   architecture 10
  //   tap_rdmap_op in u_rdmap.u_core; simulation only
  localparam int unsigned RdmapOpCommitWidth = 20;
  typedef struct packed {
    logic valid;
    logic [2:0] op;
    logic [15:0] qpn;
  } rdmap_op_commit_t;

  // An item is decided: it stores its word now (performed; word_wr is accepted), or stores nothing.
  // op, qpn: as in atomic_req.
  //   RFC 7306 section 5
  //   tap_atomic_word in u_atomic; simulation only
  localparam int unsigned AtomicWordCommitWidth = 20;
  typedef struct packed {
    logic valid;
    atomic_op_e op;
    logic [15:0] qpn;
    logic performed;
  } atomic_word_commit_t;

  // The entry of a lookup is read. client: 0 rx, 1 tx, 2 wqe, 3 resp, 5 qn1. Client 4, tpt_update's
  // own lookup, has no commit.
  //   architecture 10
  //   tap_tpt_check in u_tpt.u_entry; simulation only
  localparam int unsigned TptCheckCommitWidth = 182;
  typedef struct packed {
    logic valid;
    logic [2:0] client;
    logic [31:0] stag;
    logic [63:0] tagged_offset;
    logic [31:0] length;
    logic [15:0] pd;
    logic [15:0] qpn;
    logic [15:0] rights;
    logic invalidate;
    logic last;
  } tpt_check_commit_t;

  // A request is executed or refused: lookups that read the entry of slot from the next cycle on
  // see the change. of_peer: an invalidate of ddp. of_sq: an invalidation of sq_local. of_reg: 1 to
  // 4 of a registration, 5 to 7 of a bind (table in commits.yaml); 2 with of_peer or of_sq: an
  // invalidation is refused. With of_sq or of_reg, qpn and wqe name the request. waits: the entry
  // is closed and may still be in use.
  //   architecture 10
  //   tap_tpt_change in u_tpt.u_update; simulation only
  localparam int unsigned TptChangeCommitWidth = 47;
  typedef struct packed {
    logic valid;
    logic [15:0] slot;
    logic waits;
    logic of_peer;
    logic of_sq;
    logic [15:0] qpn;
    logic [7:0] wqe;
    logic [2:0] of_reg;
  } tpt_change_commit_t;

  // An operation of qp_retire begins. op: 0 wr_done, 1 Read done, 2 receive done, 3 a WQE's own
  // error, 4 look, 5 mark, 6 flush (asked by qp_state), 7 flush of what was posted.
  //   architecture 10
  //   tap_qp_retire in u_qp.u_retire; simulation only
  localparam int unsigned QpRetireCommitWidth = 28;
  typedef struct packed {
    logic valid;
    logic [2:0] op;
    logic [15:0] qpn;
    logic [7:0] slot;
  } qp_retire_commit_t;

  // A rq_take_req is answered. limit: the take has reached the limit of its SRQ.
  //   architecture 10
  //   tap_qp_rq_take in u_qp.u_rq_fetch; simulation only
  localparam int unsigned QpRqTakeCommitWidth = 20;
  typedef struct packed {
    logic valid;
    logic [15:0] qpn;
    rq_take_e result;
    logic limit;
  } qp_rq_take_commit_t;

  // dropped 0: qp_emit has decided the next WQE of this QP, after tpt's response about its keys: it
  // is issued, or it fails. dropped 1: a WQE that follows a failed one in its visit is dropped,
  // after tpt's response. A dropped WQE without keys has no commit.
  //   architecture 10
  //   tap_qp_issue in u_qp.u_emit; simulation only
  localparam int unsigned QpIssueCommitWidth = 18;
  typedef struct packed {
    logic valid;
    logic [15:0] qpn;
    logic dropped;
  } qp_issue_commit_t;

  // A sq_rd_req was accepted: these units of a ring are fetched, in one read or several.
  //   architecture 10
  //   tap_sq_fetch in u_qp; simulation only
  localparam int unsigned SqFetchCommitWidth = 78;
  typedef struct packed {
    logic valid;
    logic [63:0] address;
    logic [12:0] length;
  } sq_fetch_commit_t;

  // A rq_rd_req was accepted, likewise.
  //   architecture 10
  //   tap_rq_fetch in u_qp; simulation only
  localparam int unsigned RqFetchCommitWidth = 78;
  typedef struct packed {
    logic valid;
    logic [63:0] address;
    logic [12:0] length;
  } rq_fetch_commit_t;

  // The copy that the latest qp_doorbell commit of kind push carries is written into the prefetch
  // buffer, in place of a read of its units.
  //   architecture 10
  //   tap_qp_push in u_qp.u_sq_fetch; simulation only
  localparam int unsigned QpPushCommitWidth = 35;
  typedef struct packed {
    logic valid;
    logic [15:0] qpn;
    logic [15:0] first;
    logic [1:0] units;
  } qp_push_commit_t;

  // A qp_doorbell takes effect: its index is written. accepted 0: it is refused.
  //   architecture 10
  //   tap_qp_doorbell in u_qp.u_doorbell; simulation only
  localparam int unsigned QpDoorbellCommitWidth = 37;
  typedef struct packed {
    logic valid;
    doorbell_kind_e kind;
    logic [15:0] qpn;
    logic [15:0] index;
    logic accepted;
  } qp_doorbell_commit_t;

  // qp_state decides. is_cmd: admin's command; else events, a bit each: 0 qp_error, 1 peer_closed,
  // 2 closed, 3 lost, 4 term_done, 5 send queue empty, 6 CQ fault. nothing_left: the qp_error has
  // cause none. again: qp_retire has answered the look of qp_state, which decides a second time.
  //   architecture 10
  //   tap_qp_state in u_qp.u_state; simulation only
  localparam int unsigned QpStateCommitWidth = 27;
  typedef struct packed {
    logic valid;
    logic is_cmd;
    logic again;
    logic [15:0] qpn;
    logic [6:0] bits;
    logic nothing_left;
  } qp_state_commit_t;

  // A command of admin is answered. waits: with in_progress. The command has then not begun, or is
  // a modify_qp to error that goes on.
  //   architecture 10
  //   tap_qp_answer in u_qp.u_state; simulation only
  localparam int unsigned QpAnswerCommitWidth = 18;
  typedef struct packed {
    logic valid;
    logic [15:0] qpn;
    logic waits;
  } qp_answer_commit_t;

  // What a Terminate says for a cause: {layer[3:0], etype[3:0], code[7:0], ddp_header, rdma_header}.
  function automatic logic [17:0] cause_terminate(input logic [7:0] cause);
    case (cause)
      8'h00: cause_terminate = {4'h0, 4'h0, 8'h00, 1'b0, 1'b0};  // none
      8'h01: cause_terminate = {4'h2, 4'h0, 8'h02, 1'b0, 1'b0};  // mpa_crc
      8'h02: cause_terminate = {4'h2, 4'h0, 8'h03, 1'b0, 1'b0};  // mpa_marker
      8'h03: cause_terminate = {4'h2, 4'h0, 8'h01, 1'b0, 1'b0};  // llp_lost
      8'h08: cause_terminate = {4'h1, 4'h1, 8'h00, 1'b1, 1'b0};  // ddp_tagged_stag
      8'h09: cause_terminate = {4'h1, 4'h1, 8'h01, 1'b1, 1'b0};  // ddp_tagged_bounds
      8'h0a: cause_terminate = {4'h1, 4'h1, 8'h02, 1'b1, 1'b0};  // ddp_tagged_assoc
      8'h0b: cause_terminate = {4'h1, 4'h1, 8'h03, 1'b1, 1'b0};  // ddp_tagged_wrap
      8'h0c: cause_terminate = {4'h1, 4'h1, 8'h04, 1'b1, 1'b0};  // ddp_tagged_version
      8'h10: cause_terminate = {4'h1, 4'h2, 8'h01, 1'b1, 1'b0};  // ddp_untagged_qn
      8'h11: cause_terminate = {4'h1, 4'h2, 8'h02, 1'b1, 1'b0};  // ddp_untagged_no_buffer
      8'h12: cause_terminate = {4'h1, 4'h2, 8'h03, 1'b1, 1'b0};  // ddp_untagged_msn
      8'h13: cause_terminate = {4'h1, 4'h2, 8'h04, 1'b1, 1'b0};  // ddp_untagged_mo
      8'h14: cause_terminate = {4'h1, 4'h2, 8'h05, 1'b1, 1'b0};  // ddp_untagged_too_long
      8'h15: cause_terminate = {4'h1, 4'h2, 8'h06, 1'b1, 1'b0};  // ddp_untagged_version
      8'h20: cause_terminate = {4'h0, 4'h1, 8'h00, 1'b1, 1'b1};  // rdmap_stag
      8'h21: cause_terminate = {4'h0, 4'h1, 8'h01, 1'b1, 1'b1};  // rdmap_bounds
      8'h22: cause_terminate = {4'h0, 4'h1, 8'h02, 1'b1, 1'b1};  // rdmap_rights
      8'h23: cause_terminate = {4'h0, 4'h1, 8'h03, 1'b1, 1'b1};  // rdmap_assoc
      8'h24: cause_terminate = {4'h0, 4'h1, 8'h04, 1'b1, 1'b1};  // rdmap_wrap
      8'h25: cause_terminate = {4'h0, 4'h1, 8'h09, 1'b1, 1'b0};  // rdmap_inv_protected
      8'h28: cause_terminate = {4'h0, 4'h2, 8'h05, 1'b1, 1'b0};  // rdmap_version
      8'h29: cause_terminate = {4'h0, 4'h2, 8'h06, 1'b1, 1'b0};  // rdmap_opcode
      8'h2a: cause_terminate = {4'h0, 4'h2, 8'h07, 1'b1, 1'b0};  // rdmap_length
      8'h2b: cause_terminate = {4'h0, 4'h2, 8'h0a, 1'b1, 1'b0};  // flush_failed
      8'h2c: cause_terminate = {4'h0, 4'h2, 8'h09, 1'b1, 1'b0};  // rdmap_inv_stag
      8'h30: cause_terminate = {4'h0, 4'h0, 8'h00, 1'b0, 1'b0};  // local_catastrophic
      8'h31: cause_terminate = {4'h0, 4'h0, 8'h00, 1'b0, 1'b0};  // peer_terminate
      default: cause_terminate = 18'h0;
    endcase
  endfunction

endpackage
/* verilator lint_on UNUSEDPARAM */ /* verilator lint_on SYMRSVDWORD */
