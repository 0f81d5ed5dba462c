// tpt_register: executes the local requests of the send queue: passes invalidations and binds to
// tpt_update, and registers memory under an STag that is kept for it (fast registration).
//
//   sq_local --+--> invalidation ------------------------------> tpt_update --+
//              +--> [ judge ] --> bind, claim --> tpt_update                   |
//                       |           +--> bound, refused -----------------------+--> sq_local_done
//                       |           +--> [ jobs ] ----+                        |
//                       +--> reg_rd_req               v                        |
//   reg_rd_hdr, reg_rd --> [ entries ] --> check --> pbl_wr                    |
//                                           +--> open, give up --> tpt_update -+
//
// Steps of a registration: the front judges its operands, claims the entry in tpt_update, puts the
// registration into jobs, and requests its list from host memory in pieces of 4 KiB. The back takes
// the oldest job, checks each entry of its list and writes it to the page list. Then it requests
// tpt_update to open the entry, or to give it up if a read or a check failed. A bind needs only the
// front.
//
// 1. A claimed entry is closed, and no command, invalidation or registration changes it: its page
//    list may be written. So a later failure leaves the entry as it was, closed and free.
// 2. The lists of up to Jobs registrations are read at a time; data comes in their order.
// 3. The back accepts all data of a list, also after a failure: the data of the next list is behind
//    it on the same stream.
// 4. The front repeats a claim or a bind that finds its entry closed but not drained. It waits for
//    extents in flight, and those wait for nothing here.
// 5. The end of an older registration goes to tpt_update before a claim. So a repeated claim delays
//    no end.
// Latency: 4 cycles to the claim, which takes 11, or the bind, which takes 21. Throughput: a
// registration every 17 cycles of tpt_update; 8 page-list entries (one beat) every 9 cycles.
// Waits for tpt_update, for its reads, and for rdmap.
// Siblings: tpt_update (owns the entries), tpt_walk (reads the page list). Bench:
// tb/tpt/tpt_register_test.cpp
`include "rnic_assert.svh"
`include "rnic_words.svh"

