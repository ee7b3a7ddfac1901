"""weir_suites.switches.asics and results/asic-thresholds: cells, thresholds and reserved memory of switch chips."""

import sys

import pytest
from conftest import ROOT
from weir_suites.switches import asics

sys.path.insert(0, str(ROOT / "results/asic-thresholds"))
import packets  # noqa: E402

TOMAHAWK, TRIDENT2, TRIDENT3 = (asics.ASICS[name] for name in ("th", "td2", "td3"))


def test_tomahawk_pauses_with_a_quarter_of_its_pool():
    # sonic-mgmt, qos_params.th.yaml: 6542 packets to the first PAUSE, 7835 to the first loss, 12 to XON.
    pool = asics.Pool(10875072, 4194112)
    group = packets.Profile(1248, 0, xoff_bytes=268736, xon_offset_bytes=2288)
    assert packets.packets_to_pause(TOMAHAWK, pool, group) == 6542
    assert packets.packets_to_ingress_drop(TOMAHAWK, pool, group) == 7835
    assert packets.packets_to_resume(TOMAHAWK, group) == 12


@pytest.mark.parametrize(("groups", "size", "xoff", "pause"),
                         [(64, 56368, 55120, 4898), (62, 64064, 62816, 4703), (24, 64064, 62816, 6004)])
def test_a_pool_without_headroom_holds_what_groups_reserve(groups, size, xoff, pause):
    pool = asics.Pool(12766208, reserved_bytes=(size,) * groups)
    assert packets.packets_to_pause(TRIDENT2, pool, packets.Profile(size, -3, xoff_bytes=xoff)) == pause


def test_size_may_hold_the_headroom_pool_and_what_is_reserved():
    assert packets.shared_cells(TRIDENT3, asics.Pool(256 * 1000, 256 * 100, (256, 300))) == 897
    assert packets.shared_cells(TOMAHAWK, asics.Pool(208 * 1000, 208 * 100, (256, 300))) == 250


@pytest.mark.parametrize(("shared", "dynamic_th", "reached"), [(1000, 0, 500), (1001, 0, 501), (900, -3, 100),
                                                               (900, 3, 800), (0, 0, 0)])
def test_a_dynamic_threshold_is_alpha_times_what_is_free(shared, dynamic_th, reached):
    assert packets.dynamic_cells(shared, dynamic_th) == reached


def test_a_static_threshold_is_limited_by_the_pool():
    pool = asics.Pool(208 * 4000, 208)
    assert packets.packets_to_egress_drop(TOMAHAWK, pool, packets.Profile(0, None, 208 * 400)) == 101
    assert packets.packets_to_egress_drop(TOMAHAWK, pool, packets.Profile(0, None, 208 * 40000)) == 1001


def test_every_board_has_one_chip():
    assert asics.of_sku("Arista-7260CX3-D108C8").name == "th2"
    assert asics.of_sku("Arista-7060CX-32S-C32").name == "th"
    assert asics.of_sku("Arista-7060X6-64PE-B-O128").name == "th5"
    assert asics.of_sku("Mellanox-SN4700-O28") is None
