"""Each project template runs from assets to results: on tiny data, with one step of training."""

import bz2
import gzip
import json
import shutil
from pathlib import Path

import pytest
import spacy
import weasel.cli.run
from weasel.cli.document import project_document
from weasel.cli.run import project_run

import spacy_decoders
from spacy_decoders import ConceptBase
from spacy_decoders.registry.readers import conllu_corpus, linked_corpus
from tests.corpora import SENTENCES, conllu, iob2
from tests.knowledge.test_wikipedia import ARTICLES, new_tables, table
from tests.processes import forked_python

PROJECTS = Path(__file__).parents[2] / "projects"


@pytest.fixture
def run_project(monkeypatch, shipped):
    """Run a project's commands, each in a process that has imported spaCy already."""
    shipped("The old man can fish in Coventry. Binary search finds an item in a list.")

    def run_command(command: list[str], *, capture: bool) -> None:
        # a few words are clustered sooner than what clusters them is compiled
        monkeypatch.setenv("NUMBA_DISABLE_JIT", str(int("scripts/clusters.py" in command)))
        forked_python(*command[1:])

    def run(folder: Path, variables: dict[str, object], part: str = "all") -> None:
        overrides = {f"vars.{key}": value for key, value in variables.items()}
        project_run(folder, part, overrides=overrides, capture=True)

    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.setattr(weasel.cli.run, "run_command", run_command)
    return run


@pytest.fixture
def project(tmp_path, run_project):
    """Copy a template, give it its assets, and run it."""

    def run(name: str, assets: dict[str, str], **variables: object) -> Path:
        folder = tmp_path / name
        shutil.copytree(PROJECTS / name, folder)
        for names in folder.glob("lists/*.gz"):  # of which ten show as much
            first = gzip.decompress(names.read_bytes()).splitlines()[:10]
            names.write_bytes(gzip.compress(b"\n".join(first)))
        (folder / "assets").mkdir(exist_ok=True)
        for asset, content in assets.items():
            (folder / "assets" / asset).parent.mkdir(exist_ok=True)
            (folder / "assets" / asset).write_text(content, encoding="utf8")
        run_project(folder, variables)
        return folder

    return run


def read(path: Path) -> dict[str, dict[str, float]]:
    return json.loads(path.read_text(encoding="utf8"))


def test_english(project):
    assets = {
        "en_ewt-ud-train.conllu": conllu(),
        "en_ewt-ud-dev.conllu": conllu(2),
        "en_ewt-ud-train.iob2": iob2(),
        "en_ewt-ud-dev.iob2": iob2(2),
        "a.conll": "Kim B-PER\nsleeps O\n\n",
        "wnut17train.conll": "Paris B-location\nStarship B-product\n\n",
    }
    short = {"tagger_epochs": 1, "morphologizer_epochs": 1, "entity_runs": 1}
    short |= {"settle_steps": 2, "mean_steps": 2, "parser_runs": 2, "tagger_runs": 1}
    folder = project("english", assets, **short, parser_steps=2, factors_start=0)
    one, two, mean = (
        spacy.load(folder / "training/parser" / run).get_pipe("parser").model.get_ref("tags")
        for run in ("0/model-last", "1/model-last", "model-best")
    )
    both = one.get_param("W"), two.get_param("W")
    assert (both[0] != both[1]).any()
    assert mean.get_param("W") == pytest.approx(sum(both) / 2)
    known = (folder / "corpus" / "entities" / "wnut17train.iob2").read_text(encoding="utf8")
    assert known.splitlines()[:3] == [
        "# newdoc", "1\tParis\tB-LOC\t-\t-", "2\tStarship\t_\t-\t-"
    ]  # fmt: skip
    nlp = spacy.load(folder / "packed")
    assert nlp.pipe_names == [
        "parser", "tagger", "morphologizer", "attribute_ruler", "lemmatizer", "entities", "linker",
        "headline",
    ]  # fmt: skip
    scores = read(folder / "metrics" / "english.json")
    assert set(scores) == {
        "raw text", "gold tokens and sentences", "entities", "entities, sentences found"
    }  # fmt: skip
    stated = nlp.meta["performance"]
    assert {name: pytest.approx(of_part) for name, of_part in scores.items()} == stated
    measured = spacy.load(folder / "training/calibrated")
    gold = conllu_corpus(folder / "assets" / "en_ewt-ud-dev.conllu", n_sents=10, gold_sents=True)
    tagged = ["parser", "tagger", "morphologizer", "attribute_ruler", "lemmatizer"]
    with measured.select_pipes(enable=tagged):
        again = measured.evaluate(list(gold(measured)))
    found = scores["gold tokens and sentences"]
    assert found["certified"] == 1.0
    assert found == pytest.approx({key: again[key] for key in found})
    # no path of the machine that trained it is left
    assert str(folder) not in (folder / "packed" / "config.cfg").read_text(encoding="utf8")


