"""Which published models can be searched by name? The six modules, and each variant that leaves one rule out."""

from __future__ import annotations

from dataclasses import asdict, replace

from oracle.explorer.model import SearchSubject
from oracle.explorer.symmetry import Symmetry
from oracle.explorer.tabulated import Tabulated
from oracle.published import async_isr, state_values, symmetries
from oracle.published.module import Constants, Module
from oracle.published.parts import StateLayout
from oracle.published.specification import FOLLOWER_IS_PREFIX, STRONG_ISR, WEAK_ISR, specification
from oracle.published.truncations import cuts_by_kip_101, cuts_by_kip_279, cuts_in_two_ways, cuts_to_high_watermark
from oracle.rules import fencing, isr

KAFKA_TRUNCATE_TO_HIGH_WATERMARK = Module(
    name="KafkaTruncateToHighWatermark",
    cuts=cuts_to_high_watermark,
    fences_truncation=False,
    serves=fencing.serves_any_epoch,
    counts=fencing.serves_any_epoch,
    acknowledges=fencing.serves_any_epoch,
    joins=isr.joins_at_high_watermark,
)
KIP_101 = replace(KAFKA_TRUNCATE_TO_HIGH_WATERMARK, name="Kip101", cuts=cuts_by_kip_101)
KIP_279 = replace(KIP_101, name="Kip279", cuts=cuts_in_two_ways)
KIP_320_FIRST_TRY = replace(
    KIP_279, name="Kip320FirstTry", cuts=cuts_by_kip_279, joins=isr.joins_at_epoch_start, checks_last_epoch=True
)
KIP_320 = Module(
    name="Kip320",
    cuts=cuts_by_kip_279,
    fences_truncation=True,
    serves=fencing.is_served,
    counts=fencing.is_served,
    acknowledges=fencing.is_served,
    joins=isr.joins_at_epoch_start,
    tells_reasons_apart=True,
)
MODULES = (KAFKA_TRUNCATE_TO_HIGH_WATERMARK, KIP_101, KIP_279, KIP_320_FIRST_TRY, KIP_320)


# Which single rule of Kip320 can be left out? None: each row here leaves one out, and loses records.
#
# `without-maximal-isr` is AsyncIsr's. With unclean election StrongIsr cannot hold, whatever the rules; what must still
# hold is that a follower's log is a prefix of its leader's in the same epoch (FollowerIsPrefix).


UNCLEAN = replace(KIP_320, name="Kip320/with-unclean-election", elects_uncleanly=True)


def _without(what: str, **rules: object) -> Module:
    return replace(KIP_320, name=f"Kip320/{what}", **rules)  # type: ignore[arg-type]


TO_HIGH_WATERMARK = _without("truncates-to-high-watermark", cuts=cuts_to_high_watermark)
BY_KIP_101 = _without("looks-up-by-kip-101", cuts=cuts_by_kip_101)
BY_KIP_101_WITH_ENTRY = _without(
    "looks-up-by-kip-101-with-epoch-entry", cuts=cuts_by_kip_101, enters_epoch_on_election=True
)
ABLATIONS = (
    TO_HIGH_WATERMARK,
    BY_KIP_101,
    BY_KIP_101_WITH_ENTRY,
    _without("without-truncation-fence", cuts=cuts_in_two_ways, fences_truncation=False),
    _without("joins-at-high-watermark", joins=isr.joins_at_high_watermark),
    _without("without-fetch-fence", serves=fencing.serves_any_epoch),
    _without("without-high-watermark-fence", counts=fencing.serves_any_epoch),
    UNCLEAN,
    replace(BY_KIP_101, name="Kip320/looks-up-by-kip-101-with-unclean-election", elects_uncleanly=True),
    replace(
        BY_KIP_101_WITH_ENTRY,
        name="Kip320/looks-up-by-kip-101-with-epoch-entry-and-unclean-election",
        elects_uncleanly=True,
    ),
)


ROWS = {module.name: module for module in (*MODULES, *ABLATIONS)}
WITHOUT_MAXIMAL_ISR = f"{async_isr.NAME}/without-maximal-isr"
PUBLISHED = (*(module.name for module in MODULES), async_isr.NAME)
NAMES = (*ROWS, async_isr.NAME, WITHOUT_MAXIMAL_ISR)


def subject(name: str, constants: Constants, *, with_symmetry: bool = False) -> SearchSubject[int]:
    """Return a published model or a variant of one, ready to be searched.

    Args:
        name: one of NAMES.
        constants: its bounds.
        with_symmetry: whether states that differ only in brokers' names are one.
    """
    if name in ROWS:
        return _replication(ROWS[name], constants, with_symmetry=with_symmetry)
    return _async_isr(name, constants, with_symmetry=with_symmetry)


def _replication(module: Module, constants: Constants, *, with_symmetry: bool) -> SearchSubject[int]:
    model, layout = Tabulated(specification(module, constants)), StateLayout(constants)
    if with_symmetry:
        model.key = Symmetry(model.numberings, *symmetries.of_replication(constants)).key
    return SearchSubject(
        model=model,
        constants=asdict(constants),
        invariants=(model.invariant(WEAK_ISR), model.invariant(STRONG_ISR)),
        further=tuple(map(model.invariant, set(model.factored.invariants) & {FOLLOWER_IS_PREFIX})),
        lines=lambda state: state_values.replication_lines(state_values.replication_value(layout, model.parts(state))),
        value=lambda state: state_values.replication_value(layout, model.parts(state)),
    )


def _async_isr(name: str, constants: Constants, *, with_symmetry: bool) -> SearchSubject[int]:
    counted = async_isr.known_isr if name == WITHOUT_MAXIMAL_ISR else async_isr.maximal_isr
    model = Tabulated(async_isr.async_isr(constants, name, counted))
    if with_symmetry:
        model.key = Symmetry(model.numberings, *symmetries.of_async_isr(constants)).key
    return SearchSubject(
        model=model,
        constants=asdict(constants),
        invariants=(model.invariant(async_isr.VALID_HIGH_WATERMARK),),
        lines=lambda state: state_values.async_isr_lines(state_values.async_isr_value(model.parts(state))),
        value=lambda state: state_values.async_isr_value(model.parts(state)),
    )
