// Printed by specgen from docs/spec; do not edit.
//
// rnic_pkg: sizes of this build and constants. RNIC_MINIMUM: each at its smallest. RNIC_STALL: each
// small, but 2 or more wherever the default has more than 1.
/* verilator lint_off UNUSEDPARAM */ /* verilator lint_off SYMRSVDWORD */
package rnic_pkg;
`ifdef RNIC_MINIMUM
  localparam int unsigned NumQps = 8;
  localparam int unsigned NumCqs = 8;
  localparam int unsigned NumEqs = 2;
  localparam int unsigned NumPds = 4;
  localparam int unsigned NumPages = 4;
  localparam int unsigned NumStags = 64;
  localparam int unsigned NumPbl = 1024;
  localparam int unsigned NumConns = 16;
  localparam int unsigned NumVectors = 2;
  localparam int unsigned IrdSlots = 64;
  localparam int unsigned OrdSlots = 64;
  localparam int unsigned MaxIrd = 32;
  localparam int unsigned MaxOrd = 32;
  localparam int unsigned SqPrefetch = 4;
  localparam int unsigned SqWindow = 8;
  localparam int unsigned RqPrefetch = 1;
  localparam int unsigned RdTags = 8;
  localparam int unsigned RdBuffer = 1024;
  localparam int unsigned RxStore = 1056;
  localparam int unsigned SegDepth = 2;
  localparam int unsigned SqSlots = 1;
  localparam int unsigned FifoDepth = 2;
  localparam int unsigned BeatDepth = 2;
`elsif RNIC_STALL
  localparam int unsigned NumQps = 8;
  localparam int unsigned NumCqs = 8;
  localparam int unsigned NumEqs = 2;
  localparam int unsigned NumPds = 4;
  localparam int unsigned NumPages = 4;
  localparam int unsigned NumStags = 64;
  localparam int unsigned NumPbl = 1024;
  localparam int unsigned NumConns = 16;
  localparam int unsigned NumVectors = 2;
  localparam int unsigned IrdSlots = 64;
  localparam int unsigned OrdSlots = 64;
  localparam int unsigned MaxIrd = 32;
  localparam int unsigned MaxOrd = 32;
  localparam int unsigned SqPrefetch = 8;
  localparam int unsigned SqWindow = 8;
  localparam int unsigned RqPrefetch = 2;
  localparam int unsigned RdTags = 8;
  localparam int unsigned RdBuffer = 1024;
  localparam int unsigned RxStore = 1056;
  localparam int unsigned SegDepth = 4;
  localparam int unsigned SqSlots = 2;
  localparam int unsigned FifoDepth = 2;
  localparam int unsigned BeatDepth = 2;
