// The catalogue of counters: families, and the names of the kernel itself and of RDMA devices; those of
// Ethernet drivers: counter_catalogue_ethernet.cpp. A row is added where a driver gets a counter of losses,
// pauses, marks, errors or traffic; RDMA devices show all that they have, so that the others of theirs are
// known to mean nothing here.
#include "record/counter_counts.hpp"

namespace weir::record {

namespace kernel_and_rdma {

using namespace counts;

constexpr CounterFamily families[] = {
    {"pause_frames_received", "frames", "pause frames received",
     "a queue of the switch, or of a receiver behind it, was full: look at the pauses that receivers' hosts "
     "send, and "
     "let fewer producers send to one consumer at a time (--slots)"},
    {"pause_time_received_us", "us", "pause time, received", "as for pause frames received"},
    {"pause_transitions_received", "times", "transitions to pause, received", "as for pause frames received"},
    {"pause_frames_sent", "frames", "pause frames sent",
     "this host was too slow for what came: its processor, memory or PCIe slot, or its receive rings are too "
     "small "
     "(ethtool -G)"},
    {"pause_time_sent_us", "us", "pause time, sent", "as for pause frames sent"},
    {"pause_transitions_sent", "times", "transitions to pause, sent", "as for pause frames sent"},
    {"ecn_marked_packets", "packets", "packets with an ECN mark",
     "a queue on the way was longer than its ECN threshold: as intended where DCQCN or DCTCP is to hold "
     "queues short; "
     "if the rate sinks with it, raise the threshold"},
    {"ecn_echoes", "segments", "TCP segments that arrived marked, as senders were told",
     "as for packets with an ECN mark"},
    {"cnp_sent", "packets", "congestion notifications (CNP) sent",
     "this receiver told senders to slow down, for marks or for packets out of order: look at both"},
    {"cnp_handled", "packets", "congestion notifications (CNP) received",
     "this sender was slowed down: look at the marks of the hosts to which it sends"},
    {"out_of_sequence", "packets", "RDMA packets out of sequence",
     "packets were lost on the way, or overtook each other: read the drops of the switch; is PFC on for this "
     "priority "
     "on every port (weir check)?"},
    {"sequence_errors", "bursts", "RDMA sequence errors (each for a burst)",
     "as for RDMA packets out of sequence"},
    {"rdma_retransmissions", "times", "RDMA retransmissions", "as for RDMA packets out of sequence"},
    {"ack_timeouts", "times", "RDMA acknowledgement time-outs",
     "the last packets of a message were lost, or acknowledgements waited for longer than the time-out of "
     "the queue "
     "pair: read the drops of the switch, and how long pauses last"},
    {"rdma_given_up", "times", "RDMA requests given up",
     "a peer did not answer through all retries: look at its link, and at routes and PFC between the two"},
    {"tcp_retransmissions", "segments", "TCP segments sent again",
     "segments were lost on the way: read the drops of the switch and of receiving hosts"},
    {"tcp_timeouts", "times", "TCP time-outs",
     "the last segments of a burst were lost: as for segments sent again"},
    {"dropped_by_hosts", "packets", "packets dropped by hosts",
     "this host had no room: larger rings (ethtool -G) and socket buffers, ranks and interrupts on the NUMA "
     "node of "
     "the card, or fewer senders at a time (--slots)"},
    {"damaged_packets", "packets", "packets that hosts received damaged",
     "clean or replace cable and transceiver, and compare the FEC of both ends"},
    {"received_packets", "packets", "packets received", "traffic: what the others are shares of"},
    {"sent_packets", "packets", "packets sent", "traffic: what the others are shares of"},
    {"sent_segments", "segments", "TCP segments sent", "traffic: what the others are shares of"},
};

constexpr CounterNames protocols[] = {
    {"tcp.retransmitted_segments tcp.lost_retransmits", &tcp_again},
    {"tcp.timeouts", &tcp_timeouts},
    {"tcp.receive_queue_drops", &socket_drops},
    {"tcp.backlog_drops", &backlog_drops},
    {"tcp.receive_buffer_drops", &pruned},
    {"tcp.receive_errors", &damaged},
    {"tcp.delivered_ce_segments", &echoes},
    {"tcp.received_segments", &segments_in},
    {"tcp.sent_segments", &segments_out},
    {"tcp.fast_retransmits tcp.slow_start_retransmits tcp.sack_recoveries tcp.spurious_timeouts "
     "tcp.loss_probes "
     "tcp.duplicate_sacks_received tcp.out_of_order_segments",
     &tcp_echoes},
    {"tcp.sent_resets tcp.zero_window_drops tcp.zero_windows_sent tcp.aborts_on_timeout", &waits},
    // Those of full buffers are among the errors.
    {"udp.receive_errors udp.receive_buffer_errors", &udp_drops_in},
    {"udp.send_buffer_errors", &udp_drops_out},
    {"udp.received_datagrams udp.sent_datagrams", &carried},
    {"udp.checksum_errors udp.memory_errors", &misused},
    {"ip.received_ce_packets", &marks},
    {"ip.reassembly_failures", &not_reassembled},
    {"ip.receive_discards", &ip_drops_in},
    {"ip.send_discards", &ip_drops_out},
    {"ip.received_bytes", &bytes_in},
    {"softnet.dropped", &softnet_drops, 32},
    {"softnet.processed", &carried, 32},
    {"softnet.time_squeezed", &waits, 32},
};

constexpr CounterNames interfaces[] = {
    {"rx_bytes", &bytes_in},
    {"tx_bytes", &carried},
    {"rx_packets", &packets_in},
    {"tx_packets", &packets_out},
    {"rx_missed_errors rx_fifo_errors rx_over_errors", &drops_in},
    {"rx_crc_errors", &damaged},
    // Also packets of protocols that no program asked for.
    {"rx_dropped tx_dropped rx_errors tx_errors", &unwanted},
    {"qdisc_drops", &queue_drops, 32},
    {"qdisc_overlimits qdisc_requeues", &waits, 32},
};

constexpr CounterNames rdma_ports[] = {
    {"port_rcv_bytes", &bytes_in},          {"port_xmit_bytes", &carried},
    {"port_rcv_packets", &packets_in},      {"port_xmit_packets", &packets_out},
    {"port_xmit_discards", &drops_out, 16}, {"port_rcv_errors", &damaged, 16},
    {"symbol_error", &damaged, 16},         {"link_error_recovery link_downed", &link_events, 8},
    {"port_xmit_wait", &waits, 32},         {"lifespan", &level},
};

constexpr CounterNames mlx5_rdma[] = {
    {"out_of_sequence", &out_of_order, 32},
    {"packet_seq_err", &naks, 32},
    {"implied_nak_seq_err", &implied_naks, 32},
    {"roce_adp_retrans", &retries, 32},
    {"local_ack_timeout_err", &ack_timeouts, 32},
    {"roce_adp_retrans_to", &adaptive_timeouts, 32},
    {"duplicate_request", &twice, 32},
    {"req_transport_retries_exceeded", &given_up, 32},
    {"out_of_buffer", &drops_in, 32},
    {"rx_icrc_encapsulated", &damaged},
    {"np_ecn_marked_roce_packets cc_rx_ce_pkts", &marks},
    {"np_cnp_sent cc_tx_cnp_pkts", &cnps_out},
    {"rp_cnp_handled cc_rx_cnp_pkts", &cnps_in},
    {"rp_cnp_ignored", &ignored},
    {"roce_slow_restart roce_slow_restart_cnps roce_slow_restart_trans", &ignored, 32},
    {"rnr_nak_retry_err req_rnr_retries_exceeded", &not_ready, 32},
    {"rx_write_requests rx_read_requests rx_atomic_requests rx_dct_connect", &operations, 32},
    {"resp_local_length_error resp_cqe_error req_cqe_error req_remote_invalid_request "
     "req_remote_access_errors "
     "resp_remote_access_errors resp_cqe_flush_error req_cqe_flush_error",
     &misused, 32},
    {"rdma_tx_packets rdma_tx_bytes rdma_rx_packets rdma_rx_bytes", &carried},
};

constexpr CounterNames mlx4_rdma[] = {
    {"rq_num_oos", &out_of_order},
    {"sq_num_oos", &naks},
    {"sq_num_to", &ack_timeouts},
    {"sq_num_tree", &given_up},
    {"rq_num_dup", &twice},
    {"rq_num_udsdprd", &drops_in},
    {"rq_num_rnr sq_num_rnr sq_num_rree", &not_ready},
    {"rq_num_lle sq_num_lle rq_num_lqpoe sq_num_lqpoe rq_num_lpe sq_num_lpe "
     "rq_num_wrfe "
     "sq_num_wrfe sq_num_mwbe sq_num_bre sq_num_rire rq_num_rire sq_num_rae rq_num_rae sq_num_roe "
     "sq_num_rabrte "
     "sq_num_ieecne sq_num_ieecse rq_num_mce num_cqovf",
     &misused},
};

constexpr CounterNames bnxt_rdma[] = {
    {"oos_drop_count", &out_of_order},
    {"seq_err_naks_rcvd", &naks},
    {"to_retransmits", &ack_timeouts},
    {"max_retry_exceeded", &given_up},
    {"missing_resp", &no_answer},
    {"dup_req", &twice},
    {"rx_roce_discards rx_out_of_buffer", &drops_in},
    {"tx_roce_discards", &drops_out},
    {"rx_roce_errors", &damaged},
    {"rx_ecn_marked_pkts", &marks},
    {"tx_cnp_pkts", &cnps_out},
    {"rx_cnp_pkts", &cnps_in},
    {"rx_pkts", &packets_in},
    {"tx_pkts", &packets_out},
    {"rnr_naks_rcvd", &not_ready},
    {"rx_roce_good_pkts rx_roce_good_bytes rx_roce_only_pkts rx_roce_only_bytes tx_roce_only_pkts "
     "tx_roce_only_bytes rx_good_pkts rx_good_bytes",
     &carried},
    {"tx_atomic_req tx_read_req tx_read_resp tx_write_req tx_send_req rx_atomic_req rx_read_req rx_read_resp "
     "rx_write_req rx_send_req resize_cq_cnt pacing_reschedule pacing_complete pacing_alerts",
     &operations},
    {"tx_roce_errors recoverable_errors unrecoverable_err bad_resp_err local_qp_op_err local_protection_err "
     "mem_mgmt_op_err remote_invalid_req_err remote_access_err remote_op_err res_exceed_max "
     "res_length_mismatch "
     "res_exceeds_wqe res_opcode_err res_rx_invalid_rkey res_rx_domain_err res_rx_no_perm res_rx_range_err "
     "res_tx_invalid_rkey res_tx_domain_err res_tx_no_perm res_tx_range_err res_irrq_oflow res_unsup_opcode "
     "res_unaligned_atomic res_rem_inv_err res_mem_err res_srq_err res_cmp_err res_invalid_dup_rkey "
     "res_wqe_format_err res_cq_load_err res_srq_load_err res_tx_pci_err res_rx_pci_err",
     &misused},
    {"active_pds active_ahs active_qps active_rc_qps active_ud_qps active_srqs active_cqs active_mrs "
     "active_mws "
     "watermark_pds watermark_ahs watermark_qps watermark_rc_qps watermark_ud_qps watermark_srqs "
     "watermark_cqs "
     "watermark_mrs watermark_mws db_fifo_register",
     &level},
};

constexpr CounterNames ionic_rdma[] = {
    {"resp_rx_outouf_seq resp_rx_ccl_cts_outouf_seq", &out_of_order},
    {"req_rx_pkt_seq_err", &naks},
    {"req_rx_impl_nak_seq_err", &implied_naks},
    {"resp_tx_pkt_seq_err", &naks_out},
    {"tx_rdma_retx_pkts tx_rdma_ccl_cts_retx_pkts", &sent_again},
    {"tx_rdma_ack_timeout tx_rdma_ccl_cts_ack_timeout", &ack_timeouts},
    {"req_tx_retry_excd_err", &given_up},
    {"resp_rx_dup_request req_rx_dup_response", &twice},
    {"resp_rx_outof_buf rx_rdma_mtu_discard_pkts", &drops_in},
    {"rx_rdma_ecn_pkts", &marks},
    {"tx_rdma_cnp_pkts", &cnps_out},
    {"rx_rdma_cnp_pkts", &cnps_in},
    {"rx_rdma_ucast_pkts", &packets_in},
    {"tx_rdma_ucast_pkts", &packets_out},
    {"rx_rdma_ucast_bytes", &bytes_in},
    {"tx_rdma_retx_bytes tx_rdma_ccl_cts_retx_bytes", &bytes_again},
    {"req_rx_rnr_retry_err resp_tx_rnr_retry_err", &not_ready},
    {"tx_rdma_ucast_bytes rx_rdma_mcast_pkts rx_rdma_mcast_bytes tx_rdma_mcast_pkts tx_rdma_mcast_bytes "
     "rx_rdma_ccl_cts_pkts rx_rdma_ccl_cts_bytes tx_rdma_ccl_cts_pkts tx_rdma_ccl_cts_bytes",
     &carried},
    {"req_rx_rmt_acc_err req_rx_rmt_req_err req_rx_oper_err req_rx_cqe_err req_rx_cqe_flush "
     "req_rx_inval_pkts "
     "req_tx_loc_acc_err req_tx_loc_oper_err req_tx_mem_mgmt_err req_tx_loc_sgl_inv_err resp_rx_cqe_err "
     "resp_rx_cqe_flush resp_rx_loc_len_err resp_rx_inval_request resp_rx_loc_oper_err resp_rx_outof_atomic "
     "resp_rx_s0_table_err resp_tx_rmt_inval_req_err resp_tx_rmt_acc_err resp_tx_rmt_oper_err "
     "resp_tx_loc_sgl_inv_err",
     &misused},
};

constexpr CounterNames irdma_rdma[] = {
    {"Rcvd_Out_of_order_packets rcvd_out_of_order_packets", &out_of_order},
    {"Nak_Sequence_Error", &naks},
    {"Nak_Sequence_Error_Implied", &implied_naks},
    {"tcpRetransSegs RetransSegs", &sent_again},
    {"RTO", &ack_timeouts},
    {"ip4InDiscards", &drops_in},
    {"ip6InDiscards", &drops_in},
    {"CRC_errors", &damaged},
    {"RxECNMrkd", &marks},
    {"cnpSent", &cnps_out},
    {"cnpHandled", &cnps_in},
    {"cnpIgnored", &ignored},
    {"ip4InOctets", &bytes_in},
    {"RNR_sent RNR_received ord_limit_count ird_limit_count", &not_ready},
    {"ip4InPkts ip4OutPkts ip4OutOctets ip4InReasmRqd ip4OutSegRqd ip4InMcastPkts ip4OutMcastPkts "
     "ip4InMcastOctets "
     "ip4OutMcastOctets ip6InOctets ip6InPkts ip6OutOctets ip6OutPkts ip6InReasmRqd ip6OutSegRqd "
     "ip6InMcastPkts "
     "ip6OutMcastPkts ip6InMcastOctets ip6OutMcastOctets tcpInSegs tcpOutSegs InSegs OutSegs RxUDP TxUDP",
     &carried},
    {"iwInRdmaReads iwInRdmaSends iwInRdmaWrites iwOutRdmaReads iwOutRdmaSends iwOutRdmaWrites iwRdmaBnd "
     "iwRdmaInv "
     "InRdmaReads InRdmaSends InRdmaWrites OutRdmaReads OutRdmaSends OutRdmaWrites RdmaBnd RdmaInv "
     "Rx_atomics "
     "Tx_atomics Rx_ATS Tx_ATS",
     &operations},
    {"ip4InTruncatedPkts ip6InTruncatedPkts ip4OutNoRoutes ip6OutNoRoutes tcpInOptErrors tcpInProtoErrors "
     "InOptErrors InProtoErrors rxVlanErrors",
     &misused},
};

constexpr CounterNames mana_rdma[] = {
    {"responder_oos", &out_of_order},
    {"requester_oos_nak", &naks},
    {"requester_implicit_nak requester_readresp_psn_mismatch", &implied_naks},
    {"requester_timeout", &ack_timeouts},
    {"requester_retries_exceeded", &given_up},
    {"responder_dup_request dup_rx_requests", &twice},
    {"received_ecns", &marks},
    {"sent_cnps", &cnps_out},
    {"received_cnps received_cnp_count", &cnps_in},
    {"requester_rnr_nak responder_rnr_nak requester_rnr_nak_retries_exceeded", &not_ready},
    {"rate_inc_events qp_congested_events qp_recovered_events num_qps_recovered rx_send_requests",
     &operations},
    {"nak_inv_req nak_access_error nak_opp_error nak_inv_read responder_local_len_error "
     "requestor_local_prot_error "
     "responder_rem_access_error responder_local_qp_error responder_malformed_wqe general_hw_error "
     "total_fatal_error",
     &misused},
    {"current_rate num_qps_congested", &level},
};

constexpr CounterNames efa[] = {
    {"retrans_pkts", &sent_again},
    {"retrans_timeout_events", &ack_timeouts},
    {"unresponsive_remote_events", &given_up},
    {"impaired_remote_conn_events", &no_answer},
    {"rx_drops", &drops_in},
    {"rx_pkts", &packets_in},
    {"tx_pkts", &packets_out},
    {"retrans_bytes", &bytes_again},
    {"send_bytes recv_bytes rdma_read_bytes rdma_read_resp_bytes rdma_write_bytes rdma_write_recv_bytes",
     &carried},
    {"send_wrs recv_wrs rdma_read_wrs rdma_write_wrs submitted_cmds completed_cmds keep_alive_rcvd",
     &operations},
    {"rdma_read_wr_err rdma_write_wr_err cmds_err no_completion_cmds alloc_pd_err create_qp_err "
     "create_cq_err "
     "reg_mr_err alloc_ucontext_err create_ah_err mmap_err",
     &misused},
};

constexpr CounterNames erdma[] = {
    {"rx_disable_drop_cnt rx_bps_limit_drop_cnt rx_pps_limit_drop_cnt", &drops_in},
    {"tx_disable_drop_cnt tx_bps_limit_drop_cnt tx_pps_limit_drop_cnt", &drops_out},
    {"rx_packets_cnt", &packets_in},
    {"tx_packets_cnt", &packets_out},
    {"rx_bytes_cnt", &bytes_in},
    {"tx_bytes_cnt tx_reqs_cnt", &carried},
};

constexpr CounterNames hns_rdma[] = {
    {"tx_cnp_pkt", &cnps_out},
    {"rx_cnp_pkt", &cnps_in},
    {"rx_pkt", &packets_in},
    {"tx_pkt", &packets_out},
    {"rx_err_pkt", &damaged},
    {"rx_rc_pkt rx_uc_pkt rx_ud_pkt rx_xrc_pkt tx_rc_pkt tx_uc_pkt tx_ud_pkt tx_xrc_pkt", &carried},
    {"rx_buffer trp_rx_sof cq_cqe cq_poe cq_notify", &operations},
    {"tx_err_pkt trp_get_mpt_err_pkt trp_get_irrl_err_pkt", &misused},
};

constexpr CounterNames rxe[] = {
    {"out_of_seq_request", &out_of_order},
    {"rcvd_seq_err", &naks},
    {"completer_retry_err", &retries},
    {"retry_exceeded_err", &given_up},
    {"sent_pkts", &packets_out},
    {"rcvd_pkts", &packets_in},
    {"rcvd_rnr_err send_rnr_err retry_rnr_exceeded_err", &not_ready},
    {"ack_deferred send_err rdma_sends rdma_recvs", &operations},
};

constexpr CounterDriver drivers[] = {
    {"kernel: protocols", "net/ipv4/proc.c, net/core/net-procfs.c", protocols},
    {"kernel: interfaces", "include/uapi/linux/if_link.h, include/uapi/linux/gen_stats.h", interfaces},
    {"kernel: RDMA ports", "Documentation/ABI/stable/sysfs-class-infiniband", rdma_ports},
    {"mlx5_core", "drivers/infiniband/hw/mlx5/counters.c", mlx5_rdma},
    {"mlx4_core", "drivers/infiniband/hw/mlx4/main.c", mlx4_rdma},
    {"bnxt_en", "drivers/infiniband/hw/bnxt_re/hw_counters.c", bnxt_rdma},
    {"ionic",
     "names from the firmware (drivers/infiniband/hw/ionic/ionic_hw_stats.c), as ROCm's "
     "device-metrics-exporter and rdma-exporter have them",
     ionic_rdma},
    {"irdma", "drivers/infiniband/hw/irdma/verbs.c", irdma_rdma},
    {"mana", "drivers/infiniband/hw/mana/counters.c", mana_rdma},
    {"efa", "drivers/infiniband/hw/efa/efa_verbs.c", efa},
    {"erdma", "drivers/infiniband/hw/erdma/erdma_verbs.c", erdma},
    {"hns3", "drivers/infiniband/hw/hns/hns_roce_main.c", hns_rdma},
    {"rxe", "drivers/infiniband/sw/rxe/rxe_hw_counters.c", rxe},
};

}  // namespace kernel_and_rdma

std::span<const CounterDriver> rdma_counters() {
    return kernel_and_rdma::drivers;
}

std::span<const CounterFamily> counter_families() {
    return kernel_and_rdma::families;
}

}  // namespace weir::record
