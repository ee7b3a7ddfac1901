// The counts of the catalogue: what its rows name (counter_catalogue*.cpp).
#pragma once

#include "record/counter_meaning.hpp"

namespace weir::record::counts {

using M = CounterMeaning;

inline constexpr CounterCount pauses_in{"pause_frames_received", M::pause_received, "frames",
                                        "pause frames (global or PFC) that stopped this host's sending"};
inline constexpr CounterCount pause_time_in{"pause_time_received_us", M::pause_received_us, "us",
                                            "for how long this host had to stop sending"};
inline constexpr CounterCount pause_starts_in{"pause_transitions_received", M::pause_transitions, "times",
                                              "how often this host's sending was stopped"};
inline constexpr CounterCount pauses_out{
    "pause_frames_sent", M::pause_sent, "frames",
    "pause frames (global or PFC) by which this host stopped the switch"};
inline constexpr CounterCount pause_time_out{"pause_time_sent_us", M::pause_sent_us, "us",
                                             "for how long this host stopped the switch"};
inline constexpr CounterCount pause_starts_out{"pause_transitions_sent", M::pause_transitions, "times",
                                               "how often this host stopped the switch"};
inline constexpr CounterCount marks{"ecn_marked_packets", M::marked, "packets",
                                    "packets that came with an ECN mark"};
inline constexpr CounterCount echoes{"ecn_echoes", M::marked, "segments",
                                     "TCP segments that came with an ECN mark, as receivers reported"};
inline constexpr CounterCount cnps_out{"cnp_sent", M::notified, "packets",
                                       "CNPs that this receiver sent, for marks or for packets out of order"};
inline constexpr CounterCount cnps_in{"cnp_handled", M::notified, "packets",
                                      "CNPs that this sender got, and heeded"};
// Where data is read by its receiver, it is read again: lost data shows with the receiver only.
inline constexpr CounterCount out_of_order{"out_of_sequence", M::resent, "packets",
                                           "packets that came out of order: lost, or overtaken on the way"};
// A NAK stands for all that was under way; hardware was seen to count one for 73 lost packets.
inline constexpr CounterCount naks{"sequence_errors", M::resent_burst, "bursts",
                                   "NAKs for packets out of order that this sender got"};
inline constexpr CounterCount implied_naks{"sequence_errors", M::resent_burst, "bursts",
                                           "answers that passed over packets, which were lost"};
inline constexpr CounterCount naks_out{"", M::resent_burst, "bursts",
                                       "NAKs for packets out of order that this receiver sent"};
inline constexpr CounterCount sent_again{"rdma_retransmissions", M::resent, "packets",
                                         "packets that were sent again"};
inline constexpr CounterCount retries{"rdma_retransmissions", M::resent_burst, "times",
                                      "retransmissions, each of any number of packets"};
inline constexpr CounterCount ack_timeouts{"ack_timeouts", M::timed_out, "times",
                                           "time-outs of acknowledgements, after which data was sent again"};
inline constexpr CounterCount adaptive_timeouts{"ack_timeouts", M::timed_out, "times",
                                                "time-outs of the adaptive retransmission"};
inline constexpr CounterCount twice{"", M::received_twice, "packets",
                                    "requests that had come before: sent again although they were not lost"};
inline constexpr CounterCount given_up{
    "rdma_given_up", M::resent_burst, "times",
    "requests that were given up after all retries, or peers that did not answer"};
inline constexpr CounterCount no_answer{"rdma_given_up", M::resent_burst, "times",
                                        "answers that are missing, or connections that became impaired"};
// Segments sent again that were lost again are sent once more.
inline constexpr CounterCount tcp_again{"tcp_retransmissions", M::resent, "segments",
                                        "segments that were sent again"};
inline constexpr CounterCount tcp_timeouts{"tcp_timeouts", M::resent_burst, "times",
                                           "time-outs of TCP's retransmission"};
// On the way in and on the way out. Drivers count the same packets in several places, so the largest is
// taken.
inline constexpr CounterCount drops_in{"dropped_by_hosts", M::dropped, "packets",
                                       "received packets for which card, ring or driver had no room"};
inline constexpr CounterCount drops_out{"dropped_by_hosts", M::dropped, "packets",
                                        "packets that were to be sent and were thrown away"};
inline constexpr CounterCount queue_drops{"dropped_by_hosts", M::dropped, "packets",
                                          "packets that the queueing discipline (tc) threw away"};
inline constexpr CounterCount socket_drops{"dropped_by_hosts", M::dropped, "segments",
                                           "segments that found the receive queue full"};
inline constexpr CounterCount backlog_drops{"dropped_by_hosts", M::dropped, "segments",
                                            "segments that found the socket busy and its backlog full"};
inline constexpr CounterCount pruned{"dropped_by_hosts", M::dropped, "segments",
                                     "segments thrown away from full receive buffers"};
inline constexpr CounterCount udp_drops_in{"dropped_by_hosts", M::dropped, "packets",
                                           "datagrams that did not get to a socket: full buffers, errors"};
inline constexpr CounterCount udp_drops_out{"dropped_by_hosts", M::dropped, "packets",
                                            "datagrams that found the send buffer full"};
inline constexpr CounterCount not_reassembled{"dropped_by_hosts", M::dropped, "packets",
                                              "IP packets whose fragments did not all come"};
inline constexpr CounterCount ip_drops_in{"dropped_by_hosts", M::dropped, "packets",
                                          "IP packets thrown away on receipt"};
inline constexpr CounterCount ip_drops_out{"dropped_by_hosts", M::dropped, "packets",
                                           "IP packets thrown away unsent"};
inline constexpr CounterCount softnet_drops{"dropped_by_hosts", M::dropped, "packets",
                                            "packets that found the backlog of a processor full"};
inline constexpr CounterCount damaged{
    "damaged_packets", M::dropped, "packets",
    "packets that came broken: checksum of the frame, coding, length of the cable"};
inline constexpr CounterCount packets_in{"received_packets", M::received_packets, "packets",
                                         "received packets"};
inline constexpr CounterCount segments_in{"", M::received_packets, "segments", "received TCP segments"};
inline constexpr CounterCount packets_out{"sent_packets", M::sent_packets, "packets", "sent packets"};
inline constexpr CounterCount segments_out{"sent_segments", M::sent_packets, "segments", "sent TCP segments"};
inline constexpr CounterCount bytes_in{"", M::received_bytes, "bytes", "received bytes"};
// Recorded, and not judged.
inline constexpr CounterCount pause_ends{"", M::none, "frames", "ends of pauses (XON)"};
inline constexpr CounterCount pause_ticks{"", M::none, "unit not documented", "time in pause"};
inline constexpr CounterCount storms{"", M::none, "events",
                                     "pauses that lasted, and how the driver ended them"};
inline constexpr CounterCount ignored{"", M::none, "packets",
                                      "CNPs that were not heeded, and restarts after CNPs"};
inline constexpr CounterCount not_ready{
    "", M::none, "times", "a receiver had no buffer posted (RNR): of programs, not of the network"};
inline constexpr CounterCount bytes_again{"", M::none, "bytes", "bytes that were sent again or thrown away"};
inline constexpr CounterCount carried{"", M::none, "packets or bytes", "a part of the traffic"};
inline constexpr CounterCount operations{"", M::none, "times", "operations of programs"};
inline constexpr CounterCount misused{"", M::none, "times",
                                      "errors of programs and resources, not of the network"};
inline constexpr CounterCount unwanted{"", M::none, "packets",
                                       "packets that no program or filter wanted, or that were malformed"};
inline constexpr CounterCount link_events{"", M::none, "times", "the link went down, recovered or changed"};
inline constexpr CounterCount corrected{"", M::none, "bits, symbols or blocks",
                                        "errors of the line, seen by FEC"};
inline constexpr CounterCount waits{"", M::none, "times", "sending or receiving had to wait, without loss"};
inline constexpr CounterCount tcp_echoes{"", M::none, "segments", "echoes of what is counted as sent again"};
inline constexpr CounterCount level{"", M::none, "none",
                                    "a setting, a level or a share: no count, and not recorded"};

}  // namespace weir::record::counts
