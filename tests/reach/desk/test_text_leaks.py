"""Words must not give labels away: what makes a step wrong is its relation to earlier results."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator

import numpy as np
import pytest
from scipy.sparse import csr_matrix, hstack
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold

from prm.reach.desk.generate import generate_runs
from prm.types import Step, Trajectory

MAX_POSITION = 12


@pytest.fixture(scope="module")
def runs() -> list[Trajectory]:
    return list(generate_runs(300, seed=1))


def text_of(step: Step) -> str:
    calls = [call["function"] for call in step.message.get("tool_calls", ())]
    return " ".join([step.message["content"], *(f"{call['name']} {call['arguments']}" for call in calls)])


def results_before(run: Trajectory, step: Step) -> str:
    index, texts = step.index - 1, []
    while run.messages[index]["role"] == "tool":
        texts.append(f"{run.messages[index]['name']} {run.messages[index]['content']}")
        index -= 1
    return " ".join(texts)


def ngrams(text: str, most: int) -> Iterator[str]:
    words = re.findall(r"\w+|[^\w\s]+", text.lower())
    for size in range(1, most + 1):
        yield from {" ".join(words[i : i + size]) for i in range(len(words) - size + 1)}


def masked(text: str) -> str:
    """`text` with the ids, which are drawn anew for every scenario, made alike."""
    return re.sub(r"\b[a-z]+-\d\b", "SKU", re.sub(r"\b([TCA])\d\d\b", r"\1ID", text))


def leaks(rows: list[tuple[str, int]], least: int, share: float) -> list[tuple[str, int, float]]:
    """The phrases that occur at least `least` times and go with one label in more than `share` of them."""
    by_phrase: dict[str, Counter[int]] = defaultdict(Counter)
    for text, label in rows:
        for phrase in set(ngrams(text, 3)):
            by_phrase[phrase][label] += 1
    return [
        (phrase, label, count / labels.total())
        for phrase, labels in by_phrase.items()
        for label, count in labels.items()
        if labels.total() >= least and count / labels.total() > share
    ]


def test_no_spoken_phrase_gives_a_label_away() -> None:
    rows = [
        (masked(step.message["content"]), int(step.label or 0))
        for run in generate_runs(2000, seed=3)
        for step in run.steps
    ]
    # Of a rarer phrase 95 % go with one label by chance: nine of ten steps of some kinds are right.
    assert leaks(rows, least=40, share=0.95) == []


def test_the_leak_check_sees_a_leak() -> None:
    rows = [("all is well", 1)] * 30 + [("oh dear well", -1)] * 30
    assert ("oh", -1, 1.0) in leaks(rows, least=20, share=0.95)
    assert not [leak for leak in leaks(rows, least=20, share=0.95) if leak[0] == "well"]


def test_a_bag_of_words_is_weak_on_unseen_templates(runs: list[Trajectory]) -> None:
    steps = [(run, step) for run in runs for step in run.steps]
    labels = np.array([step.label for _, step in steps])
    groups = [run.extra["template"] for run, _ in steps]
    positions = np.eye(MAX_POSITION)[[min(step.ordinal, MAX_POSITION - 1) for _, step in steps]]
    texts = ([text_of(step) for _, step in steps], [results_before(run, step) for run, step in steps])
    predicted = np.zeros_like(labels)
    for train, test in GroupKFold(4).split(labels, labels, groups):
        features = [csr_matrix(positions)]
        for column in texts:
            words = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True, min_df=2)
            words.fit([column[i] for i in train])
            features.append(words.transform(column))
        table = hstack(features).tocsr()
        model = LogisticRegression(C=1.0, max_iter=300).fit(table[train], labels[train])
        predicted[test] = model.predict(table[test])
    always = float(np.mean(labels == 1))
    assert float(np.mean(predicted == labels)) <= always + 0.10
