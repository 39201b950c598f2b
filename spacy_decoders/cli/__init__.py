"""``python -m spacy decoders ...``: each command in a file of its own, imported when it runs.

spaCy imports this module for each of its commands, so nothing heavy stands at the top.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from spacy.cli._util import app as spacy_app
from typer.core import TyperGroup

# so that `spacy find-function` and the others know `@decoders`
from .. import registry  # noqa: F401
from ..errors import DecodersError
from .kb import kb_app

__all__ = ["app"]


class FriendlyGroup(TyperGroup):
    """Commands that print an error of ours as a message, without a traceback, and exit with 1."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command."""
        try:
            return super().invoke(ctx)
        except (DecodersError, OSError) as error:  # spaCy's own of a pipeline that is none, too
            said = str(error)
            if isinstance(error, OSError) and error.strerror and error.filename:
                said = f"{error.filename}: {error.strerror}"
            typer.secho(said, fg=typer.colors.RED, err=True)
            raise typer.Exit(1) from None


app = typer.Typer(
    name="decoders",
    cls=FriendlyGroup,
    help="Exact, certified decoding: try it, look into it, annotate a corpus.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.add_typer(kb_app)
spacy_app.add_typer(app)

TextOption = Annotated[str | None, typer.Option(help="The text.")]
FileOption = Annotated[
    Path | None, typer.Option(help="A file with the text; - for standard input.")
]
TextField = Annotated[str, typer.Option(help="Where the text is in .jsonl, .parquet.")]
PipelineOption = Annotated[
    str | None, typer.Option(help="A pipeline; by default the one that is shipped.")
]


@app.command("demo")
def demo_command(
    text: TextOption = None,
    file: FileOption = None,
    pipeline: PipelineOption = None,
    page: Annotated[Path, typer.Option(help="Where to write the page.")] = Path("demo.html"),
    trees: Annotated[bool, typer.Option(help="Print the tree of every sentence.")] = False,
) -> None:
    """Annotate a text and show what came out, how sure it is, and what else was possible."""
    from .demo import demo

    demo(text=text, file=file, pipeline=pipeline, page=page, trees=trees)


@app.command("info")
def info_command() -> None:
    """Print versions, the registered decoders, and where compiled code is kept."""
    from .info import info

    info()


@app.command("warmup")
def warmup_command() -> None:
    """Compile all decoders once, so that no later run has to."""
    from .warmup import warmup

    raise typer.Exit(warmup())


@app.command("annotate")
def annotate_command(
    source: Annotated[
        Path, typer.Argument(help="A file or folder: .spacy, .jsonl(.gz), .parquet, .txt.")
    ],
    output: Annotated[Path, typer.Argument(help="A folder; an unfinished one is resumed.")],
    model: Annotated[
        str, typer.Option(help="A pipeline; by default the one that is shipped.")
    ] = "",
    format: Annotated[str, typer.Option(help="spacy, jsonl or parquet.")] = "spacy",
    shard_size: Annotated[int, typer.Option(help="Documents in each file.")] = 500,
    text_field: TextField = "text",
    batch_size: Annotated[int, typer.Option(help="Documents at a time.")] = 64,
    workers: Annotated[int, typer.Option(help="Local processes.")] = 1,
    scheduler: Annotated[
        str | None, typer.Option(help="Address of a Dask scheduler (extra: distributed).")
    ] = None,
) -> None:
    """Annotate a corpus, in files that are written whole and resumed where it stopped."""
    from ..annotate import Job
    from .annotate import annotate_corpus

    job = Job(source, output, model, format, shard_size, text_field, batch_size)  # type: ignore[arg-type]
    raise typer.Exit(annotate_corpus(job, workers=workers, scheduler=scheduler))


@app.command("distil")
def distil_command(
    pipeline: Annotated[
        str, typer.Argument(help="The pipeline to learn from, a name or a folder.")
    ],
    texts: Annotated[
        Path,
        typer.Argument(help="Raw texts, a file or folder: .txt, .jsonl(.gz), .parquet, .spacy."),
    ],
    output: Annotated[Path, typer.Argument(help="A folder for the new pipeline.")],
    parts: Annotated[
        str, typer.Option(help="Of tagger,parser,entities; by default all that are annotated.")
    ] = "",
    config: Annotated[
        Path | None, typer.Option(help="A training config; by default a small and fast one.")
    ] = None,
    max_steps: Annotated[int, typer.Option(help="Steps of training.")] = 3000,
    limit: Annotated[int, typer.Option(min=0, help="Read so many texts at most; 0 for all.")] = 0,
    text_field: TextField = "text",
    gpu_id: Annotated[int, typer.Option(help="The GPU to train on; -1 for none.")] = -1,
) -> None:
    """Train our components to say what another pipeline says: faster, and certified."""
    from .distil import distil_pipeline

    distil_pipeline(
        pipeline,
        texts,
        output,
        parts=parts,
        config=config,
        max_steps=max_steps,
        limit=limit,
        text_field=text_field,
        use_gpu=gpu_id,
    )


@app.command("calibrate")
def calibrate_command(
    model: Annotated[str, typer.Argument(help="The pipeline, a folder or a name.")],
    corpus: Annotated[
        Path,
        typer.Argument(help="Held-out annotation: .spacy, .conllu, .conll, .jsonl, .json, .iob2."),
    ],
    output: Annotated[
        Path | None, typer.Option(help="A folder for the pipeline; by default its own.")
    ] = None,
    page: Annotated[Path | None, typer.Option(help="Draw reliability diagrams there.")] = None,
    components: Annotated[
        str, typer.Option(help="Names of components; by default all with probabilities.")
    ] = "",
    columns: Annotated[
        str, typer.Option(help="Of files of one token a line, as form,tag,ent.")
    ] = "",
    limit: Annotated[int, typer.Option(min=0, help="Read so much at most; 0 for all.")] = 0,
) -> None:
    """Fit probabilities to how often answers are right on a dev corpus, and save that."""
    from .calibrate import calibrate_model

    calibrate_model(
        model,
        corpus,
        output=output,
        page=page,
        components=_listed(components),
        columns=_listed(columns),
        limit=limit,
    )


@app.command("uncertain")
def uncertain_command(
    corpus: Annotated[
        Path, typer.Argument(help="Texts, a file or folder: .txt, .jsonl(.gz), .parquet, .spacy.")
    ],
    output: Annotated[Path, typer.Option(help="JSON lines; a list if it ends with .json.")] = Path(
        "uncertain.jsonl"
    ),
    model: PipelineOption = None,
    format: Annotated[str, typer.Option(help="prodigy or label-studio.")] = "prodigy",
    task: Annotated[
        str | None,
        typer.Option(help="entities, tags or trees; by default the first that there are."),
    ] = None,
    by: Annotated[
        str, typer.Option(help="errors, share, sentence, margin or disagreement.")
    ] = "share",
    components: Annotated[
        str, typer.Option(help="Names of components that count; by default those of the task.")
    ] = "",
    sentences: Annotated[bool, typer.Option(help="Rank sentences, not documents.")] = False,
    top: Annotated[int, typer.Option(min=0, help="Write so many at most; 0 for all.")] = 0,
    text_field: TextField = "text",
) -> None:
    """Rank texts by how unsure the pipeline is, as tasks for Prodigy or Label Studio."""
    from .uncertain import rank_texts

    rank_texts(
        corpus,
        output,
        model=model,
        tool=format,
        layer=task,
        by=by,
        components=_listed(components),
        sentences=sentences,
        top=top,
        text_field=text_field,
    )


@app.command("explain")
def explain_command(
    text: TextOption = None,
    file: FileOption = None,
    pipeline: PipelineOption = None,
    output: Annotated[Path, typer.Option(help="Where to write the page.")] = Path("explain.html"),
) -> None:
    """Write a page that shows what was decoded, what else was possible, and how sure it is."""
    from .demo import given_text
    from .explain import explain_text

    explain_text(given_text(text, file), output, pipeline)


@app.command("clusters")
def clusters_command(
    texts: Annotated[
        list[Path] | None, typer.Argument(help="Text files, also .gz; company ends with a line.")
    ] = None,
    output: Annotated[Path, typer.Option(help="The file of paths to write.")] = Path("paths"),
    vectors: Annotated[
        Path | None,
        typer.Option(help="Instead of texts: vectors, a word and its numbers a line."),
    ] = None,
    language: Annotated[str, typer.Option(help="Whose tokenizer cuts the words.")] = "en",
    clusters: Annotated[int, typer.Option(help="How many clusters.")] = 256,
    words: Annotated[int, typer.Option(help="How many of the most frequent words.")] = 10_000,
) -> None:
    """Cluster words by the company they keep in raw text, or by their vectors."""
    from ..errors import ProblemError
    from .clusters import cluster_words, group_words

    if (vectors is None) == (not texts):
        raise ProblemError("texts: name text files, or a file of vectors by --vectors.")
    if vectors is not None:
        group_words(vectors, output)
    else:
        cluster_words(texts or [], output, language=language, clusters=clusters, words=words)


def _listed(given: str) -> list[str]:
    return [part.strip() for part in given.split(",") if part.strip()]
