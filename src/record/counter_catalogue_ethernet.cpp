// The part of the catalogue that Ethernet drivers have: names of `ethtool -S`.
#include "record/counter_counts.hpp"

namespace weir::record {

namespace ethernet {

using namespace counts;

constexpr CounterNames mlx5_ethernet[] = {
    {"rx_prio#_pause rx_global_pause rx_pause_ctrl_phy", &pauses_in},
    {"rx_prio#_pause_duration rx_global_pause_duration", &pause_time_in},
    {"rx_prio#_pause_transition rx_global_pause_transition", &pause_starts_in},
    {"tx_prio#_pause tx_global_pause tx_pause_ctrl_phy", &pauses_out},
    {"tx_prio#_pause_duration tx_global_pause_duration", &pause_time_out},
    {"tx_prio#_pause_transition tx_global_pause_transition", &pause_starts_out},
    {"rx_discards_phy rx_prio#_buf_discard rx_prio#_cong_discard rx_prio#_discards rx_out_of_buffer "
     "dev_internal_queue_oob dev_out_of_buffer outbound_pci_buffer_overflow rx_oversize_pkts_sw_drop",
     &drops_in},
    {"tx_discards_phy tx_queue_dropped", &drops_out},
    {"rx_prio#_marked rx_ecn_mark", &marks},
    {"rx_crc_errors_phy rx_symbol_err_phy", &damaged},
    {"rx_prio#_bytes rx_prio#_packets tx_prio#_bytes tx_prio#_packets", &carried},
    {"rx_steer_missed_packets rx_oversize_pkts_buffer rx_if_down_packets tx_tls_drop_no_sync_data "
     "tx_tls_drop_bypass_req",
     &unwanted},
    {"tx_pause_storm_warning_events tx_pause_storm_error_events", &storms},
    {"rx_buffer_passed_thres_phy outbound_pci_stalled_rd_events outbound_pci_stalled_wr_events", &waits},
    {"outbound_pci_stalled_rd outbound_pci_stalled_wr", &level},
    {"link_down_events_phy", &link_events},
    {"rx_pcs_symbol_err_phy rx_corrected_bits_phy rx_err_lane_#_phy", &corrected},
};

constexpr CounterNames mlx4_ethernet[] = {
    {"rx_pause_prio_# rx_pause", &pauses_in},
    {"tx_pause_prio_# tx_pause", &pauses_out},
    {"rx_pause_transition_prio_# rx_pause_transition", &pause_starts_in},
    {"tx_pause_transition_prio_# tx_pause_transition", &pause_starts_out},
    {"rx_pause_duration_prio_# rx_pause_duration tx_pause_duration_prio_# tx_pause_duration", &pause_ticks},
    {"rx%_dropped", &drops_in},
    {"rx_prio_#_bytes rx_prio_#_packets tx_prio_#_bytes tx_prio_#_packets", &carried},
};

constexpr CounterNames bnxt_ethernet[] = {
    {"rx_pause_frames rx_pfc_frames rx_pfc_ena_frames_pri#", &pauses_in},
    {"pfc_pri#_rx_duration_us", &pause_time_in},
    {"pfc_pri#_rx_transitions", &pause_starts_in},
    {"tx_pause_frames tx_pfc_frames tx_pfc_ena_frames_pri#", &pauses_out},
    {"pfc_pri#_tx_duration_us", &pause_time_out},
    {"pfc_pri#_tx_transitions", &pause_starts_out},
    {"rx_discard_packets_cos# rx_stat_discard rx_total_ring_discards rx_total_discard_pkts [%]:_rx_discards "
     "rx_total_oom_discards",
     &drops_in},
    {"tx_stat_discard tx_total_ring_discards tx_total_discard_pkts [%]:_tx_discards", &drops_out},
    {"rx_fcs_err_frames rx_align_err_frames", &damaged},
    {"rx_discard_bytes_cos#", &bytes_again},
    {"rx_bytes_pri# rx_packets_pri# tx_bytes_pri# tx_packets_pri# rx_bytes_cos# rx_packets_cos# "
     "tx_bytes_cos# "
     "tx_packets_cos#",
     &carried},
    {"continuous_pause_events resume_pause_events continuous_roce_pause_events resume_roce_pause_events",
     &storms},
    {"rx_buffer_passed_threshold rx_total_buf_errors [%]:_rx_buf_errors [%]:_missed_irqs total_missed_irqs",
     &waits},
    {"rx_total_netpoll_discards rx_filter_miss", &unwanted},
    {"link_down_events", &link_events},
    {"rx_pcs_symbol_err rx_corrected_bits rx_fec_corrected_blocks rx_fec_uncorrectable_blocks", &corrected},
};

constexpr CounterNames ionic_ethernet[] = {
    {"frames_rx_pause frames_rx_pripause", &pauses_in},
    {"rx_pripause_#_1us_count rx_pause_1us_count", &pause_time_in},
    {"frames_tx_pause frames_tx_pripause", &pauses_out},
    {"tx_pripause_#_1us_count tx_pause_1us_count", &pause_time_out},
    {"frames_rx_dropped hw_rx_dropped hw_rx_over_errors hw_rx_missed_errors rx_%_dropped", &drops_in},
    {"hw_tx_dropped frames_tx_truncated", &drops_out},
    {"frames_rx_bad_fcs frames_rx_bad_all frames_rx_stomped_crc", &damaged},
    {"frames_rx_pri_# frames_tx_pri_#", &carried},
};

constexpr CounterNames ice[] = {
    {"rx_priority_#_xoff.nic link_xoff_rx.nic", &pauses_in},
    {"tx_priority_#_xoff.nic link_xoff_tx.nic", &pauses_out},
    {"rx_priority_#_xon.nic link_xon_rx.nic tx_priority_#_xon.nic link_xon_tx.nic", &pause_ends},
    {"rx_dropped.nic", &drops_in},
    {"tx_dropped_link_down.nic", &drops_out},
    {"rx_crc_errors.nic rx_illegal_bytes.nic", &damaged},
};

constexpr CounterNames i40e[] = {
    {"port.rx_priority_#_xoff_rx port.rx_priority_#_xoff port.link_xoff_rx", &pauses_in},
    {"port.rx_priority_#_xon_2_xoff", &pause_starts_in},
    {"port.tx_priority_#_xoff_tx port.tx_priority_#_xoff port.link_xoff_tx", &pauses_out},
    {"port.rx_priority_#_xon_rx port.rx_priority_#_xon port.tx_priority_#_xon_tx port.tx_priority_#_xon "
     "port.link_xon_rx port.link_xon_tx",
     &pause_ends},
    {"port.rx_discards veb.rx_discards rx_discards", &drops_in},
    {"port.tx_dropped_link_down veb.tx_discards tx_discards", &drops_out},
    {"port.rx_crc_errors port.illegal_bytes", &damaged},
};

constexpr CounterNames ixgbe[] = {
    {"rx_pb_#_pxoff rx_flow_control_xoff link_xoff_rx", &pauses_in},
    {"tx_pb_#_pxoff tx_flow_control_xoff link_xoff_tx", &pauses_out},
    {"rx_pb_#_pxon tx_pb_#_pxon rx_flow_control_xon tx_flow_control_xon", &pause_ends},
    {"rx_no_dma_resources hw_rx_no_dma_resources rx_no_buffer_count rx_queue_%_drops", &drops_in},
    {"rx_align_errors", &damaged},
    {"rx_fcoe_dropped dropped_smbus fdir_miss fdir_overflow", &unwanted},
};

constexpr CounterNames mana_ethernet[] = {
    {"hc_rx_discards_no_wqe", &drops_in},
    {"hc_tx_err_gdma hc_tx_err_inval_oob", &drops_out},
    {"hc_rx_err_vport_disabled hc_tx_err_gf_disabled hc_tx_err_vport_disabled", &unwanted},
    {"hc_tc#_rx_pause_phy", &pauses_in},
    {"hc_tc#_tx_pause_phy", &pauses_out},
    {"hc_rx_pkt_drop_phy", &drops_in},
    {"hc_tx_pkt_drop_phy", &drops_out},
    {"hc_tc#_rx_pkt_phy hc_tc#_rx_byte_phy hc_tc#_tx_pkt_phy hc_tc#_tx_byte_phy", &carried},
};

constexpr CounterNames ena[] = {
    {"bw_in_allowance_exceeded", &drops_in},
    {"bw_out_allowance_exceeded pps_allowance_exceeded", &drops_out},
    {"conntrack_allowance_exceeded linklocal_allowance_exceeded", &unwanted},
    {"queue_%_tx_missed_tx", &drops_out},
    {"queue_%_rx_page_alloc_fail queue_%_rx_skb_alloc_fail queue_%_rx_empty_rx_ring", &waits},
    {"conntrack_allowance_available", &level},
};

constexpr CounterNames hns3[] = {
    {"mac_rx_pfc_pri#_pkt_num mac_rx_pfc_pkt_num mac_rx_pfc_pause_pkt_num mac_rx_mac_pause_num", &pauses_in},
    {"mac_tx_pfc_pri#_pkt_num mac_tx_pfc_pkt_num mac_tx_pfc_pause_pkt_num mac_tx_mac_pause_num", &pauses_out},
    {"mac_rx_pfc_pri#_xoff_time mac_rx_pause_xoff_time mac_tx_pfc_pri#_xoff_time mac_tx_pause_xoff_time",
     &pause_ticks},
    {"rxq%_dropped", &drops_in},
    {"txq%_dropped", &drops_out},
    {"mac_rx_fcs_err_pkt_num mac_rx_sym_err_pkt_num mac_rx_bad_pkt_num", &damaged},
};

constexpr CounterNames sfc[] = {
    {"port_rx_pause rx_pause", &pauses_in},
    {"port_tx_pause tx_pause", &pauses_out},
    {"port_rx_nodesc_drops rx_nodesc_drops rx_nodesc_drop_cnt port_rx_overflow rx_overflow rx_noskb_drops "
     "rx_nodesc_trunc port_rx_pm_discard_bb_overflow port_rx_pm_discard_vfifo_full port_rx_pm_discard_qbb "
     "port_rx_pm_trunc_bb_overflow port_rx_pm_trunc_vfifo_full port_rx_pm_trunc_qbb",
     &drops_in},
    {"tx_overflow", &drops_out},
    {"port_rx_bad rx_bad port_rx_align_error rx_align_error rx_symbol_error", &damaged},
    {"port_rx_pm_discard_mapping port_rx_dp_di_dropped_packets port_rx_dp_q_disabled_packets", &unwanted},
};

constexpr CounterNames be2net[] = {
    {"rx_pause_frames rx_priority_pause_frames", &pauses_in, 32},
    {"tx_pauseframes tx_priority_pauseframes", &pauses_out, 32},
    {"rx_drops_no_pbuf rx_drops_no_erx_descr rx_drops_no_tpre_descr rx_drops_no_txpb rxpp_fifo_overflow_drop "
     "rx_input_fifo_overflow_drop pmem_fifo_overflow_drop eth_red_drops rxq%:_rx_drops_no_frags "
     "rxq%:_rx_drops_no_skbs",
     &drops_in, 32},
    {"txq%:_tx_drv_drops", &drops_out, 32},
    {"rx_alignment_symbol_errors roce_drops_crc", &damaged, 32},
    {"rx_dropped_too_small rx_dropped_too_short rx_dropped_header_too_small rx_dropped_tcp_length "
     "rx_dropped_runt "
     "rx_drops_too_many_frags rx_drops_mtu roce_drops_payload_len rx_address_filtered",
     &unwanted, 32},
};

constexpr CounterNames nfp[] = {
    {"mac.rx_pause_frames_class# mac.rx_pause_mac_ctrl_frames rx_pause_frames_class# "
     "rx_pause_mac_ctrl_frames",
     &pauses_in},
    {"mac.tx_pause_frames_class# mac.tx_pause_mac_ctrl_frames tx_pause_frames_class# "
     "tx_pause_mac_ctrl_frames",
     &pauses_out},
    {"dev_rx_discards mac.rx_drop_events mac.rx_mac_head_drop rx_drop_events rx_mac_head_drop", &drops_in},
    {"dev_tx_discards mac.tx_queue_drop tx_queue_drop", &drops_out},
    {"mac.rx_frame_check_sequence_errors mac.rx_alignment_errors rx_frame_check_sequence_errors "
     "rx_alignment_errors",
     &damaged},
};

constexpr CounterNames virtio_net[] = {
    {"rx%_drops rx_queue_%_drops rx_hw_drops rx_hw_drop_overruns rx%_hw_drops rx%_hw_drop_overruns",
     &drops_in},
    {"tx_hw_drops tx%_hw_drops tx%_hw_drop_malformed", &drops_out},
    {"rx%_hw_ratelimit_packets tx%_hw_ratelimit_packets tx%_tx_timeouts", &waits},
};

constexpr CounterNames tg3[] = {
    {"rx_xoff_pause_rcvd", &pauses_in},
    {"rx_xoff_entered", &pause_starts_in},
    {"tx_xoff_sent", &pauses_out},
    {"rx_xon_pause_rcvd tx_xon_sent tx_flow_control", &pause_ends},
    {"rx_fcs_errors", &damaged},
    {"mbuf_lwm_thresh_hit dma_readq_full dma_read_prioq_full tx_comp_queue_full dma_writeq_full "
     "dma_write_prioq_full rxbds_empty",
     &waits},
};

constexpr CounterNames r8169[] = {
    {"rx_missed", &drops_in},
    {"align_errors", &damaged},
    {"tx_aborted tx_underrun", &unwanted},
};

constexpr CounterNames cxgb4[] = {
    {"ip4RetransSegs", &sent_again},
    {"ip6RetransSegs", &sent_again},
    {"rx_ppp#_frames rx_pause_frames", &pauses_in},
    {"tx_ppp#_frames tx_pause_frames", &pauses_out},
    {"rx_bg#_frames_dropped rx_bg#_frames_trunc", &drops_in},
    {"tx_frames_dropped", &drops_out},
    {"rx_symbol_errors", &damaged},
    {"ip4InSegs ip4OutSegs ip6InSegs ip6OutSegs", &carried},
    {"ip4OutRsts ip6OutRsts db_drop db_full db_empty", &waits},
    // Of its loopback.
    {"frames_dropped bg#_frames_dropped", &unwanted},
};

constexpr CounterNames qede[] = {
    {"rx_pause_frames rx_pfc_frames pfc_frames_received", &pauses_in},
    {"tx_pause_frames tx_pfc_frames pfc_frames_sent", &pauses_out},
    {"no_buff_discards brb_discards brb_truncates rx_brb_discard no_buff_discard_hi rx_skb_alloc_discard "
     "rx_discards",
     &drops_in},
    {"tx_err_drop_pkts", &drops_out},
    {"mftag_filter_discards mac_filter_discards gft_filter_drop ttl0_discard packet_too_big_discard "
     "rx_mf_tag_discard rx_phy_ip_err_discards",
     &unwanted},
};

constexpr CounterNames others[] = {
    // gve
    {"rx_no_buffers_posted[%] rx_queue_drop_cnt[%] rx_dropped_pkt[%]", &drops_in},
    {"rx_drops_packet_over_mru[%] rx_drops_invalid_checksum[%] rx_desc_err_dropped_pkt", &unwanted},
    // enic, idpf
    {"rx_no_bufs rx_drop", &drops_in},
    {"tx_drops tx-skb_drops", &drops_out},
    // vmxnet3
    {"drv_dropped_rx_total pkts_rx_OOB", &drops_in},
    {"drv_dropped_tx_total", &drops_out},
    // octeon_ep
    {"rx_dropped_pkts_fifo_full", &drops_in},
    {"rx_pause_pkts", &pauses_in},
    {"rx_pause_bytes rx_dropped_bytes_fifo_full", &bytes_again},
    // hinic
    {"rx_discard_vport", &drops_in},
    {"tx_discard_vport", &drops_out},
    {"mac_rx_pause_num", &pauses_in},
    {"mac_tx_pause_num", &pauses_out},
    // atlantic
    {"InDroppedDma", &drops_in},
    // amd-xgbe, stmmac, macb, sky2, bcmgenet, bnx2, cxgb3
    {"rx_fifo_overflow_errors mmc_rx_fifo_overflow rx_missed_cntr rx_overflow_cntr rx_gmac_overflow "
     "overflow_error "
     "mmc_rx_discard_frames_gb rx_overruns rx_fifo_overflow rx_ftq_discards rx_fw_discards RxDrops "
     "RxFIFOoverflow",
     &drops_in},
    {"mmc_rx_pause_frames rx_mac_pause rx_xoff_frames RxPauseFrames", &pauses_in},
    {"mmc_tx_pause_frame tx_mac_pause tx_xoff_frames TxPauseFrames", &pauses_out},
    {"mmc_rx_crc_error rx_fcs_error rx_crc RxFCSErrors RxSymbolErrors", &damaged},
    // liquidio, thunder, octeontx2
    {"mac_rx_dma_drop mac_rx_fifo_err dropped_nomem rx_drop_overrun rx_drop_red", &drops_in},
    {"mac_tx_fifo_err", &drops_out},
    {"mac_rx_fcs_err rx_fcs_errs", &damaged},
    {"rx_drop_overrun_bytes rx_drop_red_bytes mmc_rx_discard_octets_gb", &bytes_again},
    {"rx_drop_bcast rx_drop_mcast rx_drop_l3_bcast rx_drop_l3_mcast rx_err_drop fw_dropped_nodispatch",
     &unwanted},
    // fun, bna, fm10k, myri10ge
    {"mac_rx_CBFCPAUSE# bpc_rx_pause_# mac_rx_pause", &pauses_in},
    {"mac_tx_CBFCPAUSE# bpc_tx_pause_# mac_tx_pause", &pauses_out},
    {"bpc_rx_first_pause_#", &pause_starts_in},
    {"bpc_tx_first_pause_#", &pause_starts_out},
    {"bpc_rx_zero_pause_# bpc_tx_zero_pause_#", &pause_ends},
    {"mac_rx_drop_events mac_rx_drop rad_rx_drops rlb_rad_rx_drops rxf%_frame_drops rx_drops_nic nodesc_drop "
     "rx_overrun_pf rx_overrun_vf dropped_overrun dropped_link_overflow dropped_no_small_buffer "
     "dropped_no_big_buffer",
     &drops_in},
    {"mac_tx_drop", &drops_out},
    {"mac_rx_fcs_error dropped_bad_crc32 dropped_bad_phy", &damaged},
    {"vlan_drop loopback_drop dropped_multicast_filtered dropped_unicast_filtered dropped_runt", &unwanted},
    // dpaa2, enetc, mvpp2
    {"[mac]_rx_pause MAC_rx_valid_pause_frames", &pauses_in},
    {"[mac]_tx_b-pause MAC_tx_valid_pause_frames", &pauses_out},
    {"[hw]_rx_nobuffer_discards [mac]_rx_frame_discards MAC_rx_fifo_drop Rx_ring__%_discarded_frames "
     "Rx_ring_%_discarded_frames rx_fifo_overrun rx_fifo_or_parser_overrun_drops rxq_%_packets_bm_drops "
     "rxq_%_packets_early_drops rxq_%_queue_full_drops",
     &drops_in},
    {"[hw]_tx_discarded_frames txq_%_packets_bm_drops txq_%_packets_early_drops txq_%_queue_full_drops",
     &drops_out},
    {"MAC_rx_fcs_errors bad_crc_event", &damaged},
};

constexpr CounterDriver drivers[] = {
    {"mlx5_core", "Documentation/networking/device_drivers/ethernet/mellanox/mlx5/counters.rst",
     mlx5_ethernet},
    {"mlx4_core", "drivers/net/ethernet/mellanox/mlx4/en_ethtool.c", mlx4_ethernet},
    {"bnxt_en", "drivers/net/ethernet/broadcom/bnxt/bnxt_ethtool.c", bnxt_ethernet},
    {"ionic", "drivers/net/ethernet/pensando/ionic/ionic_stats.c", ionic_ethernet},
    {"ice", "drivers/net/ethernet/intel/ice/ice_ethtool.c", ice},
    {"i40e, iavf", "drivers/net/ethernet/intel/i40e/i40e_ethtool.c", i40e},
    {"ixgbe, igb, igc, e1000e", "drivers/net/ethernet/intel/ixgbe/ixgbe_ethtool.c and its like", ixgbe},
    {"mana", "drivers/net/ethernet/microsoft/mana/mana_ethtool.c", mana_ethernet},
    {"ena", "drivers/net/ethernet/amazon/ena/ena_ethtool.c", ena},
    {"hns3", "drivers/net/ethernet/hisilicon/hns3/hns3pf/hclge_main.c and hns3_ethtool.c", hns3},
    {"sfc", "drivers/net/ethernet/sfc/ef10.c, ef100_nic.c and siena/siena.c", sfc},
    {"be2net", "drivers/net/ethernet/emulex/benet/be_ethtool.c", be2net},
    {"nfp", "drivers/net/ethernet/netronome/nfp/nfp_net_ethtool.c", nfp},
    {"virtio_net", "drivers/net/virtio_net.c", virtio_net},
    {"tg3", "drivers/net/ethernet/broadcom/tg3.c", tg3},
    {"r8169", "drivers/net/ethernet/realtek/r8169_main.c", r8169},
    {"cxgb4", "drivers/infiniband/hw/cxgb4/provider.c, drivers/net/ethernet/chelsio/cxgb4/cxgb4_ethtool.c",
     cxgb4},
    {"qede, bnx2x", "drivers/net/ethernet/qlogic/qede/qede_ethtool.c, broadcom/bnx2x/bnx2x_ethtool.c", qede},
    {"amd-xgbe, atlantic, bcmgenet, bna, bnx2, cxgb3, dpaa2, enetc, enic, fm10k, fun, gve, hinic, idpf, "
     "liquidio, macb, mvpp2, myri10ge, octeon_ep, octeontx2, sky2, stmmac, thunder, vmxnet3",
     "the file *_ethtool.c of each in drivers/net", others},
};

}  // namespace ethernet

std::span<const CounterDriver> ethernet_counters() {
    return ethernet::drivers;
}

}  // namespace weir::record
