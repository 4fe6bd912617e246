"""Leaving whole queries out: to mix sources by weight, and to choose queries that differ most."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from prm.data.split import Query, draw
from prm.errors import ConfigError, InputError

Embed: TypeAlias = Callable[[Sequence[str]], Any]
"""N texts → [N, D] float matrix (NumPy or SciPy sparse) with rows of length 1."""


def queries_of(queries: Collection[Query]) -> dict[str, list[Query]]:
    """Source → its queries, both in alphabetical order."""
    grouped: dict[str, list[Query]] = {}
    for query in sorted(queries, key=lambda query: (query.source, query.name)):
        grouped.setdefault(query.source, []).append(query)
    return grouped


def mix_by_weight(queries: Collection[Query], weights: Mapping[str, float], seed: int) -> set[str]:
    """Names of the queries to keep so that the sources' numbers of trajectories are as the weights.

    The largest such mix: the source that is scarcest for its weight is kept whole, from the others whole
    queries are left out at random until they are within their share.

    Raises:
        ConfigError: A source has no weight, a weight no source, or a weight is not above 0.
    """
    by_source = queries_of(queries)
    if set(weights) != set(by_source):
        rule = f"every source must have one weight; sources are {', '.join(by_source)}"
        raise ConfigError.at("--weight", rule, sorted(weights), "name each source once")
    if any(not (math.isfinite(weight) and weight > 0) for weight in weights.values()):
        raise ConfigError.at("--weight", "must be above 0", dict(weights), "leave the source's file out instead")
    sizes = {source: sum(query.trajectories for query in members) for source, members in by_source.items()}
    unit = min(sizes[source] / weights[source] for source in by_source)
    kept: set[str] = set()
    for source, members in by_source.items():
        kept |= _take_trajectories(members, unit * weights[source] + 1e-9, seed)
    return kept


def _take_trajectories(queries: Sequence[Query], target: float, seed: int) -> set[str]:
    """Names of random queries with at most `target` trajectories together; at least one query."""
    kept: set[str] = set()
    total = 0
    for query in sorted(queries, key=lambda query: draw(query.name, seed)):
        if not kept or total + query.trajectories <= target:
            kept.add(query.name)
            total += query.trajectories
    return kept


def choose_diverse(queries: Collection[Query], texts: Mapping[str, str], per_source: int, embed: Embed) -> set[str]:
    """Names of `per_source` queries of each source that lie far apart by their texts' embeddings.

    Raises:
        InputError: A source has fewer queries.
    """
    chosen: set[str] = set()
    for source, members in queries_of(queries).items():
        if len(members) < per_source:
            rule = f"source {source} must have at least {per_source} queries"
            raise InputError.at("--queries-per-source", rule, len(members), "choose a smaller number")
        embeddings = embed([texts[query.name] for query in members])
        chosen |= {members[i].name for i in farthest_points(embeddings, per_source)}
    return chosen


def farthest_points(embeddings: Any, count: int) -> list[int]:
    """Row numbers of greedy k-center sampling (Gonzalez 1985) by cosine distance.

    Starts at the row nearest to the mean; each next row is the one farthest from those chosen; ties go to the
    lower row number. No randomness.

    Args:
        embeddings: `[N, D]` float, rows of length 1 (or 0), dense or sparse.
        count: How many, at most N.
    """
    mean = np.asarray(embeddings.mean(axis=0)).ravel()
    chosen = [int(np.argmax(np.asarray(embeddings @ mean).ravel()))]
    nearest = _similarity(embeddings, chosen[0])
    while len(chosen) < count:
        # Rounded, so that sums in another order do not break ties in another way.
        candidates = np.round(nearest, 9)
        candidates[chosen] = np.inf
        chosen.append(int(np.argmin(candidates)))
        nearest = np.maximum(nearest, _similarity(embeddings, chosen[-1]))
    return chosen


def _similarity(embeddings: Any, row: int) -> NDArray[np.float64]:
    similarity = embeddings @ embeddings[row].T
    dense = similarity.toarray() if hasattr(similarity, "toarray") else similarity
    return np.asarray(dense, dtype=np.float64).ravel()


def embed_by_tfidf(texts: Sequence[str]) -> Any:
    """TF-IDF of words and word pairs, `[N, D]` sparse, rows of length 1 (0 for a text without words)."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    vectorizer = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True, token_pattern=r"(?u)\w+")
    # One word more, so that texts without any word do not make an empty vocabulary; its column has no entry.
    return vectorizer.fit([*texts, "nothing"]).transform(texts)


def embed_by_model(model: str) -> Embed:
    """An embedder by a sentence-transformers model.

    Raises:
        ConfigError: sentence-transformers is not installed, or the model cannot be loaded.
    """
    try:
        from sentence_transformers import SentenceTransformer
    except ImportError:
        todo = "run `pip install 'agent-prm[embeddings]'`, or leave --embedding-model out to use TF-IDF"
        raise ConfigError.at("--embedding-model", "needs the package sentence-transformers", model, todo) from None
    try:
        loaded = SentenceTransformer(model)
    except (OSError, ValueError) as error:
        shown = str(error).splitlines()[0]
        raise ConfigError.at("--embedding-model", f"must be loadable ({shown})", model, "check the name") from None

    def embed(texts: Sequence[str]) -> Any:
        return loaded.encode(list(texts), normalize_embeddings=True)

    return embed
