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
spacy_app.add_typer(app)

TextOption = Annotated[str | None, typer.Option(help="The text.")]
FileOption = Annotated[
    Path | None, typer.Option(help="A file with the text; - for standard input.")
]
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
    text_field: Annotated[
        str, typer.Option(help="Where the text is in .jsonl, .parquet.")
    ] = "text",
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
    text_field: Annotated[
        str, typer.Option(help="Where the text is in .jsonl, .parquet.")
    ] = "text",
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
    text_field: Annotated[
        str, typer.Option(help="Where the text is in .jsonl, .parquet.")
    ] = "text",
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


kb_app = typer.Typer(
    name="kb", help="Knowledge bases for graph_entity_linker.", no_args_is_help=True
)
app.add_typer(kb_app)

_OUTPUT = typer.Argument(help="The folder to write.")
_HUBS = typer.Option(min=0, help="Hubs to index distances to; 256 for millions of concepts.")


@kb_app.command("build")
def kb_build_command(
    source: Annotated[
        Path,
        typer.Argument(
            help="Your concepts: .tsv (id, title, aliases a=3;b, links x;y, ...) or .jsonl."
        ),
    ],
    output: Annotated[Path, _OUTPUT],
    hubs: Annotated[int, _HUBS] = 0,
) -> None:
    """Build from your own concepts: id, title, aliases, links, description, text."""
    from .knowledge import build_from_file

    build_from_file(source, output, hubs=hubs)


@kb_app.command("build-wikidata")
def kb_wikidata_command(
    source: Annotated[Path, typer.Argument(help="A Wikidata JSON dump, also .gz or .bz2.")],
    output: Annotated[Path, _OUTPUT],
    language: Annotated[str, typer.Option(help="Language of the names.")] = "en",
    hubs: Annotated[int, _HUBS] = 256,
) -> None:
    """Build from a Wikidata dump."""
    from .knowledge import build_from_wikidata

    build_from_wikidata(source, output, language=language, hubs=hubs)


@kb_app.command("build-wordnet")
def kb_wordnet_command(
    source: Annotated[
        Path, typer.Argument(help="english-wordnet-*.xml.gz (WordNet LMF), or a folder of tables.")
    ],
    output: Annotated[Path, _OUTPUT],
    hubs: Annotated[int, _HUBS] = 64,
) -> None:
    """Build from a wordnet: its synsets are the concepts."""
    from .knowledge import build_from_wordnet

    build_from_wordnet(source, output, hubs=hubs)


@kb_app.command("build-wikispeedia")
def kb_wikispeedia_command(
    source: Annotated[
        Path, typer.Argument(help="A folder with articles.tsv, links.tsv and categories.tsv.")
    ],
    output: Annotated[Path, _OUTPUT],
    hubs: Annotated[int, _HUBS] = 0,
) -> None:
    """Build from Wikispeedia, a Wikipedia for schools with its links."""
    from .knowledge import build_from_wikispeedia

    build_from_wikispeedia(source, output, hubs=hubs)


@kb_app.command("build-triples")
def kb_triples_command(
    names: Annotated[Path, typer.Argument(help="A table of Wikidata items and names.")],
    triples: Annotated[Path, typer.Argument(help="A table of items, properties and items.")],
    output: Annotated[Path, _OUTPUT],
    hubs: Annotated[int, _HUBS] = 64,
) -> None:
    """Build from triples of Wikidata and the names of its items."""
    from .knowledge import build_from_triples

    build_from_triples(names, triples, output, hubs=hubs)


@kb_app.command("build-wikipedia")
def kb_wikipedia_command(
    output: Annotated[Path, _OUTPUT],
    page: Annotated[Path, typer.Option(help="*-page.sql.gz")],
    redirect: Annotated[Path, typer.Option(help="*-redirect.sql.gz")],
    pagelinks: Annotated[Path, typer.Option(help="*-pagelinks.sql.gz")],
    linktarget: Annotated[
        Path | None, typer.Option(help="*-linktarget.sql.gz, for dumps since 2024.")
    ] = None,
    articles: Annotated[
        list[Path] | None,
        typer.Option(
            help="*-pages-articles.xml.bz2, for anchors and texts; also several, or multistream."
        ),
    ] = None,
    page_props: Annotated[
        Path | None, typer.Option(help="*-page_props.sql.gz, for Wikidata items.")
    ] = None,
    wikidata: Annotated[
        Path | None,
        typer.Option(help="wikidata-*-all.json.bz2, for items, types and descriptions."),
    ] = None,
    language: Annotated[str, typer.Option(help="Of the Wikipedia, such as en.")] = "en",
    workers: Annotated[int, typer.Option(help="Processes for articles and Wikidata.")] = 1,
    scheduler: Annotated[
        str | None, typer.Option(help="A Dask scheduler's address, instead of processes.")
    ] = None,
    hubs: Annotated[int, _HUBS] = 256,
) -> None:
    """Build from the dumps of a Wikipedia; goes on where an earlier build stopped."""
    from .knowledge import build_from_wikipedia

    build_from_wikipedia(
        output,
        page=page,
        redirect=redirect,
        pagelinks=pagelinks,
        linktarget=linktarget,
        articles=articles,
        page_props=page_props,
        wikidata=wikidata,
        language=language,
        workers=workers,
        scheduler=scheduler,
        hubs=hubs,
    )


@kb_app.command("info")
def kb_info_command(
    folder: Annotated[Path, typer.Argument(help="A knowledge base.")],
    verify: Annotated[bool, typer.Option(help="Compare every file with its checksum.")] = False,
) -> None:
    """Print what a knowledge base holds."""
    from .knowledge import show

    show(folder, verify=verify)


@kb_app.command("look-up")
def kb_look_up_command(
    alias: Annotated[str, typer.Argument(help="A mention.")],
    kb: Annotated[
        Path | None,
        typer.Option(help="A knowledge base; by default the small one that is shipped."),
    ] = None,
    words: Annotated[bool, typer.Option(help="Search titles, aliases and texts.")] = False,
    limit: Annotated[int, typer.Option(min=1, help="The most candidates.")] = 20,
) -> None:
    """Print what a mention may mean; the exit code is 1 if nothing is found."""
    from .knowledge import look_up

    found = look_up(kb, alias, words=words, limit=limit)
    raise typer.Exit(0 if found else 1)


def _listed(given: str) -> list[str]:
    return [part.strip() for part in given.split(",") if part.strip()]
