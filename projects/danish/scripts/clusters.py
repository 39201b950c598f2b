"""Brown clusters of raw text, by the package ``brown-clustering``.

Brown et al. 1992, *Class-based n-gram Models of Natural Language*, section 3. What is written is
what ``spacy-decoders.WordClusters.v1`` reads: bits, word, count.
"""

from collections import Counter
from os.path import commonprefix
from pathlib import Path

import spacy
import typer
from brown_clustering import BigramCorpus, BrownClustering

#: Turns of a path, at most.
LONGEST = 31


def main(
    text: Path, output: Path, language: str = "en", clusters: int = 256, words: int = 10_000
) -> None:
    """Cluster the most frequent words by the company they keep; company ends with a line.

    The time grows with the square of the number of words, and with that of clusters.
    """
    tokenizer = spacy.blank(language).tokenizer
    lines = [
        [token.text for token in tokenizer(line.strip()) if not token.is_space]
        for line in text.read_text(encoding="utf8").splitlines()
    ]
    counts = Counter(word for line in lines for word in line)
    frequent = dict(counts.most_common(words))
    kept = [[word for word in line if word in frequent] for line in lines]
    clustering = BrownClustering(BigramCorpus(kept, alpha=0.5), clusters)
    groups, codes = clustering.train(), clustering.codes()
    # the path to a cluster is what the codes of its words begin with
    paths = [
        (commonprefix([codes[word] for word in group])[:LONGEST], group)  # noqa: RUF071 - bits
        for group in groups
    ]
    output.parent.mkdir(parents=True, exist_ok=True)
    with output.open("w", encoding="utf8") as file:
        for bits, word in sorted((bits, word) for bits, group in paths for word in group):
            file.write(f"{bits}\t{word}\t{frequent[word]}\n")
    print(f"{len(frequent):,} of {len(counts):,} words in {len(groups):,} clusters: {output}")


if __name__ == "__main__":
    typer.run(main)
