"""The summary of several judges: who leads, who beats always +1, what they have in common."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from statistics import median

from prm.evaluation.significance import LEVEL
from prm.report.cells import counted, decimal
from prm.report.judged import (
    ALWAYS_SHOWN,
    LABEL_KEYS,
    Difference,
    Judged,
    Metrics,
    always_positive,
    baselines,
    estimate,
    label_shares,
    paired,
    value_or,
    verdict_of,
    versus_always,
)
from prm.report.measures import MEASURES
from prm.report.phrases import (
    CLASS_WORDS,
    are,
    change,
    interval,
    listed,
    of_all,
    p_words,
    percent,
    points,
    sentence,
    supported,
    with_bounds,
)
from prm.report.tables.calibration import calibrated, part_of
from prm.report.tables.comparison import ensembles_table
from prm.report.tables.selection import selected
from prm.report.words_one_judge import protocol_sentences, selection


def sentences_of_several(metrics: Metrics, judges: Sequence[Judged]) -> Iterator[str]:
    """What is to be said of several judges, most important first.

    Args:
        metrics: metrics.json.
        judges: Best StepAcc first.
    """
    yield from _leader(metrics, judges, "step_acc", "labels {} of the steps right, the most of")
    yield from _against_always(metrics, judges, "step_acc")
    yield from _against_fitted(metrics, judges)
    yield from _leader(
        metrics, judges, "first_err_acc_strict", "names the first error exactly in {} of runs, the most of"
    )
    yield from _against_always(metrics, judges, "first_err_acc_strict")
    yield from _hardest_class(judges)
    yield from _positive_shares(metrics, judges)
    yield from _correlation(metrics)
    yield from _selection(judges)
    yield from _ensembles(metrics)
    yield from _confidence(metrics)
    yield from protocol_sentences(metrics)


def _leader(metrics: Metrics, judges: Sequence[Judged], key: str, does: str) -> Iterator[str]:
    """The highest value, and whether it can be told apart from the next one."""
    known = [judge for judge in judges if judge.overall.get(key) is not None]
    known.sort(key=lambda judge: -value_or(judge.overall[key], 0.0))
    if len(known) < 2:
        return
    first, second = known[:2]
    found = estimate(first.overall, key)
    text = with_bounds(f"{first.shown} {does.format(percent(found.value))} {len(known)} judges", found)
    pair = paired(metrics, key).get((first.name, second.name))
    if pair is None or pair.difference.value is None:
        yield f"{text}; {second.shown} follows with {percent(second.overall[key])}."
        return
    verdict = supported(pair)
    if verdict == "better":
        yield f"{text}; its lead over {second.shown} is {points(pair.difference.value)}, {interval(pair.difference)}."
    elif verdict is None:
        yield f"{text}; {second.shown} follows ({change(pair.difference)}, without an interval)."
    else:
        yield f"{text}; it is not distinguishable from {second.shown} ({change(pair.difference)})."


def _against_always(metrics: Metrics, judges: Sequence[Judged], key: str) -> Iterator[str]:
    """How many beat always +1, are worse, or cannot be told apart."""
    line = always_positive(metrics)
    floor = None if line is None else line.overall.get(key)
    if floor is None:
        return
    found = [difference for judge in judges if (difference := versus_always(metrics, judge, key)) is not None]
    verdicts = Counter(supported(difference) for difference in found)
    yardstick = f"{ALWAYS_SHOWN} ({percent(floor)})"
    if verdicts[None] == len(found):
        above = sum(value_or(difference.difference.value, 0.0) > 0 for difference in found)
        said = sentence(of_all(above, len(found), "has", "have"))
        yield f"{said} a higher {MEASURES[key].title} than {yardstick}, without intervals."
        return
    how = f"corrected for {len(found)} tests" if all(one.p_holm is not None for one in found) else "each tested alone"
    beat = of_all(verdicts["better"], len(found), "beats", "beat")
    rest = [are(verdicts[name], name) for name in ("worse", "not distinguishable") if verdicts[name]]
    others = f"; {', '.join(rest)}" if rest else ""
    yield f"In {MEASURES[key].title} {beat} {yardstick}{_by_most(found)}{others} ({how})."


def _by_most(found: Sequence[Difference]) -> str:
    better = [one.difference for one in found if supported(one) == "better"]
    if not better:
        return ""
    most = max(better, key=lambda estimate: value_or(estimate.value, 0.0))
    return f", the best by {points(most.value or 0.0)}, {interval(most)}"


def _against_fitted(metrics: Metrics, judges: Sequence[Judged]) -> Iterator[str]:
    """How many beat the best fitted baseline in StepAcc."""
    fitted = [one for one in baselines(metrics) if one.shown != ALWAYS_SHOWN]
    if not fitted:
        return
    found = paired(metrics, "step_acc")
    compared = [found[pair] for judge in judges if (pair := (judge.name, fitted[0].name)) in found]
    better = sum(supported(difference) == "better" for difference in compared)
    if any(supported(difference) is not None for difference in compared):
        floor = percent(fitted[0].overall["step_acc"])
        beat = sentence(of_all(better, len(compared), "beats", "beat"))
        yield f"{beat} {fitted[0].shown} ({floor}) in StepAcc, each tested alone."


def _hardest_class(judges: Sequence[Judged]) -> Iterator[str]:
    recalls = [
        {key: value for key in LABEL_KEYS if (value := judge.overall["recall"].get(key)) is not None}
        for judge in judges
    ]
    recalls = [recall for recall in recalls if len(recall) > 1]
    if not recalls:
        return
    hardest = Counter(min(recall, key=lambda key: recall[key]) for recall in recalls)
    key, number = hardest.most_common(1)[0]
    middle = median(recall[key] for recall in recalls if key in recall)
    yield (
        f"The hardest steps are the {CLASS_WORDS[key]} ones for {number} of {len(recalls)} judges; the median recall "
        f"of them is {percent(middle)}."
    )


def _positive_shares(metrics: Metrics, judges: Sequence[Judged]) -> Iterator[str]:
    gold = label_shares(metrics["gold"])["1"]
    shares = {judge.shown: share for judge in judges if (share := judge.overall["label_share"].get("1")) is not None}
    if gold is None or not shares:
        return
    more, most = sum(share > gold for share in shares.values()), max(shares, key=lambda name: shares[name])
    text = f"{sentence(of_all(more, len(shares), 'says', 'say'))} +1 more often than the annotators ({percent(gold)})"
    yield f"{text}, {most} most often ({percent(shares[most])})." if more else f"{text}."


def _correlation(metrics: Metrics) -> Iterator[str]:
    found = metrics["correlation"]
    r, p = found["pearson_r"], found["p_value"]
    if r is None or p is None:
        return
    numbers = f"r = {decimal(r, 2)}, {p_words(p)}, {counted(found['n'], 'judge')}"
    if p >= LEVEL:
        yield f"No correlation of StepAcc with outcome accuracy can be told from chance ({numbers})."
    elif r > 0:
        yield f"Judges that are right about more steps are right about more outcomes ({numbers})."
    else:
        yield f"Judges that are right about more steps are right about fewer outcomes ({numbers})."


def _selection(judges: Sequence[Judged]) -> Iterator[str]:
    gains = {
        judge.name: selected(found, "gain")
        for judge in judges
        if (found := judge.block["best_of_n"].get("chosen") or judge.block["best_of_n"]["selectors"].get("two_stage"))
    }
    if not gains:
        return
    best = max(
        (judge for judge in judges if judge.name in gains), key=lambda one: value_or(gains[one.name].value, -1.0)
    )
    yield from selection(best, f"{best.shown} chooses best: taking")
    verdicts = Counter(verdict_of(gain) for gain in gains.values())
    if verdicts[None] < len(gains):
        choose = sentence(of_all(verdicts["better"], len(gains), "chooses", "choose"))
        yield f"{choose} distinguishably better than a random pick."


def _ensembles(metrics: Metrics) -> Iterator[str]:
    table = ensembles_table(metrics)
    if table is None:
        return
    place = {column.title: number for number, column in enumerate(table.columns)}
    for row in table.rows:
        over = row[place["StepAcc over it"]]
        if over is None or isinstance(over, (str, int, float)) or over.value is None:
            continue
        best = row[place["best member"]]
        verdict = verdict_of(over)
        how = "is not distinguishable" if verdict == "not distinguishable" else "differs"
        yield f"The ensemble {row[0]} {how} in StepAcc from {best}, its best member ({change(over)})."


def _confidence(metrics: Metrics) -> Iterator[str]:
    found = {
        judge.shown: part_of(judge, "steps")["ece"] for judge in calibrated(metrics, "steps") if not judge.is_baseline
    }
    if not found:
        return
    ranked = sorted(found, key=lambda name: found[name])
    shown = [f"{name} by {points(found[name])}" for name in ranked]
    yield f"Stated confidence is off on average (ECE): {listed(shown)}."