`else
  // Queue pairs; QPNs 0 to n-1. (QPs, 2 to 8192). architecture 4 (Capacity)
  localparam int unsigned NumQps = 1024;
  // Completion queues. (CQs, 2 to 65536). architecture 4 (Capacity)
  localparam int unsigned NumCqs = 1024;
  // Event queues. EQ 0 also takes QP and connection events. (EQs, 1 to 64). architecture 4
  localparam int unsigned NumEqs = 16;
  // Protection domains. (PDs, 2 to 65536). architecture 6
  localparam int unsigned NumPds = 1024;
  // Doorbell pages of BAR 2. (pages, 1 to 4096). architecture 3.1
  localparam int unsigned NumPages = 256;
  // STag table slots. (entries, 16 to 65536). architecture 4 (Limits)
  localparam int unsigned NumStags = 16384;
  // Page-list entries. (entries, 256 to 16777216). architecture 4 (Capacity)
  localparam int unsigned NumPbl = 262144;
  // Connection numbers the LLP may use: 0 to n-1. (connections, 4 to 32768). architecture 3.3
  localparam int unsigned NumConns = 2048;
  // MSI-X vectors. (vectors, 1 to 64). architecture 4 (Limits)
  localparam int unsigned NumVectors = 64;
  // Pool of inbound request slots. (slots, 4 to 65536). architecture 4 (Limits)
  localparam int unsigned IrdSlots = 8192;
  // Pool of outstanding request slots. (slots, 4 to 65536). architecture 4 (Limits)
  localparam int unsigned OrdSlots = 8192;
  // Largest IRD of a QP. (requests, 1 to 32). architecture 4 (Limits)
  localparam int unsigned MaxIrd = 32;
  // Largest ORD of a QP. (requests, 1 to 32). architecture 4 (Limits)
  localparam int unsigned MaxOrd = 32;
  // SQ prefetch buffer of each QP, at least the longest WQE. (WQE units a QP, 4 to 64).
  // architecture 4 (Queue formats)
  localparam int unsigned SqPrefetch = 32;
  // Send WQEs issued and not retired. (WQEs a QP, 4 to 64). architecture 4
  localparam int unsigned SqWindow = 64;
  // RQ prefetch buffer of each QP. (WQEs a QP, 1 to 16). architecture 4 (Queue formats)
  localparam int unsigned RqPrefetch = 16;
  // PCIe read tags in all. (tags, 6 to 256). architecture 3.2
  localparam int unsigned RdTags = 192;
  // Reorder space for payload reads: at least one largest segment, which is released whole.
  // (64-byte beats, 1024 to 4096). architecture 3.2
  localparam int unsigned RdBuffer = 1024;
  // Receive store: one largest FPDU at least. (64-byte beats, 1056 to 8192). architecture 4
  // (Limits)
  localparam int unsigned RxStore = 2048;
  // Transmit segments between ddp's scheduler and mpa. (segments, 2 to 256). architecture 5
  localparam int unsigned SegDepth = 128;
  // Messages of a QP's send queue that ddp holds. (messages a QP, 1 to 8). architecture 5
  localparam int unsigned SqSlots = 4;
  // Message FIFOs between units. (items, 2 to 64). architecture 3
  localparam int unsigned FifoDepth = 8;
  // Beat FIFOs between units. (64-byte beats, 2 to 256). architecture 3
  localparam int unsigned BeatDepth = 16;
`endif

  // Castagnoli, reflected. RFC 5044 section 4.4 (C-21)
  localparam logic [31:0] Crc32cPolynomial = 32'h82f63b78;

  // DDP version sent and accepted. RFC 5041 section 4.1
  localparam logic [1:0] DvIetf = 2'h1;

  // RDMAP version sent and accepted. RFC 5040 section 4.1
  localparam logic [1:0] RvIetf = 2'h1;

  // Sends and Immediate Data. RFC 5040 section 3.1
  localparam logic [31:0] QnSend = 32'h0;

  // Read Requests and the requests of the extensions. RFC 5040 section 3.1
  localparam logic [31:0] QnRequest = 32'h1;

  // Terminate. RFC 5040 section 3.1
  localparam logic [31:0] QnTerminate = 32'h2;

  // Responses of the extensions. RFC 7306 section 4
  localparam logic [31:0] QnResponse = 32'h3;

  // DDP tagged header. RFC 5041 section 4.2
  localparam logic [7:0] TaggedHeaderBytes = 8'he;

  // DDP untagged header. RFC 5041 section 4.3
  localparam logic [7:0] UntaggedHeaderBytes = 8'h12;

  // Kind of a request on QN 1 and of its response: Read. architecture 5
  localparam logic [1:0] KindRead = 2'h0;

  // Flush. architecture 5
  localparam logic [1:0] KindFlush = 2'h1;

  // Atomic Request. architecture 5
  localparam logic [1:0] KindAtomic = 2'h2;

  // Atomic Write Request. architecture 5
  localparam logic [1:0] KindAtomicWrite = 2'h3;

  // AOpCode of FetchAdd. RFC 7306 section 5.2
  localparam logic [3:0] AtomicFetchAdd = 4'h0;

  // AOpCode of CmpSwap. RFC 7306 section 5.2
  localparam logic [3:0] AtomicCmpSwap = 4'h2;

  // Flush flag P: the range is to be persistent. draft-talpey-rdma-commit-01 section 3.1.1.1 (A-06)
  localparam logic [31:0] FlushPersistent = 32'h1;

  // Flush flag G: the range is to be globally visible. draft-talpey-rdma-commit-01 section 3.1.1.1
  // (A-06)
  localparam logic [31:0] FlushVisible = 32'h2;

  // Bytes of stream from marker to marker. RFC 5044 section 4.3
  localparam logic [15:0] MpaMarkerSpacing = 16'h200;

  // Bytes of private data. RFC 5044 section 7.1
  localparam logic [15:0] MpaPrivateDataMax = 16'h200;

  // Right: placed into by receives and Read responses. rdma-core libibverbs/verbs.h enum
  // ibv_access_flags
  localparam logic [15:0] AccessLocalWrite = 16'h1;

  // Right: RDMA Write. rdma-core libibverbs/verbs.h enum ibv_access_flags
  localparam logic [15:0] AccessRemoteWrite = 16'h2;

  // Right: target of an atomic. rdma-core libibverbs/verbs.h enum ibv_access_flags
  localparam logic [15:0] AccessRemoteAtomic = 16'h8;

  // Right: memory windows may be bound to it. Not together with remote_invalidate. rdma-core
  // libibverbs/verbs.h enum ibv_access_flags
  localparam logic [15:0] AccessMwBind = 16'h10;

  // Right: source of an RDMA Read. rdma-core libibverbs/verbs.h enum ibv_access_flags
  localparam logic [15:0] AccessRemoteRead = 16'h4;

  // Right: Flush to global visibility. rdma-core libibverbs/verbs.h enum ibv_access_flags
  localparam logic [15:0] AccessFlushGlobal = 16'h100;

  // Right: Flush to persistence. rdma-core libibverbs/verbs.h enum ibv_access_flags
  localparam logic [15:0] AccessFlushPersistent = 16'h200;

  // Right: Send with Invalidate by the peer. Only of an STag that is bound to a QP. Our extension
  // of verbs. RFC 5040 section 5.3
  localparam logic [15:0] AccessRemoteInvalidate = 16'h400;

  // Rights that exist so far; any other bit is bad_argument. architecture 6
  localparam logic [15:0] AccessMask = 16'h71f;

  // Cycles after which qp answers in_progress to a command that has not begun or that ends a QP.
  // decision 6
  localparam logic [9:0] CommandPatience = 10'h200;

  // Page-list entries that one create_mr reads. After them it answers in_progress; given again with
  // the same cookie, it continues. decision 6
  localparam logic [9:0] ListPart = 10'h200;

  // Answers in_progress to other long page lists after which a list that its owner does not
  // continue is given up. decision 6
  localparam logic [10:0] ListPatience = 11'h400;

  // Place of the push window in a doorbell page. architecture 4 (Doorbell)
  localparam logic [11:0] PushOffset = 12'h100;

  // Largest ULPDU accepted. RFC 5044 section 4
  localparam logic [15:0] MaxUlpdu = 16'hffff;

  // SGEs in a send WQE. architecture 4 (Limits)
  localparam logic [3:0] MaxSge = 4'he;

  // SGEs in a receive WQE. architecture 4 (Queue formats)
  localparam logic [3:0] MaxRecvSge = 4'h3;

  // Inline bytes in a send WQE of 4 units: 32 in one unit, 96 in two. architecture 4 (Queue
  // formats)
  localparam logic [7:0] MaxInline = 8'he0;

  // Bytes of each connection's credit kept for Terminate. architecture 5
  localparam logic [15:0] TermCredit = 16'h80;

  // Longest message. architecture 4
  localparam logic [31:0] MaxMessage = 32'h80000000;

  // Smallest SQ and RQ: 4 units. architecture 4 (Rings)
  localparam logic [7:0] MinLogRing = 8'h2;

  // Largest SQ, RQ: 32768 units of 64 bytes, 2 MiB; indices run free in 16 bits. architecture 4
  // (Rings)
  localparam logic [7:0] MaxLogRing = 8'hf;

  // Largest CQ and EQ: 32768 entries. architecture 4 (Rings)
  localparam logic [7:0] MaxLogCq = 8'hf;

endpackage
/* verilator lint_on UNUSEDPARAM */ /* verilator lint_on SYMRSVDWORD */
