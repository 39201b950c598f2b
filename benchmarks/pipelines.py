"""Data sets and pipelines of comparisons: read, trained, kept between runs, evaluated alike."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import spacy
from spacy import util
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.training.initialize import init_nlp
from spacy.training.loop import train
from spacy.vocab import Vocab
from thinc.api import NumpyOps, set_current_ops

from spacy_decoders.readers.corpora import gold_corpus

#: Files below the folder of data; a part, such as "train" or "dev", takes the place of the braces.
EWT = "parsing/UD_English-EWT/en_ewt-ud-{}.conllu.gz"
UNER = "tagging/UNER_English-EWT/en_ewt-ud-{}.iob2"
GUM = "tagging/gum-posner/{}.tsv.gz"


def golds_of(path: Path, *, sentences: int = 10, limit: int = 0, lang: str = "en") -> list[Doc]:
    """The annotated documents of a file, so many sentences each; at most `limit` sentences."""
    columns = ["form", "-", "tag", "ent", "-"] if ".tsv" in path.suffixes else ()  # GUM's
    corpus = gold_corpus(path, columns=columns, n_sents=sentences, limit=limit)
    return [example.reference for example in corpus(spacy.blank(lang))]


def dev_of(pattern: str, options: Any, **given: Any) -> list[Doc]:
    """The documents of a data set's dev part; of its first 300 sentences in a quick pass."""
    limit = 300 if options.quick else 0
    return golds_of(options.data / pattern.format("dev"), limit=limit, **given)


def trained(config: Any, folder: Path, *, retrain: bool) -> Language:
    """Train a pipeline, or load the one that was trained before; the best step of dev.

    Parameters
    ----------
    config
        As `spacy train` takes it; what is missing is filled in.
    folder
        Where it is kept.
    retrain
        Whether to train anew.
    """
    # numpy's own BLAS: on many machines it is faster than the one thinc brings
    set_current_ops(NumpyOps(use_blis=False))
    if retrain or not (folder / "model-best").exists():
        filled = util.load_model_from_config(config, auto_fill=True).config
        nlp = init_nlp(filled)
        folder.mkdir(parents=True, exist_ok=True)
        train(nlp, folder)
    return util.load_model(folder / "model-best")


@contextmanager
def configured(pipe: Any, **options: Any) -> Iterator[None]:
    """A component with other options for a while."""
    before = {name: getattr(pipe, name) for name in options}
    pipe.configure(**options)
    try:
        yield
    finally:
        pipe.configure(**before)


def written(pipe: Any, example: Example, **options: Any) -> str:
    """The headline that a component writes, with some options changed for it."""
    with configured(pipe, **options):
        return str(pipe(example.predicted.copy())._.headline)


def bare(vocab: Vocab, gold: Doc, *, sentences: bool = False) -> Doc:
    """The tokens of a document alone, or with its sentences."""
    return Doc(
        vocab,
        words=[token.text for token in gold],
        spaces=[bool(token.whitespace_) for token in gold],
        sent_starts=[token.is_sent_start for token in gold] if sentences else None,
    )


def f_score(pairs: Iterable[Sequence[Set[Any]]]) -> float:
    """F in per cent, of pairs of sets, found and gold."""
    hits = total = 0
    for found, gold in pairs:
        hits += len(found & gold)
        total += len(found) + len(gold)
    return 200 * hits / max(1, total)


def evaluated(
    nlp: Language, golds: Sequence[Doc], keys: Sequence[str], *, sentences: bool = False
) -> dict[str, float]:
    """Scores in per cent on gold tokens, with their `sentences` or without; 0 if there is none."""
    examples = [Example(bare(nlp.vocab, gold, sentences=sentences), gold) for gold in golds]
    scores = nlp.evaluate(examples)
    return {key: 100 * (scores.get(key) or 0.0) for key in keys}
