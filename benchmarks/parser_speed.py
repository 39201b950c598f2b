"""The shipped parser beside spaCy's own on raw text: words a second of processor time.

Both take the same documents, ten sentences of raw text each, in turns. spaCy's parser has a
tok2vec of its own of the same kind, width and depth as the shipped one, and is trained briefly
here: how many transitions it takes hardly depends on that.

    python benchmarks/parser_speed.py [--quick]

The shipped parser is timed without its rules, without joint boundaries and without both as well.
The trained pipeline is kept in results/cache.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from time import thread_time
from typing import Any

import timing  # first: it sets the threads
from parser import SPACY, TREEBANK, configuration, dev
from pipelines import trained
from spacy import util
from spacy.language import Language
from thinc.api import get_current_ops, set_current_ops

import spacy_decoders

STEPS = 200
VARIANTS: dict[str, dict[str, Any]] = {
    "as shipped": {},
    "without rules": {"rules": ()},
    "boundaries apart": {"certain": 0.0},
    "arcs alone": {"rules": (), "certain": 0.0},
}


def same_tok2vec(data: Path, steps: int, ours: Language) -> Any:
    """The config of spaCy's parser on a tok2vec of its own like the shipped one's."""
    config = configuration(data, steps, SPACY)
    config["components"]["tok2vec"]["model"] = ours.config["components"]["parser"]["model"][
        "tok2vec"
    ]
    # a parser alone, like the one beside it
    config["components"].pop("tagger")
    config["nlp"]["pipeline"] = ["tok2vec", "parser"]
    return config


@contextmanager
def changed(nlp: Language, options: dict[str, Any]) -> Iterator[None]:
    """The shipped parser with other options."""
    pipe: Any = nlp.get_pipe("parser")
    before = {name: getattr(pipe, name) for name in options}
    pipe.configure(**options)
    try:
        yield
    finally:
        pipe.configure(**before)


def main() -> None:
    """Train spaCy's parser, time, report."""
    arguments = timing.arguments(__doc__.splitlines()[0])
    arguments.add_argument("--steps", type=int, default=STEPS, help="training steps of spaCy's")
    arguments.add_argument("--retrain", action="store_true", help="train anew")
    options = arguments.parse_args()
    steps = 20 if options.quick else options.steps
    report = timing.Report("parser-speed", options.results, {"steps of spaCy's parser": steps})
    ops = get_current_ops()
    ours = spacy_decoders.load(enable=["parser"])
    folder = options.results / "cache" / f"parser-speed-{steps}"
    trained(same_tok2vec(options.data, steps, ours), folder, retrain=options.retrain)
    set_current_ops(ops)  # both multiply matrices as an installation does without further ado
    theirs = util.load_model(folder / "model-best")
    golds = dev(options.data, ours, 60 if options.quick else 0)
    words, texts = sum(map(len, golds)), [gold.text for gold in golds]

    def run(nlp: Language, changes: dict[str, Any]) -> None:
        with changed(nlp, changes) if changes else nullcontext():
            list(nlp.pipe(texts))

    tasks: dict[str, Any] = {SPACY: lambda: run(theirs, {})}
    for name, changes in VARIANTS.items():
        tasks[name] = lambda changes=changes: run(ours, changes)
    seconds = timing.interleaved(tasks, repeats=3, clock=thread_time)
    arcs = seconds["arcs alone"]
    report.table(
        f"{TREEBANK.format('dev')}: {words:,} words of raw text, {len(texts)} documents",
        ["parser", "words/s", "over spaCy's", "time over that of arcs alone"],
        [
            [name, words / taken, seconds[SPACY] / taken, taken / arcs]
            for name, taken in seconds.items()
        ],
    )
    shipped = seconds["as shipped"]
    report.target("words/s over spaCy's, as shipped", 1.0, seconds[SPACY] / shipped)
    ratio = shipped / seconds["without rules"]
    report.target("time with rules over that without", 1.2, ratio, most=True)
    report.close()


if __name__ == "__main__":
    sys.exit(main())
