"""What is a mutant? A rule set that is wrong in one place, or a rule's function that is.

Some mistakes are a field of the rule set (``change``), some sit inside a function that a rule module
calls by name (``patches``).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from oracle.rules.rule_set import RuleSet
    from tests.oracle.mutants.killers import Killer


def same(rules: RuleSet) -> RuleSet:
    """Change nothing."""
    return rules


def with_fields(**fields: Any) -> Callable[[RuleSet], RuleSet]:  # noqa: ANN401 - as dataclasses.replace
    """Replace fields of the rule set."""
    return lambda rules: replace(rules, **fields)


def with_truncation(**fields: Any) -> Callable[[RuleSet], RuleSet]:  # noqa: ANN401 - as dataclasses.replace
    """Replace fields of the truncation."""
    return lambda rules: replace(rules, truncation=replace(rules.truncation, **fields))


def with_election(**fields: Any) -> Callable[[RuleSet], RuleSet]:  # noqa: ANN401 - as dataclasses.replace
    """Replace reactions of the controller."""
    return lambda rules: replace(rules, election=replace(rules.election, **fields))


def with_delivery(**fields: Any) -> Callable[[RuleSet], RuleSet]:  # noqa: ANN401 - as dataclasses.replace
    """Replace how decisions travel."""
    return lambda rules: replace(rules, delivery=replace(rules.delivery, **fields))


def with_requests(**fields: Any) -> Callable[[RuleSet], RuleSet]:  # noqa: ANN401 - as dataclasses.replace
    """Replace what brokers answer and send."""
    return lambda rules: replace(rules, requests=replace(rules.requests, **fields))


@dataclass(frozen=True, slots=True)
class Mutant:
    """A mistake in one rule.

    Attributes:
        name: what the rule's docstring calls it.
        rule: the rule of ``oracle.rules`` that it is a mistake in, by whose docstring tells of it: ``isr.KIP_497``
            stands below that rule, ``reassignment`` at the head of its module.
        wrong: what is wrong, in words.
        killed_by: what notices it.
        change: the mistake as a change of the rule set.
        patches: the mistake as wrong functions, by the name they are looked up with.
    """

    name: str
    rule: str
    wrong: str
    killed_by: Killer
    change: Callable[[RuleSet], RuleSet] = same
    patches: dict[str, Any] = field(default_factory=dict)
