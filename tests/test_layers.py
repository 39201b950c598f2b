"""Which layer may import which, and other rules of the code: parsed, not run."""

import ast
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from importlib.util import resolve_name
from pathlib import Path
from typing import NamedTuple

import networkx as nx

ROOT = Path(__file__).parents[1]
PACKAGE = "spacy_decoders"

#: The layer of each folder and module at the top; a layer imports itself and those below.
LAYERS = {
    "decoders": 0,
    "graph": 0,
    "arrays": 0,
    "budget": 0,
    "certificate": 0,
    "errors": 0,
    "extras": 0,
    "jit": 0,
    "kernel_cache": 0,
    "files": 0,
    "lazy": 0,
    "process_pool": 0,
    "one_thread": 0,
    "simd": 0,
    "verify": 0,
    "knowledge": 1,
    "models": 1,
    "readers": 1,
    "components": 2,
    "adapt": 3,
    "annotate": 3,
    "bundled": 3,
    "display": 3,
    "registry": 3,
    "cli": 4,
    "": 4,  # the package's own face
}
#: Packages that know texts: the mathematics does not.
TEXT = ("spacy", "thinc", "srsly", "catalogue")
#: Methods that stand in several cores under the field's one name.
SAME_METHOD = {"Beam"}
#: Options of the product that ask for a published method by name, and load it then.
BY_NAME = {
    # BranchAndBound(method="paper")
    f"{PACKAGE}.decoders.tree.branch_and_bound.decoder"
}
MOST_LINES = 420


class Import(NamedTuple):
    """One import: of `module`, by `importer`; `lazy` where it runs inside of a function."""

    importer: str
    module: str
    lazy: bool
    line: int

    def __str__(self) -> str:
        return f"{self.importer}:{self.line} imports {self.module}"


@cache
def trees() -> dict[str, ast.Module]:
    """The parsed source of each module, by its dotted name."""
    found = {}
    for path in sorted((ROOT / PACKAGE).rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        found[name] = ast.parse(path.read_text(encoding="utf8"), str(path))
    return found


def is_package(module: str) -> bool:
    return (ROOT / module.replace(".", "/") / "__init__.py").exists()


@cache
def imports() -> tuple[Import, ...]:
    """All imports of all modules; those for type checkers alone count as lazy."""
    return tuple(found for name, tree in trees().items() for found in _imports(name, tree, False))


def _imports(importer: str, node: ast.AST, lazy: bool) -> Iterator[Import]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import):
            for alias in child.names:
                yield Import(importer, alias.name, lazy, child.lineno)
        elif isinstance(child, ast.ImportFrom):
            package = importer if is_package(importer) else importer.rpartition(".")[0]
            base = resolve_name("." * child.level + (child.module or ""), package)
            for alias in child.names:
                whole = f"{base}.{alias.name}"
                yield Import(importer, whole if whole in trees() else base, lazy, child.lineno)
        else:
            inside = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            for_types = isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test)
            yield from _imports(importer, child, lazy or inside or for_types)


def top_of(module: str) -> str:
    """The folder or the file at the top of the package in which a module stands."""
    return [*module.split("."), ""][1]


def test_every_folder_has_a_layer():
    assert {top_of(module) for module in trees()} <= set(LAYERS)


def test_a_layer_imports_only_itself_and_those_below():
    upward = [
        str(found)
        for found in imports()
        if found.module.split(".")[0] == PACKAGE
        and LAYERS[top_of(found.importer)] < LAYERS[top_of(found.module)]
    ]
    assert not upward


def test_the_mathematics_knows_no_text():
    knowing = [
        str(found)
        for found in imports()
        if LAYERS[top_of(found.importer)] == 0 and found.module.split(".")[0] in TEXT
    ]
    assert not knowing


def test_nothing_of_the_product_imports_what_is_published():
    """Their core's face names them and loads them late, and so do options that ask for them."""
    importing = [
        str(found)
        for found in imports()
        if ".published" in found.module
        and ".published" not in found.importer
        and not (found.lazy and found.importer in {found.module.split(".published")[0], *BY_NAME})
    ]
    assert not importing


def test_no_import_goes_in_a_circle():
    """Nor within functions: two modules that need each other are one."""
    graph = nx.DiGraph(
        (found.importer, found.module)
        for found in imports()
        if found.module in trees()
        and found.module != found.importer
        and not found.importer.startswith(f"{found.module}.")
    )
    circles = [sorted(of) for of in nx.strongly_connected_components(graph) if len(of) > 1]
    assert circles == []


def test_no_two_classes_share_a_name():
    homes = defaultdict(list)
    for module, tree in trees().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                homes[node.name].append(module)
    several = {name: where for name, where in homes.items() if len(where) > 1}
    assert {name: where for name, where in several.items() if name not in SAME_METHOD} == {}
    # of the same method, one a core
    for name, where in several.items():
        cores = Counter(module.split(".")[2] for module in where)
        assert max(cores.values()) == 1, name


def test_no_module_is_too_long():
    lengths = {
        str(path.relative_to(ROOT)): len(path.read_text(encoding="utf8").splitlines())
        for path in (ROOT / PACKAGE).rglob("*.py")
    }
    assert {name: count for name, count in lengths.items() if count > MOST_LINES} == {}
