"""Made-up addresses and names, for models that read such."""

import random

__all__ = ["addresses", "names"]

STREETS = ["Main", "Oak", "Pine", "Washington", "Lake", "Hill", "North", "Church", "5th", "42nd"]
KINDS = ["St", "Street", "Ave", "Ave.", "Avenue", "Rd", "Blvd", "Ln", "Dr", "Court", "Pl", "Way"]
CITIES = ["Springfield", "Chicago", "Boston", "Dallas", "Portland", "Madison", "Georgetown"]
STATES = ["IL", "MA", "TX", "OR", "WI", "CA", "NY", "Ohio"]
GIVEN = ["John", "Mary", "J.", "Ann", "Li", "Jean-Luc", "Bob", "Dr.", "Mrs", "O'Neil", "de", "van"]
FAMILY = ["Smith", "Jones", "Garcia", "McDonald", "Lee", "Brown", "Jr.", "III", "Esq", "PhD"]
COMPANY = ["Acme", "Holdings", "Group", "LLC", "Inc.", "Bank", "of", "Trust", "&", "Sons", "the"]


def addresses(count: int, seed: int = 0) -> list[str]:
    """Return American addresses, some with their parts in disorder."""
    rng = random.Random(seed)
    return [_address(rng) for _ in range(count)]


def names(count: int, seed: int = 0) -> list[str]:
    """Return names of people and of companies."""
    rng = random.Random(seed)
    found = []
    for _ in range(count):
        words = rng.sample(GIVEN, rng.randint(0, 3)) + rng.sample(FAMILY, rng.randint(1, 3))
        if rng.random() < 0.4:
            words += rng.sample(COMPANY, rng.randint(1, 4))
        if rng.random() < 0.2:
            rng.shuffle(words)
        if rng.random() < 0.3:
            words[0] += ","
        found.append(" ".join(words))
    return found


def _address(rng: random.Random) -> str:
    if rng.random() < 0.1:
        parts = ["PO", "Box", str(rng.randint(1, 9999))]
    else:
        parts = [str(rng.randint(1, 9999))]
        if rng.random() < 0.3:
            parts.append(rng.choice(["N", "S.", "East", "W"]))
        parts += [*rng.sample(STREETS, rng.randint(1, 2)), rng.choice(KINDS)]
        if rng.random() < 0.4:
            parts += [rng.choice(["Apt", "Suite", "#", "Unit"]), rng.choice(["4", "B", "12-C"])]
    parts[-1] += ","
    parts += [rng.choice(CITIES) + rng.choice([",", ""]), rng.choice(STATES)]
    parts.append(f"{rng.randint(1, 99999):05d}")
    if rng.random() < 0.2:
        rng.shuffle(parts)
    return " ".join(parts)
