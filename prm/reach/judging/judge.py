"""Run + spec → verdict. Reads only: it never steers the agent, and it never looks at what a run was made to show."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from prm.reach.judging.diagnosis import diagnose
from prm.reach.judging.judged_run import JudgedRun
from prm.reach.judging.legal_path import legal_path
from prm.reach.judging.logic import Truth, every, negation, some
from prm.reach.judging.milestones import milestone_verdicts
from prm.reach.judging.minefields import MinefieldVerdict, minefield_verdicts
from prm.reach.judging.missing_information import missing_information
from prm.reach.judging.patterns import patterns_of
from prm.reach.judging.provenance import trace
from prm.reach.judging.sweep import sweep
from prm.reach.judging.verdict import Diagnosis, MilestoneVerdict, RunVerdict
from prm.reach.log.run import Run
from prm.reach.spec.model import Spec


def judge_run(run: Run, spec: Spec) -> RunVerdict:
    """What the spec says of one run, in time near-linear in its length.

    Args:
        run: In normal form; its results opened with the envelope of the spec.
        spec: What to hold it against.

    Returns:
        Verdicts, diagnoses and their evidence. What a missing result leaves open is unknown, never an accusation.
    """
    return judge_in_full(run, spec)[0]


def judge_in_full(run: Run, spec: Spec) -> tuple[RunVerdict, JudgedRun]:
    """`judge_run`, and what its verdict was drawn from: step labels read that too."""
    provenance = trace(run, spec)
    patterns = patterns_of(spec)
    swept = sweep(run, spec, patterns, provenance)
    milestones = milestone_verdicts(spec, patterns, swept)
    minefields = minefield_verdicts(spec, swept)
    path = legal_path(spec, swept, milestones)
    judged = JudgedRun(run, spec, provenance, milestones, minefields, swept, path)
    return _verdict(judged, diagnose(judged)), judged


def _verdict(judged: JudgedRun, diagnoses: tuple[Diagnosis, ...]) -> RunVerdict:
    run, spec = judged.run, judged.spec
    refs = [leaf for leaf in judged.provenance.leaves if leaf.kind == "ref"]
    reached, safe = all_reached(judged.milestones), no_minefield(judged.minefields)
    success = None if run.outcome is None else run.outcome == 1
    return RunVerdict(
        identity=run.trajectory.identity,
        scenario=run.scenario,
        template=run.template,
        run=run.run,
        agent=run.agent,
        variant=run.variant,
        seed=run.seed,
        spec=spec.name,
        spec_sha256=spec.sha256,
        calls=len(run.calls),
        end=run.end,
        milestones=judged.milestones,
        minefields={name: verdict.hit for name, verdict in judged.minefields.items()},
        diagnoses=diagnoses,
        missing_information=missing_information(spec, judged.swept),
        fabricated_leaves=sum(leaf.fabricated is True for leaf in refs),
        ref_leaves=len(refs),
        unknown_leaves=sum(leaf.fabricated is None for leaf in refs),
        final_success=success,
        all_reached=reached,
        covered=every((reached, safe)),
        legal_success=every((success, safe)),
        habit=_habit(run),
        notes=run.notes,
    )


def all_reached(milestones: Iterable[MilestoneVerdict]) -> Truth:
    """Whether every required milestone that applies is reached; None where one is unscorable and none is open."""
    standings = [m.standing for m in milestones if m.required and m.standing != "n/a"]
    return every(None if standing == "unscorable" else standing == "reached" for standing in standings)


def no_minefield(minefields: Mapping[str, MinefieldVerdict]) -> Truth:
    """Whether no minefield was hit; None where one may have been and none was."""
    return negation(some(verdict.hit for verdict in minefields.values()))


def _habit(run: Run) -> str | None:
    """The scripted habit that the record names; it is carried along, and no rule sees it."""
    about = run.trajectory.extra.get("reach")
    habit = about.get("habit") if isinstance(about, Mapping) else None
    return habit if isinstance(habit, str) else None
