"""Step labels by rule: one label for each assistant message, given by the first rule that speaks.

Errors carry on along provenance edges only (see `faults`) and stop at a correction; what no rule speaks of is masked.
"""

from __future__ import annotations

from collections.abc import Mapping

from prm.errors import ConfigError
from prm.reach.judging.judge import judge_in_full
from prm.reach.judging.judged_run import JudgedRun
from prm.reach.judging.verdict import RunVerdict
from prm.reach.labels import rules_neutral, rules_right, rules_wrong
from prm.reach.labels.grounds import Grounds
from prm.reach.labels.records import RULES_VERSION, Basis, LabelledRun, RuleLabel, labelled_trajectory
from prm.reach.labels.rule import Rule
from prm.reach.log.run import Event, Run
from prm.reach.spec.model import Spec
from prm.types import StepLabel, Trajectory

RULES: Mapping[str, Rule] = {
    "minefield": rules_wrong.minefield,
    "fabricated_ref": rules_wrong.by_fault("fabricated_ref"),
    "ungrounded_batch": rules_wrong.by_fault("ungrounded_batch"),
    "false_claim": rules_wrong.false_claim,
    "tainted": rules_wrong.tainted,
    "wrong_entity": rules_wrong.by_fault("wrong_entity"),
    "wrong_branch": rules_wrong.by_fault("wrong_branch"),
    "called_wrong": rules_wrong.by_fault("called_wrong"),
    "blind_decision": rules_wrong.by_fault("blind_decision"),
    "recovery": rules_right.recovery,
    "milestone": rules_right.by_progress("milestone"),
    "needed_question": rules_right.needed_question,
    "legal_refusal": rules_right.legal_refusal,
    "report": rules_right.report,
    "no_progress": rules_neutral.no_progress,
    "repeated_error": rules_wrong.repeated_error,
    "illegal_argument": rules_wrong.illegal_argument,
    "learnt_by_trying": rules_neutral.learnt_by_trying,
    "outside_failure": rules_neutral.outside_failure,
    "unused_read": rules_neutral.unused_read,
    "premature_stop": rules_wrong.premature_stop,
}
"""Every rule by its id, in the default order."""

DEFAULT_ORDER: tuple[str, ...] = tuple(RULES)
UNKNOWN = "unknown"
"""Stands as the rule of a step that none speaks of."""


def label_trajectory(run: Run, spec: Spec) -> tuple[Trajectory, RunVerdict]:
    """Judges a run and labels it: its trajectory with rule labels, and the verdict."""
    verdict, judged = judge_in_full(run, spec)
    return labelled_trajectory(run, label_run(verdict, judged), verdict), verdict


def label_run(verdict: RunVerdict, judged: JudgedRun) -> LabelledRun:
    """The labels of one judged run.

    Args:
        verdict: The verdict on it.
        judged: What the verdict was drawn from.

    Raises:
        ConfigError: The spec's order of rules names one that does not exist, or one twice.
    """
    order = rule_order(judged.spec)
    grounds = Grounds(verdict, judged)
    steps = tuple(_label(grounds, event, order) for event in judged.run.batches)
    source = "spec" if judged.spec.labels.order else "default"
    basis = Basis(verdict.spec, verdict.spec_sha256, RULES_VERSION, order, source)
    return LabelledRun(steps, _outcome(verdict), basis)


def rule_order(spec: Spec) -> tuple[str, ...]:
    """The order in which rules are asked: those that the spec names first, the others after in the default order.

    Raises:
        ConfigError: It names one that does not exist, or one twice.
    """
    named = spec.labels.order
    for rule in named:
        if rule not in RULES:
            raise ConfigError.at("labels.order", f"must name rules: {', '.join(DEFAULT_ORDER)}", rule, "fix the name")
        if named.count(rule) > 1:
            raise ConfigError.at("labels.order", "must name each rule once", rule, "remove it once")
    return (*named, *(rule for rule in DEFAULT_ORDER if rule not in named))


def _label(grounds: Grounds, event: Event, order: tuple[str, ...]) -> RuleLabel:
    for name in order:
        finding = RULES[name](grounds, event)
        if finding is not None:
            return RuleLabel(event.index, finding.label, name, finding.why, finding.evidence)
    return RuleLabel(event.index, None, UNKNOWN, "no rule speaks of it")


def _outcome(verdict: RunVerdict) -> StepLabel | None:
    return None if verdict.covered is None else 1 if verdict.covered else -1
