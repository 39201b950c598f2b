"""Ranking texts by how unsure a pipeline is of them, from the command line."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, NamedTuple, cast, get_args

import spacy
import typer
from rich.console import Console
from spacy.language import Language
from spacy.tokens import Doc, Span
from tasks import Layer, Tool, label_config, task_of
from uncertainty import Measure, prepared, uncertainty

from spacy_decoders import ProblemError
from spacy_decoders.annotate.records import texts
from spacy_decoders.bundled import place_of
from spacy_decoders.cli.arguments import listed
from spacy_decoders.errors import DecodersError

__all__ = ["rank_texts"]

#: The probability from which on alternatives to entities are listed.
ALTERNATIVES = 0.1


class _Ranked(NamedTuple):
    score: float
    id: str
    task: dict[str, Any]


def rank_texts(
    corpus: Annotated[
        Path, typer.Argument(help="Texts, a file or folder: .txt, .jsonl(.gz), .parquet, .spacy.")
    ],
    output: Annotated[Path, typer.Option(help="JSON lines; a list if it ends with .json.")] = Path(
        "uncertain.jsonl"
    ),
    model: Annotated[
        str, typer.Option(help="A pipeline; by default the one that is shipped.")
    ] = "",
    format: Annotated[str, typer.Option(help="prodigy or label-studio.")] = "prodigy",
    task: Annotated[
        str | None,
        typer.Option(help="entities, tags or trees; by default the first that there are."),
    ] = None,
    by: Annotated[
        str, typer.Option(help="share (of tokens expected to be wrong) or errors.")
    ] = "share",
    components: Annotated[
        str, typer.Option(help="Names of components that count; by default those of the task.")
    ] = "",
    sentences: Annotated[bool, typer.Option(help="Rank sentences, not documents.")] = False,
    top: Annotated[int, typer.Option(min=0, help="Write so many at most; 0 for all.")] = 0,
    text_field: Annotated[
        str, typer.Option(help="Where the text is in .jsonl, .parquet.")
    ] = "text",
) -> None:
    """Rank texts, each once, by how unsure the pipeline is, for Prodigy or Label Studio."""
    for name, value, known in (
        ("format", format, Tool),
        ("task", task, Layer),
        ("by", by, Measure),
    ):
        if value is not None and value not in get_args(known):
            raise ProblemError(
                f"{name}: expected one of {', '.join(get_args(known))}; got {value!r}."
            )
    if (format, task) == ("label-studio", "trees"):
        raise ProblemError("task: Label Studio's text has no trees; use the format prodigy.")
    if not output.absolute().parent.is_dir():
        raise ProblemError(f"output: there is no folder {output.absolute().parent}.")
    nlp = spacy.load(place_of(model))
    wanted = _layer(nlp, task)
    names = prepared(nlp, listed(components) or _annotating(nlp, wanted))
    if wanted == "entities":
        for name in names:
            pipe = nlp.get_pipe(name)
            if hasattr(pipe, "entity_alternatives"):
                pipe.entity_alternatives = ALTERNATIVES
    ranked = sorted(
        _ranked(nlp, corpus, names, (format, wanted, by), sentences, text_field),
        key=lambda entry: (-entry.score, entry.id),
    )
    if not ranked:
        raise ProblemError(f"corpus: {corpus} holds no text.")
    chosen = ranked[:top] if top else ranked
    _write(output, [entry.task for entry in chosen])
    console = Console(highlight=False, soft_wrap=True)
    console.print(
        f"{len(chosen):,} of {len(ranked):,} texts, the least sure first ({by} from "
        f"{chosen[0].score:.4g} to {chosen[-1].score:.4g}): {output}"
    )
    if format == "label-studio" and wanted != "trees":
        console.print("The label config of the project:")
        console.print(label_config(wanted, _labels(nlp, names, wanted)), markup=False)


def _layer(nlp: Language, given: str | None) -> Layer:
    """What is to be annotated; by default the first of entities, tags and trees there are."""
    if given is not None:
        return cast("Layer", given)
    layers: tuple[Layer, ...] = get_args(Layer)
    for layer in layers:
        if _annotating(nlp, layer):
            return layer
    raise ProblemError("model: no component of the pipeline has probabilities.")


def _annotating(nlp: Language, layer: Layer) -> list[str]:
    """The components with probabilities of a layer."""
    found = []
    for name, pipe in nlp.pipeline:
        targets = getattr(pipe, "targets", ())
        of_layer = {
            "entities": "ent" in targets,
            "tags": any(target != "ent" for target in targets),
            "trees": hasattr(pipe, "head_margins"),
        }
        if hasattr(pipe, "probabilities") and of_layer.get(layer, False):
            found.append(name)
    return found


def _ranked(
    nlp: Language,
    corpus: Path,
    names: list[str],
    how: tuple[str, Layer, str],
    sentences: bool,
    text_field: str,
) -> Iterator[_Ranked]:
    tool, layer, by = how
    version = f"{nlp.meta['lang']}_{nlp.meta['name']} {nlp.meta['version']}"
    seen = {""}
    for doc, id in nlp.pipe(texts(corpus, nlp.vocab, text_field), as_tuples=True):
        for number, part in enumerate(_parts(doc, sentences)):
            if part.text.strip() in seen:
                continue
            seen.add(part.text.strip())
            score = uncertainty(part, names, cast("Measure", by))
            own = f"{id}:{number}" if sentences else id
            task = task_of(
                part, tool=cast("Tool", tool), layer=layer, id=own, score=score, version=version
            )
            yield _Ranked(score, own, task)


def _parts(doc: Doc, sentences: bool) -> list[Span]:
    if not sentences:
        return [doc[:]]
    if not doc.has_annotation("SENT_START"):
        raise ProblemError(
            "sentences: the pipeline sets no sentence boundaries; add a parser or a senter."
        )
    return list(doc.sents)


def _labels(nlp: Language, names: list[str], layer: Layer) -> list[str]:
    """The labels to choose from."""
    found = set()
    for name in names:
        pipe: Any = nlp.get_pipe(name)
        space = pipe.space
        if layer == "entities":
            found |= set(space.scheme.types)
        else:
            found |= {parts[space.first_part] for parts in space.parts}
    return sorted(found)


def _write(output: Path, tasks: list[dict[str, Any]]) -> None:
    """Write JSON lines, or one list if the file's name ends with .json."""
    if output.name.endswith(".json"):
        text = json.dumps(tasks, ensure_ascii=False, indent=1)
    else:
        text = "\n".join(json.dumps(task, ensure_ascii=False) for task in tasks)
    output.write_text(text + "\n", encoding="utf8")


if __name__ == "__main__":
    try:
        typer.run(rank_texts)
    except DecodersError as error:
        sys.exit(str(error))
