"""Which published models can be searched by name? The six modules, and each variant that leaves one rule out."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from oracle.explorer.subject import Subject
from oracle.explorer.symmetry import Symmetry
from oracle.explorer.tabulated import Tabulated
from oracle.published import async_isr, invariants, showing, symmetries
from oracle.published.ablations import ABLATIONS
from oracle.published.layout import Layout
from oracle.published.modules import MODULES
from oracle.published.specification import specification

if TYPE_CHECKING:
    from oracle.published.constants import Constants
    from oracle.published.module import Module

ROWS = {module.name: module for module in (*MODULES, *ABLATIONS)}
WITHOUT_MAXIMAL_ISR = f"{async_isr.NAME}/without-maximal-isr"
PUBLISHED = (*(module.name for module in MODULES), async_isr.NAME)
NAMES = (*ROWS, async_isr.NAME, WITHOUT_MAXIMAL_ISR)


def subject(name: str, constants: Constants, *, with_symmetry: bool = False) -> Subject[int]:
    """Return a published model or a variant of one, ready to be searched.

    Args:
        name: one of NAMES.
        constants: its bounds.
        with_symmetry: whether states that differ only in brokers' names are one.
    """
    if name in ROWS:
        return _replication(ROWS[name], constants, with_symmetry=with_symmetry)
    return _async_isr(name, constants, with_symmetry=with_symmetry)


def _replication(module: Module, constants: Constants, *, with_symmetry: bool) -> Subject[int]:
    model, layout = Tabulated(specification(module, constants)), Layout(constants)
    if with_symmetry:
        model.key = Symmetry(model.numberings, *symmetries.of_replication(constants)).key
    return Subject(
        model=model,
        constants=asdict(constants),
        invariants=(model.invariant(invariants.WEAK_ISR), model.invariant(invariants.STRONG_ISR)),
        further=tuple(map(model.invariant, set(model.factored.invariants) & {invariants.FOLLOWER_IS_PREFIX})),
        lines=lambda state: showing.replication_lines(showing.replication_value(layout, model.parts(state))),
        value=lambda state: showing.replication_value(layout, model.parts(state)),
    )


def _async_isr(name: str, constants: Constants, *, with_symmetry: bool) -> Subject[int]:
    counted = async_isr.known_isr if name == WITHOUT_MAXIMAL_ISR else async_isr.maximal_isr
    model = Tabulated(async_isr.async_isr(constants, name, counted))
    if with_symmetry:
        model.key = Symmetry(model.numberings, *symmetries.of_async_isr(constants)).key
    return Subject(
        model=model,
        constants=asdict(constants),
        invariants=(model.invariant(async_isr.VALID_HIGH_WATERMARK),),
        lines=lambda state: showing.async_isr_lines(showing.async_isr_value(model.parts(state))),
        value=lambda state: showing.async_isr_value(model.parts(state)),
    )