def test_danish(project):
    assets = {
        "da_ddt-ud-train.conllu": conllu(),
        "da_ddt-ud-dev.conllu": conllu(2),
        "da_ddt-ud-train.iob2": iob2(),
        "da_ddt-ud-dev.iob2": iob2(2),
        "text/more.txt": "Kim sover.\n",
    }
    folder = project("danish", assets, clusters=2, steps=2, entity_epochs=1)
    text = (folder / "corpus" / "text.txt").read_text(encoding="utf8").splitlines()
    assert (text[0], text[-2]) == ("Kim sleeps", "Kim sover.")
    nlp = spacy.load(folder / "training" / "pipeline")
    assert (nlp.lang, nlp.pipe_names) == (
        "da", ["parser", "morphologizer", "lemmatizer", "entities"]
    )  # fmt: skip
    scores = read(folder / "metrics" / "dev.json")
    assert set(scores) == {
        "raw text", "gold tokens and sentences", "entities, sentences found"
    }  # fmt: skip
    # the table has every word of the treebank
    assert scores["gold tokens and sentences"]["lemma_acc"] == 1.0
    assert all(of_part["certified"] == 1.0 for of_part in scores.values())


def test_headlines(project):
    text = conllu(6)
    folder = project("headlines", {"en_gum-ud-train.conllu": text, "en_gum-ud-dev.conllu": text})
    lines = (folder / "metrics" / "headlines.jsonl").read_text(encoding="utf8").splitlines()
    rows = [json.loads(line) for line in lines]
    assert len(rows) == 6
    assert all(row["headlines"] and row["title"] == "Kim wakes cats" for row in rows)
    assert read(folder / "metrics" / "scores.json")["certified"] == 1.0


def test_wikipedia_linking(tmp_path, monkeypatch, run_project):
    folder = tmp_path / "made"
    folder.mkdir()
    new_tables(folder)
    table(folder, "page_props", [(10, "wikibase_item", "Q35694")])
    # "jaguar" mostly means the cat, and rarely O'Neill: then beside Mercury, a neighbour of his
    often = "The [[Jaguar|jaguar]] lives in the [[Jungle|jungle]]."
    rarely = "The [[O'Neill|jaguar]] flies to [[Mercury (planet)|mercury]]."
    before = "".join(
        f"<page><title>Page {i}</title><ns>0</ns><revision><text>"
        f"{rarely if i % 3 == 1 else often}</text></revision></page>\n"
        for i in range(12)
    )
    articles = ARTICLES.replace("<page>", f"{before}<page>", 1).encode()
    (folder / "articles.xml.bz2").write_bytes(bz2.compress(articles))
    template = tmp_path / "wikipedia_linking"
    shutil.copytree(folder, template / "assets")
    shutil.copytree(PROJECTS / "wikipedia_linking", template, dirs_exist_ok=True)
    run_project(template, {"max_steps": 1, "hubs": 0})
    scores = read(template / "metrics" / "dev.json")
    both, alone = scores["local and graph"], scores["local alone"]
    # every tenth article is held out: one of each kind, and without the graph the rare is missed
    assert (both["nel_micro_f"], both["nel_linkable_acc"], both["certified"]) == (1.0, 1.0, 1.0)
    assert (alone["nel_micro_f"], alone["nel_linkable_acc"]) == (0.75, 0.75)
    monkeypatch.chdir(template)  # where the knowledge base lies is said from here
    nlp = spacy.load("training/model-best")
    assert ConceptBase.open("kb/simplewiki").describe("Jaguar")["qid"] == "Q35694"
    examples = linked_corpus(Path("corpus/dev.jsonl"))(nlp)
    for example, meant in zip(examples, ("Jaguar", "O'Neill"), strict=True):
        jaguar, _ = nlp(example.predicted).ents
        assert (jaguar.kb_id_, len(jaguar._.link["candidates"])) == (meant, 2)


@pytest.mark.parametrize(
    "name", sorted(path.parent.name for path in PROJECTS.glob("*/project.yml"))
)
def test_the_readme_is_that_of_the_project(name, tmp_path):
    """`python -m spacy project document --output README.md` has been run."""
    shutil.copytree(PROJECTS / name, tmp_path / name)
    readme = tmp_path / name / "README.md"
    before = readme.read_text(encoding="utf8")
    project_document(tmp_path / name, readme)
    assert readme.read_text(encoding="utf8") == before


def test_distil(project, tmp_path):
    teacher = tmp_path / "teacher"
    spacy_decoders.load(exclude=["linker", "headline"]).to_disk(teacher)
    assets = {"en_ewt-ud-train.conllu": conllu(24)}
    folder = project("distil", assets, pipeline=str(teacher), max_steps=2)
    report = read(folder / "output" / "report.json")
    assert report["held_out"] == 3 and set(report["parts"]) == {"tagger", "parser", "entities"}
    assert "tagger" in spacy.load(folder / "output" / "student").pipe_names


def test_active_learning(project):
    assets = {"en_ewt-ud-train.iob2": iob2(), "en_ewt-ud-dev.iob2": iob2(2)}
    folder = project("active_learning", assets, epochs=1, measures="share")
    report = read(folder / "metrics" / "learning.json")
    assert set(report) == {"full", "random", "share"}
    words = sum(map(len, SENTENCES)) * 8
    assert report["full"]["words"] == words
    for by in ("random", "share"):
        rounds = report[by]
        assert [of["share"] for of in rounds] == [0.05, 0.1, 0.2, 0.3]
        assert all(of["words"] >= of["share"] * words for of in rounds)
        texts = [of["texts"] for of in rounds]
        assert texts == sorted(texts)
