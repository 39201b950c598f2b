"""Simulate annotation: how fast a pipeline learns if the texts to annotate are chosen."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import typer
from numpy.typing import NDArray
from spacy import util
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from uncertainty import Measure, prepared, uncertainty

from spacy_decoders import ProblemError

Corpus = Callable[[Language], Iterable[Example]]

#: In the order of a shuffled pool, for comparison.
RANDOM = "random"


class Round(NamedTuple):
    """What a pipeline scores once a share of a pool has been annotated.

    Attributes
    ----------
    share
        The share of the pool's words that was asked for.
    texts, words
        How many were annotated.
    score
        The metric on dev, from 0 to 1.
    """

    share: float
    texts: int
    words: int
    score: float


def simulate(
    config: Any,
    pool: Corpus,
    dev: Corpus,
    by: Measure | str,
    *,
    shares: Sequence[float] = (0.05, 0.1, 0.2, 0.3),
    metric: str = "ents_f",
    epochs: int = 5,
    seed: int = 0,
) -> Iterator[Round]:
    """Let an annotated pool be annotated bit by bit, those texts first that a pipeline asks for.

    The first share is drawn by chance. After each round a new pipeline is trained on all that has
    been annotated, and chooses among the rest.

    Parameters
    ----------
    config
        The config of the pipeline, without interpolation left.
    pool, dev
        Readers of the annotated pool, one sentence or text each, and of what scores are measured
        on.
    by
        A measure of ``uncertainty``, or "random".
    shares
        The shares of the pool's words that are annotated after each round, growing.
    metric
        One of the scores of ``nlp.evaluate``.
    epochs, seed
        Passes over the annotated texts, and the seed of chance.

    Yields
    ------
    Round
        One for each share.

    Raises
    ------
    ProblemError
        If the shares do not grow from above 0 to 1, or the metric is not among the scores.
    """
    if not shares or list(shares) != sorted(set(shares)) or not 0.0 < shares[0] <= shares[-1] <= 1:
        raise ProblemError(f"shares: expected growing shares above 0, up to 1; got {shares}.")
    reading = util.load_model_from_config(config, auto_fill=True)
    words = np.array([len(example.reference) for example in pool(reading)])
    order: list[int] = np.random.default_rng(seed).permutation(len(words)).tolist()
    chosen: list[int] = []
    nlp: Language | None = None
    for share in shares:
        left = [place for place in order if place not in set(chosen)]
        if nlp is not None and by != RANDOM:
            left = _least_sure_first(nlp, pool, left, by)
        chosen = _worth([*chosen, *left], words, share)
        nlp = learned(config, pool, chosen, epochs=epochs, seed=seed)
        scores = nlp.evaluate(list(dev(nlp)))
        if metric not in scores:
            raise ProblemError(f"metric: {metric!r} is none of {', '.join(sorted(scores))}.")
        yield Round(share, len(chosen), int(words[chosen].sum()), float(scores[metric] or 0.0))


def learned(
    config: Any, pool: Corpus, chosen: Sequence[int], *, epochs: int = 5, seed: int = 0
) -> Language:
    """Train a new pipeline on some texts of a pool, without a look at dev."""
    util.fix_random_seed(seed)
    nlp = util.load_model_from_config(config, auto_fill=True)
    wanted = set(chosen)
    examples = [example for place, example in enumerate(pool(nlp)) if place in wanted]
    training: Any = util.registry.resolve(nlp.config["training"])
    optimizer = training["optimizer"]
    nlp.initialize(lambda: examples, sgd=optimizer)
    rng = np.random.default_rng(seed)
    for _ in range(epochs):
        order = rng.permutation(len(examples)).tolist()
        for batch in training["batcher"]([examples[place] for place in order]):
            nlp.update(batch, sgd=optimizer, drop=training["dropout"])
    return nlp


def _least_sure_first(nlp: Language, pool: Corpus, left: list[int], by: str) -> list[int]:
    names = prepared(nlp)
    wanted = set(left)
    places = sorted(wanted)
    docs: Iterator[Doc] = nlp.pipe(
        example.predicted for place, example in enumerate(pool(nlp)) if place in wanted
    )
    scores = {
        place: uncertainty(doc, names, by)  # type: ignore[arg-type]
        for place, doc in zip(places, docs, strict=True)
    }
    return sorted(left, key=lambda place: -scores[place])


def _worth(order: list[int], words: NDArray[np.int64], share: float) -> list[int]:
    """The first of some texts that have a share of all words."""
    cut = int(np.searchsorted(np.cumsum(words[order]), share * words.sum() - 1e-9)) + 1
    return order[:cut]


def main(
    config: Path,
    pool: Path,
    dev: Path,
    output: Path,
    measures: Annotated[str, typer.Option(help="What sentences are chosen by.")] = "share",
    epochs: Annotated[int, typer.Option(help="Passes over what was annotated.")] = 5,
) -> None:
    """Write for each measure what the rounds scored, in shares of the score of all data."""
    overrides = {"paths.train": str(pool), "paths.dev": str(dev)}
    filled = util.load_config(config, overrides=overrides, interpolate=True)
    readers = util.registry.resolve(filled["corpora"])
    given = {"pool": readers["train"], "dev": readers["dev"], "epochs": epochs}
    [full] = simulate(filled, by=RANDOM, shares=[1.0], **given)
    report = {"full": full._asdict()}
    print(f"all: F {full.score:.3f}, {full.words:,} words", flush=True)
    for by in [RANDOM, *measures.split()]:
        report[by] = []
        for of in simulate(filled, by=by, **given):
            reached = of.score / full.score if full.score else 0.0
            report[by].append({**of._asdict(), "of_full": reached})
            print(
                f"{by}, {of.share:.0%} of the words: F {of.score:.3f}, {reached:.1%}", flush=True
            )
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(json.dumps(report, indent=1) + "\n", encoding="utf8")


if __name__ == "__main__":
    typer.run(main)
