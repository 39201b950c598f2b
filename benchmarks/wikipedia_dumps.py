"""A knowledge base built from generated dumps of Wikipedia's shape: time, memory and disk.

    python benchmarks/wikipedia_dumps.py --pages 700000 --redirects 1100000 --links 20000000

The dumps have the columns and the compression of today's; links go through `linktarget`. The build
runs in a process of its own, whose memory is sampled: anonymous memory is what has to fit, mapped
files may leave at any time.
"""

from __future__ import annotations

import harness  # isort: skip - first: it sets the threads

import argparse
import gzip
import json
import re
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
from wikipedia_like import popular

WORDS = re.findall(
    r"\w+",
    """
    river city north battle music football club station church album
    film school house party league county museum island district university
    station railway species village mountain
    """,
)


def _table(path: Path, name: str, columns: list[str], statements) -> None:
    head = "".join(f"  `{column}` int(8) NOT NULL,\n" for column in columns)
    head = f"CREATE TABLE `{name}` (\n{head}  KEY `x` (`x`)\n) ENGINE=InnoDB;\n"
    with gzip.open(path, "wb", compresslevel=1) as stream:
        stream.write(head.encode())
        for body in statements:
            stream.write(f"INSERT INTO `{name}` VALUES ".encode() + body + b";\n")


def title(number: int) -> str:
    """Every tenth has brackets, every fiftieth an apostrophe; the words repeat."""
    first, second = WORDS[number % len(WORDS)], WORDS[number // 7 % len(WORDS)]
    name = f"{first.capitalize()}_{second}_{number:x}"
    if number % 50 == 0:
        name = f"O\\'{name}"
    return f"{name}_({WORDS[number // 3 % len(WORDS)]})" if number % 10 == 0 else name


def write_dumps(folder: Path, pages: int, redirects: int, links: int) -> None:
    """Pages have ids from 1 on, redirects follow them; link targets are numbered likewise."""
    rng = np.random.default_rng(0)
    total = pages + redirects
    step = 20_000

    def rows(form, count):
        for first in range(0, count, step):
            numbers = range(first, min(first + step, count))
            yield ",".join(map(form, numbers)).encode()

    columns = ["page_id", "page_namespace", "page_title", "page_is_redirect", "page_len"]
    _table(
        folder / "page.sql.gz",
        "page",
        columns,
        rows(lambda i: f"({i + 1},0,'{title(i)}',{int(i >= pages)},77)", total),
    )
    led_to = rng.integers(pages, size=redirects).tolist()
    columns = ["rd_from", "rd_namespace", "rd_title", "rd_interwiki", "rd_fragment"]
    _table(
        folder / "redirect.sql.gz",
        "redirect",
        columns,
        rows(lambda i: f"({pages + i + 1},0,'{title(led_to[i])}','','')", redirects),
    )
    _table(
        folder / "linktarget.sql.gz",
        "linktarget",
        ["lt_id", "lt_namespace", "lt_title"],
        rows(lambda i: f"({i + 1},0,'{title(i)}')", total),
    )
    vertex_of_rank = rng.permutation(pages)

    def link_rows():
        for first in range(0, links, 1 << 20):
            count = min(1 << 20, links - first)
            sources = rng.integers(pages, size=count)
            targets = vertex_of_rank[popular(rng, pages, count)]
            # a tenth of all links goes through redirects
            through = rng.random(count) < 0.1
            targets[through] = pages + rng.integers(max(redirects, 1), size=int(through.sum()))
            pairs = zip((sources + 1).tolist(), (targets + 1).tolist(), strict=True)
            yield ",".join(f"({source},0,{target})" for source, target in pairs).encode()

    _table(
        folder / "pagelinks.sql.gz",
        "pagelinks",
        ["pl_from", "pl_from_namespace", "pl_target_id"],
        link_rows(),
    )


def build(folder: Path) -> None:
    """The build itself; prints a line of JSON at the end."""
    from spacy_decoders.knowledge.wikipedia import WikipediaDumps

    dumps = WikipediaDumps(
        *(folder / f"{name}.sql.gz" for name in ("page", "redirect", "pagelinks")),
        stages=folder / "stages",
        linktarget=folder / "linktarget.sql.gz",
        report=lambda line: print(line, flush=True),
    )
    start = time.perf_counter()
    base, _ = dumps.build(folder / "kb")
    spent = {
        "processor s": time.process_time(),
        "wall s": time.perf_counter() - start,
        "concepts": len(base),
        "links": base.graph.n_edges,
        "aliases": len(base.aliases),
    }
    print(json.dumps(spent), flush=True)


def _memory(pid: int) -> tuple[float, float]:
    """Anonymous and resident memory of a process, MB."""
    fields = {}
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        name, _, value = line.partition(":")
        if name in ("RssAnon", "VmRSS"):
            fields[name] = int(value.split()[0]) / 1024
    return fields.get("RssAnon", 0.0), fields.get("VmRSS", 0.0)


def _size(folder: Path) -> float:
    return sum(p.stat().st_blocks * 512 for p in folder.rglob("*") if p.is_file()) / 1e9


def main() -> None:
    """Write the dumps, build, report."""
    parser = harness.arguments(str(__doc__))
    parser.add_argument("--pages", type=int, default=70_000)
    parser.add_argument("--redirects", type=int, default=110_000)
    parser.add_argument("--links", type=int, default=2_000_000)
    parser.add_argument("--folder", type=Path, help="for the dumps and the result")
    parser.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        build(options.child)
        return
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        folder = Path(name)
        start = time.process_time()
        write_dumps(folder, options.pages, options.redirects, options.links)
        dumps = _size(folder)
        print(f"dumps: {dumps:.2f} GB, {time.process_time() - start:.0f} s", flush=True)
        command = [sys.executable, __file__, "--child", str(folder)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        anonymous = resident = disk = 0.0
        lines: list[str] = []
        assert process.stdout is not None
        reader = threading.Thread(target=lambda: lines.extend(process.stdout), daemon=True)
        reader.start()
        ticks = 0
        while process.poll() is None:
            try:
                a, r = _memory(process.pid)
            except (FileNotFoundError, ProcessLookupError):
                break
            anonymous, resident = max(anonymous, a), max(resident, r)
            if ticks % 40 == 0:
                disk = max(disk, _size(folder) - dumps)
            ticks += 1
            time.sleep(0.05)
        reader.join()
        print("".join(lines), end="")
        if process.wait():
            sys.exit(1)
        spent = json.loads(lines[-1])
        report = harness.Report(f"wikipedia_dumps-{options.pages}", options.results)
        report.table(
            f"{options.pages:,} pages, {options.redirects:,} redirects, {options.links:,} links",
            ["what", "value"],
            [
                ["dumps, GB", dumps],
                ["processor time, s", spent["processor s"]],
                ["wall time, s", spent["wall s"]],
                ["peak of anonymous memory, MB", anonymous],
                ["peak of resident memory, with mapped files, MB", resident],
                ["peak of disk, GB", disk],
                ["base, GB", _size(folder / "kb")],
                ["aliases", spent["aliases"]],
                ["links between concepts", spent["links"]],
            ],
        )
        report.close()


if __name__ == "__main__":
    main()