module tpt_register #(
  localparam int unsigned SlotW = $clog2(rnic_pkg::NumStags),
  localparam int unsigned PblW  = $clog2(rnic_pkg::NumPbl),
  localparam int unsigned JobW  = `RNIC_TPT_JOB_W
) (
  input  logic clk_i,
  input  logic rst_ni,
  // from and to rdmap
  input  logic local_valid_i,
  output logic local_ready_o,
  input  iwarp_pkg::sq_local_t local_i,
  output logic done_valid_o,
  input  logic done_ready_i,
  output iwarp_pkg::sq_local_done_t done_o,
  // from and to tpt_update: invalidations, items of local_i
  output logic inv_valid_o,
  input  logic inv_ready_i,
  input  logic inv_done_valid_i,
  output logic inv_done_ready_o,
  input  iwarp_pkg::sq_local_done_t inv_done_i,
  // registrations and binds: at most one is outstanding
  output logic reg_valid_o,
  input  logic reg_ready_i,
  output logic [1:0] reg_op_o,             // 0 bind, 1 claim, 2 open, 3 give up
  // bind, claim: the operands are good. tpt_update refuses the request if they are not, or if the
  // pages of a claim exceed the entry's room (claim_ok_q).
  output logic reg_good_o,
  output logic [63:0] reg_address_o,       // bind: TO in the region
  output logic [JobW-1:0] reg_o,           // RNIC_TPT_JOB_T
  input  logic reg_rsp_valid_i,
  input  logic [1:0] reg_rsp_i,            // 0 done, 1 refused, 2 again
  input  logic [SlotW-1:0] reg_slot_i,     // of a claim: the entry's slot
  input  logic [31:0] reg_stag_i,          // its STag before the claim, for a give up
  input  logic [4:0] reg_room_i,           // log2 of the pages that it may have
  input  logic [PblW-1:0] reg_pbl_i,       // index of its first page-list entry
  // reads of page lists
  output logic rd_req_valid_o,
  input  logic rd_req_ready_i,
  output iwarp_pkg::reg_rd_req_t rd_req_o,
  input  logic rd_hdr_valid_i,
  output logic rd_hdr_ready_o,
  input  iwarp_pkg::reg_rd_hdr_t rd_hdr_i,
  input  logic rd_valid_i,
  output logic rd_ready_o,
  input  iwarp_pkg::beat_t rd_i,
  // to the page list
  output logic pbl_valid_o,
  input  logic pbl_ready_i,
  output logic [PblW-1:0] pbl_addr_o,
  output logic [51:0] pbl_data_o
);
  localparam int unsigned Jobs  = 8;
  localparam int unsigned DoneW = iwarp_pkg::SqLocalDoneWidth;
  localparam logic [1:0] OpBind = 2'd0, OpClaim = 2'd1, OpOpen = 2'd2, OpGiveUp = 2'd3;
  localparam logic [1:0] RspRefused = 2'd1, RspAgain = 2'd2;
  typedef `RNIC_TPT_JOB_T job_t;

  // --- front: judge, claim, request the list
  typedef enum logic [2:0] {
    StIdle,      // waits for a request and for room in the jobs
    StSum,       // registers the reach of the pages and the end of the bytes
    StJudge,     // compares them
    StClaim,     // offers the claim
    StClaimed,   // waits for the response
    StRead,      // requests the list, a piece at a time
    StReply      // offers done: bound, or refused
  } front_e;
  front_e front_d, front_q;

  // back_asked_q: the request that waits for tpt_update's response is one of the back
  logic back_asked_q, end_valid;
  iwarp_pkg::sq_local_t     head_q;
  iwarp_pkg::reg_operands_t operands;
  iwarp_pkg::bind_operands_t binding;
  logic        take, good_d, good_q, bind_good, bound_q, job_room, claim_valid, reply_ready;
  // rights that a window may have
  localparam logic [15:0] OfPeer = rnic_pkg::AccessRemoteWrite | rnic_pkg::AccessRemoteRead |
                                   rnic_pkg::AccessRemoteAtomic | rnic_pkg::AccessFlushGlobal |
                                   rnic_pkg::AccessFlushPersistent;
  logic [53:0] reach_q, end_q;   // from the first page's start: to the last page's, last byte's end
  logic [31:0] left_q;           // entries of 8 bytes that are not requested. 512 are 4 KiB
  logic [63:0] at_q;             // address of the first of them
  logic [12:0] piece;            // bytes
  logic        last_piece;
  assign operands   = head_q.operands;
  assign binding    = head_q.operands;
  assign take       = local_valid_i && local_ready_o && (local_i.is_reg || local_i.is_bind);
  assign bind_good  = binding.reserved0 == '0 && binding.length[63:32] == '0 &&
                      (binding.rights & ~OfPeer) == '0;
  assign last_piece = left_q <= 32'd512;
  assign piece      = last_piece ? {left_q[9:0], 3'h0} : 13'd4096;
  // The operands of a registration are good when: the pages have 4 KiB to 2 MiB (log2: 12 to 21);
  // there is a page and a byte; the number of pages is not too large for any list; the length is
  // under 2^48; the first byte lies in the first page; all rights are known; remote_write comes
  // with local_write; mw_bind comes without remote_invalidate, since the peer must not close a
  // region that has windows. StJudge adds: the last byte lies in the pages.
  assign good_d     = operands.reserved0 == '0 &&
                      operands.log_page >= 8'd12 && operands.log_page <= 8'd21 &&
                      operands.pages != '0 && operands.pages[31:PblW+1] == '0 &&
                      operands.length != '0 && operands.length[63:48] == '0 &&
                      operands.first_offset[31:21] == '0 &&
                      (operands.first_offset[20:0] >> operands.log_page[4:0]) == '0 &&
                      (operands.rights & ~rnic_pkg::AccessMask) == '0 &&
                      ((operands.rights & rnic_pkg::AccessRemoteWrite) == '0 ||
                       (operands.rights & rnic_pkg::AccessLocalWrite) != '0) &&
                      ((operands.rights & rnic_pkg::AccessMwBind) == '0 ||
                       (operands.rights & rnic_pkg::AccessRemoteInvalidate) == '0);

  always_comb begin
    front_d = front_q;
    case (front_q)
      StIdle:    if (take) front_d = StSum;
      StSum:     front_d = StJudge;
      StJudge:   front_d = StClaim;
      StClaim:   if (reg_ready_i && claim_valid) front_d = StClaimed;
      StClaimed: if (reg_rsp_valid_i && !back_asked_q)
                   front_d = reg_rsp_i == RspAgain                     ? StClaim
                           : reg_rsp_i == RspRefused || head_q.is_bind ? StReply : StRead;
      StRead:    if (rd_req_ready_i && last_piece) front_d = StIdle;
      StReply:   if (reply_ready) front_d = StIdle;
      default:   front_d = StIdle;
    endcase
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) front_q <= StIdle;
    else         front_q <= front_d;
  end
  always_ff @(posedge clk_i) begin
    if (front_q == StIdle) head_q <= local_i;
    reach_q <= {29'h0, operands.pages[24:0]} << operands.log_page[4:0];
    end_q   <= {6'h0, operands.length[47:0]} + {33'h0, operands.first_offset[20:0]};
    if (front_q == StSum)   good_q <= head_q.is_bind ? bind_good : good_d;
    if (front_q == StJudge) good_q <= good_q && (head_q.is_bind || end_q <= reach_q);
    if (front_q == StClaimed) bound_q <= reg_rsp_i != RspRefused;
    if (front_q == StClaimed) begin
      left_q <= operands.pages;
      at_q   <= operands.page_list;
    end else if (rd_req_valid_o && rd_req_ready_i) begin
      left_q <= left_q - 32'd512;
      at_q   <= at_q + 64'd4096;
    end
  end
  // An invalidation passes a registration or bind that the front still works on. This is safe: both
  // are of different QPs, since qp_parse issues the WQE after a registration or bind only when that
  // has completed. Requests of different QPs have no order. tpt_update executes one request at a
  // time, and in a claimed entry an invalidation finds nothing to close (invariant 1).
  assign local_ready_o  = local_i.is_reg  ? front_q == StIdle && job_room
                        : local_i.is_bind ? front_q == StIdle : inv_ready_i;
  assign inv_valid_o    = local_valid_i && !local_i.is_reg && !local_i.is_bind;

  assign rd_req_valid_o = front_q == StRead;
  assign rd_req_o       = {at_q, piece};

  job_t claim, claimed;
  always_comb begin
    claim              = '0;
    claim.qpn          = head_q.qpn;
    claim.wqe          = head_q.slot;
    claim.stag         = head_q.stag;
    claim.pd           = head_q.pd;
    claim.rights       = operands.rights;
    claim.base         = head_q.base;
    claim.length       = operands.length[47:0];
    claim.first_offset = operands.first_offset[20:0];
    claim.log_page     = operands.log_page[4:0];
    claim.pages        = operands.pages[PblW:0];
    if (head_q.is_bind) begin
      claim.rights       = binding.rights;
      claim.length       = binding.length[47:0];
      claim.old_stag     = binding.lkey;
    end
    claimed            = claim;
    claimed.slot       = reg_slot_i;
    claimed.old_stag   = reg_stag_i;
    claimed.room       = reg_room_i;
    claimed.pbl        = reg_pbl_i;
  end

  // --- jobs: claimed, in the order of their reads
  logic job_valid, job_pop;
  job_t job;
  stream_fifo #(.Width(JobW), .Depth(Jobs)) u_jobs (
    .clk_i, .rst_ni,
    .valid_i(front_q == StClaimed && front_d == StRead), .ready_o(job_room), .data_i(claimed),
    .valid_o(job_valid), .ready_i(job_pop), .data_o(job), .count_o()
  );

  // --- back: check and write the entries, then open the region or give it up
  typedef enum logic [2:0] {
    BackIdle,
    BackHeader,
    BackBeat,
    BackWrite,   // one entry of the beat per cycle
    BackEnd,     // offers open or give up
    BackEnded,   // waits for the response
    BackDone
  } back_e;
  back_e back_d, back_q;

  // bad: the entry at the beat's bottom is no page address, since bits inside a page are set.
  // bad_q: an entry of this list was bad. fails: bad_q, or a read has failed.
  logic [PblW:0]    pieces_q;      // of the list, not received
  logic [PblW-1:0]  entry_q;       // page-list entry to be written next
  logic [511:0]     beat_q;        // 8 entries of 64 bits, the next one at the bottom
  logic [3:0]       entries_q;     // left in the beat
  logic             beat_last_q, bad_q, bad, fails, done_ready;
  logic [20:0]      inside_q;      // mask of the bits inside a page
  iwarp_pkg::rd_status_e status_q, hdr_status;
  assign hdr_status = rd_hdr_i.status;
  assign fails      = bad_q || status_q != iwarp_pkg::RdOk;
  assign bad        = (beat_q[20:0] & inside_q) != '0;

  always_comb begin
    back_d = back_q;
    case (back_q)
      BackIdle:   if (job_valid) back_d = BackHeader;
      BackHeader: if (rd_hdr_valid_i) back_d = BackBeat;
      BackBeat: begin
        if (rd_valid_i) begin
          if (!fails)         back_d = BackWrite;
          else if (rd_i.last) back_d = pieces_q == '0 ? BackEnd : BackHeader;
        end
      end
      BackWrite: begin
        if (bad || (pbl_ready_i && entries_q == 4'd1))
          back_d = !beat_last_q ? BackBeat : pieces_q == '0 ? BackEnd : BackHeader;
      end
      BackEnd:   if (reg_ready_i && end_valid) back_d = BackEnded;
      BackEnded: if (reg_rsp_valid_i && back_asked_q) back_d = BackDone;
      BackDone:  if (done_ready) back_d = BackIdle;
      default:   back_d = BackIdle;
    endcase
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) back_q <= BackIdle;
    else         back_q <= back_d;
  end
  logic [PblW:0] pieces_less_1;   // of the job: pieces of 512 entries, minus one
  assign pieces_less_1 = (job.pages - (PblW + 1)'(1)) >> 9;
  always_ff @(posedge clk_i) begin
    inside_q <= ~(21'h1fffff << job.log_page);
    if (back_q == BackIdle) begin
      pieces_q <= pieces_less_1 + (PblW + 1)'(1);
      entry_q  <= job.pbl;
      bad_q    <= 1'b0;
      status_q <= iwarp_pkg::RdOk;
    end
    if (back_q == BackHeader && rd_hdr_valid_i) begin
      pieces_q <= pieces_q - (PblW + 1)'(1);
      if (status_q == iwarp_pkg::RdOk) status_q <= hdr_status;
    end
    if (back_q == BackBeat) begin
      beat_q      <= rd_i.data;
      entries_q   <= rd_i.keep[6:3];   // bytes / 8
      beat_last_q <= rd_i.last;
    end
    if (back_q == BackWrite) begin
      bad_q <= bad;
      if (pbl_ready_i) begin
        beat_q    <= {64'h0, beat_q[511:64]};
        entries_q <= entries_q - 4'd1;
        entry_q   <= entry_q + PblW'(1);
      end
    end
  end
  assign rd_hdr_ready_o = back_q == BackHeader;
  assign rd_ready_o     = back_q == BackBeat;
  assign pbl_valid_o    = back_q == BackWrite && !bad;
  assign pbl_addr_o     = entry_q;
  assign pbl_data_o     = beat_q[63:12];
  assign job_pop        = back_q == BackDone && done_ready;

  // --- to tpt_update: the older registration first (invariant 5); one request at a time.
  // asked_q: tpt_update has a request and has not responded.
  logic asked_q;
  assign end_valid   = back_q == BackEnd && !asked_q;
  assign claim_valid = front_q == StClaim && !asked_q && back_q != BackEnd;
  assign reg_valid_o = end_valid || claim_valid;
  assign reg_op_o    = end_valid ? (fails ? OpGiveUp : OpOpen) : head_q.is_bind ? OpBind : OpClaim;
  assign reg_good_o  = good_q;
  assign reg_o       = end_valid ? job : claim;
  assign reg_address_o = binding.address;
  always_ff @(posedge clk_i) begin
    if (!rst_ni)                          asked_q <= 1'b0;
    else if (reg_valid_o && reg_ready_i)  asked_q <= 1'b1;
    else if (reg_rsp_valid_i)             asked_q <= 1'b0;
  end
  always_ff @(posedge clk_i) if (reg_valid_o && reg_ready_i) back_asked_q <= end_valid;

  // --- done: replied by the front, ended by the back. Result TptBind: refused, or a list with a
  // bad entry. status: of the reads.
  iwarp_pkg::sq_local_done_t replied, ended;
  logic [1:0] unused_index;
  always_comb begin
    replied        = '0;
    replied.qpn    = head_q.qpn;
    replied.slot   = head_q.slot;
    replied.result = bound_q ? iwarp_pkg::TptOk : iwarp_pkg::TptBind;
    ended          = '0;
    ended.qpn      = job.qpn;
    ended.slot     = job.wqe;
    ended.status   = status_q;
    ended.result   = status_q == iwarp_pkg::RdOk && bad_q ? iwarp_pkg::TptBind : iwarp_pkg::TptOk;
  end
  stream_arb #(.Width(DoneW), .N(3)) u_done (
    .clk_i, .rst_ni, .valid_i({back_q == BackDone, front_q == StReply, inv_done_valid_i}),
    .ready_o({done_ready, reply_ready, inv_done_ready_o}), .data_i({ended, replied, inv_done_i}),
    .valid_o(done_valid_o), .ready_i(done_ready_i), .data_o(done_o), .index_o(unused_index)
  );

  logic unused_bits;
  assign unused_bits = ^{head_q.is_reg, rd_hdr_i.length, rd_i.error, rd_i.keep[2:0],
                         beat_q[11:0], operands.pages};

  `RNIC_ASSERT(InTurn_A, !reg_rsp_valid_i || asked_q)
  `RNIC_STREAM_STABLE(DoneStable_A, done_valid_o, done_ready_i, done_o)
  `RNIC_STREAM_STABLE(ReadStable_A, rd_req_valid_o, rd_req_ready_i, rd_req_o)
endmodule
