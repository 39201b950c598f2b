"""Our components trained to say what a pipeline says: its labels, in less time, certified."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import spacy
from spacy.language import Language
from spacy.tokens import Doc, DocBin
from spacy.training import Example
from spacy.training.initialize import init_nlp
from spacy.training.loop import train
from thinc.api import Config

from spacy_decoders import ProblemError

__all__ = ["Distilled", "distil", "student_config"]

#: What each part of the student learns, and the annotation that the teacher must set for it.
PARTS = {"tagger": "TAG", "parser": "DEP", "entities": "ENT_IOB"}

#: The score that counts of each part.
WEIGHTS = {"tagger": "tag_acc", "parser": "dep_las", "entities": "ents_f"}
#: Components of the teacher that go on the student's annotation: they are taken over.
KEPT = ("attribute_ruler", "lemmatizer")

#: Every so many texts one is held out.
HELD_OUT = 10

#: How often a pipeline is timed; the shortest time counts.
TIMES = 3


@dataclass(frozen=True)
class Distilled:
    """How the student compares with its teacher, on the texts that were held out.

    Attributes
    ----------
    parts
        What the student learned.
    texts, held_out
        How many texts it learned from, and on how many it was compared.
    agreement
        spaCy's scores of the student, with what the teacher says as gold: `tag_acc`, `dep_uas`,
        `dep_las`, `sents_f`, `ents_f`; and `certified`, the share of what is proven optimal.
    teacher_words, student_words
        Words a second that the whole pipelines read, in one process.
    teacher_parts, student_parts
        Words a second without the components that are taken over as they are.
    """

    parts: tuple[str, ...]
    texts: int
    held_out: int
    agreement: dict[str, float]
    teacher_words: float
    student_words: float
    teacher_parts: float
    student_parts: float

    @property
    def speedup(self) -> float:
        """How many times as many words a second the student reads."""
        return self.student_words / self.teacher_words

    @property
    def speedup_of_parts(self) -> float:
        """The same without the components that are taken over."""
        return self.student_parts / self.teacher_parts


def distil(
    pipeline: str | Path,
    texts: Iterable[str],
    output: Path,
    *,
    parts: Sequence[str] = (),
    config: Config | None = None,
    max_steps: int = 3000,
    use_gpu: int = -1,
) -> Distilled:
    """Annotate texts with a pipeline, train our components on that, and compare the two.

    Parameters
    ----------
    pipeline
        The teacher: any pipeline that ``spacy.load`` loads.
    texts
        Raw texts such as those that the student is meant for; thousands of them.
    output
        A folder. It gets ``corpus/``, what the teacher said; ``model-last`` and ``model-best``,
        as of ``spacy train``; ``student``, the pipeline to use; ``config.cfg`` and
        ``report.json``.
    parts
        Of "tagger", "parser", "entities"; none for all that the teacher annotates.
    config
        A training config of one's own, whose ``paths.train`` and ``paths.dev`` are set; None
        for :func:`student_config`.
    max_steps
        Of training.
    use_gpu
        The GPU to train on; -1 for none.

    Raises
    ------
    ProblemError
        If there are too few texts, or the teacher does not annotate a part.
    """
    given = [text for text in texts if text.strip()]
    if len(given) < 2 * HELD_OUT:
        raise ProblemError(
            f"texts: {len(given)} are too few; give {2 * HELD_OUT} at least, and thousands for "
            "work."
        )
    teacher = spacy.load(pipeline)
    docs = list(teacher.pipe(given))
    chosen = _parts_of(docs, parts)
    held_out, learned = docs[::HELD_OUT], [d for i, d in enumerate(docs) if i % HELD_OUT]
    paths = {"train": output / "corpus" / "train.spacy", "dev": output / "corpus" / "dev.spacy"}
    paths["train"].parent.mkdir(parents=True, exist_ok=True)
    for path, part in zip(paths.values(), (learned, held_out), strict=True):
        DocBin(docs=part).to_disk(path)
    if config is None:
        config = student_config(teacher.lang or "xx", chosen, max_steps)
    settings = Config(config).copy()
    settings.setdefault("paths", {}).update({key: str(path) for key, path in paths.items()})
    settings.to_disk(output / "config.cfg")
    student = init_nlp(settings, use_gpu=use_gpu)
    tokenizer: Any = teacher.tokenizer
    student.tokenizer.from_bytes(tokenizer.to_bytes())  # type: ignore[union-attr]
    train(student, output, use_gpu=use_gpu)
    student = spacy.load(output / "model-last")
    taken = [name for name in teacher.pipe_names if name in KEPT and "tagger" in chosen]
    for name in taken:
        student.add_pipe(name, source=teacher)
    student.to_disk(output / "student")
    found = _compare(teacher, student, held_out, chosen, len(learned))
    speedups = {"speedup": found.speedup, "speedup_of_parts": found.speedup_of_parts}
    report = {**asdict(found), **speedups, "taken_over": taken}
    (output / "report.json").write_text(json.dumps(report, indent=2) + "\n", encoding="utf8")
    return found


def student_config(lang: str, parts: Sequence[str], max_steps: int) -> Config:
    """Return the training config of a small and fast student, that of ``student.cfg``.

    Parameters
    ----------
    lang
        The language of the teacher.
    parts
        Of "tagger", "parser", "entities".
    max_steps
        Of training, in batches of about 1,500 words.
    """
    config = Config().from_disk(
        Path(__file__).parents[1] / "configs" / "student.cfg", interpolate=False
    )
    names = ["tok2vec", *(name for name in PARTS if name in parts)]
    config["nlp"] |= {"lang": lang, "pipeline": names}
    config["components"] = {name: config["components"][name] for name in names}
    training = config["training"]
    training |= {"max_steps": max_steps, "eval_frequency": max(1, max_steps // 5)}
    rate = {"warmup_steps": min(100, max_steps // 10), "total_steps": max_steps}
    training["optimizer"]["learn_rate"] |= rate
    training["score_weights"] = {WEIGHTS[name]: 1.0 for name in names if name in WEIGHTS}
    return config


def _parts_of(docs: Sequence[Doc], wanted: Sequence[str]) -> tuple[str, ...]:
    """Return the parts that the teacher annotates, or refuse those that it does not."""
    unknown = [name for name in wanted if name not in PARTS]
    if unknown:
        raise ProblemError(f"parts: expected {', '.join(PARTS)}; got {', '.join(unknown)}.")
    there = {
        name
        for name, attribute in PARTS.items()
        if any(doc.has_annotation(attribute) for doc in docs)
    }
    if not any(doc.ents for doc in docs):
        there -= {"entities"}
    missing = [name for name in wanted if name not in there]
    if missing or not there:
        raise ProblemError(
            f"parts: the pipeline annotates {', '.join(sorted(there)) or 'none of them'}"
            + (f", not {', '.join(missing)}." if missing else ".")
        )
    return tuple(name for name in PARTS if name in (wanted or there))


def _compare(
    teacher: Language, student: Language, docs: Sequence[Doc], parts: tuple[str, ...], texts: int
) -> Distilled:
    """Let both read what was held out."""
    examples = [Example(student.make_doc(doc.text), doc) for doc in docs]
    scores = student.evaluate(examples)
    wanted = {
        "tagger": ("tag_acc",),
        "parser": ("dep_uas", "dep_las", "sents_f"),
        "entities": ("ents_f",),
    }
    keys = [key for name in parts for key in wanted[name]]
    agreement = {key: float(scores[key]) for key in keys if scores.get(key) is not None}
    if scores.get("certified") is not None:
        agreement["certified"] = float(scores["certified"])
    held_out = [doc.text for doc in docs]
    words = sum(len(doc) for doc in docs)
    return Distilled(
        parts,
        texts,
        len(docs),
        agreement,
        words / _seconds(teacher, held_out),
        words / _seconds(student, held_out),
        words / _seconds(teacher, held_out, KEPT),
        words / _seconds(student, held_out, KEPT),
    )


def _seconds(nlp: Language, texts: Sequence[str], without: Sequence[str] = ()) -> float:
    """How long a pipeline takes for some texts, at best."""
    found = []
    with nlp.select_pipes(disable=[name for name in without if name in nlp.pipe_names]):
        for _ in range(TIMES):
            start = perf_counter()
            for _ in nlp.pipe(texts):
                pass
            found.append(perf_counter() - start)
    return min(found)
