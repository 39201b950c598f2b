"""What config files name: decoders, parts of models and of the linker, and callbacks.

Each has its name among the entry points in ``pyproject.toml``.
"""

from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

from spacy.kb import KnowledgeBase
from spacy.language import Language
from spacy.training import Example
from spacy.vocab import Vocab

from ..bundled import CONCEPTS
from ..errors import StorageError
from .deferred import Deferred

# --- @decoders ----------------------------------------------------------------------

chain_beam = Deferred("decoders.chain:Beam")
column_generation = Deferred("decoders.chain:ColumnGeneration")
forward_dominance = Deferred("decoders.chain:ForwardDominance")
pruned_viterbi = Deferred("decoders.chain:PrunedViterbi")
viterbi = Deferred("decoders.chain:Viterbi")

branch_and_bound = Deferred("decoders.tree:BranchAndBound")
chu_liu_edmonds = Deferred("decoders.tree:ChuLiuEdmonds")
eisner = Deferred("decoders.tree:Eisner")
price_and_cut = Deferred("decoders.tree:PriceAndCut")
second_order = Deferred("decoders.tree:SecondOrder")

color_coding = Deferred("decoders.path:ColorCoding")
exact_path = Deferred("decoders.path:ExactPath")
integer_program = Deferred("decoders.path:IntegerProgram")
path_beam = Deferred("decoders.path:Beam")

decomposable = Deferred("decoders.representatives:Decomposable")
degree = Deferred("decoders.representatives:Degree")
exact_representatives = Deferred("decoders.representatives:ExactRepresentatives")
greedy = Deferred("decoders.representatives:Greedy")
hitting_distance = Deferred("decoders.representatives:HittingDistance")
local_search = Deferred("decoders.representatives:LocalSearch")
pagerank = Deferred("decoders.representatives:PageRank")
spanning_tree = Deferred("decoders.representatives:SpanningTree")

# --- @architectures -----------------------------------------------------------------

arc_scorer = Deferred("models.parser.arc_scorer:ArcScorer")
bilstm_encoder = Deferred("models.bilstm:BiLSTM")
chain_scorer = Deferred("models.tagger.scorer:build_chain_scorer")
cluster_embed = Deferred("models.clusters.embed:build_cluster_embed")
link_weights = Deferred("models.linker.weights:build_link_weights")
phrase_selection = Deferred("models.headline.selection:build_phrase_selection")
sparse_chain_scorer = Deferred("models.tagger.sparse.scorer:build_sparse_chain_scorer")
tensor_vectors = Deferred("models.tagger.tensors:build_tensor_vectors")

# --- @misc --------------------------------------------------------------------------

gazetteer = Deferred("models.tagger.sparse.gazetteer:Gazetteer")
word_clusters = Deferred("models.clusters.sources:WordClusters")
word_vectors = Deferred("models.clusters.sources:WordVectors")

alias_candidates = Deferred("components.linker.candidates:AliasCandidates")
text_candidates = Deferred("components.linker.candidates:TextCandidates")

entity_vectors = Deferred("knowledge.pair_costs:EntityVectors")
graph_distance = Deferred("knowledge.pair_costs:GraphDistance")
shared_neighbours = Deferred("knowledge.pair_costs:SharedNeighbours")


def concept_base(path: str | None = None) -> Callable[[Vocab], KnowledgeBase]:
    """Load the knowledge base in a folder, by default the small one that is shipped.

    A folder that can't be opened is an error only when it is needed, since a component that was
    saved with `store_kb` has a copy of its own.
    """
    return partial(_open_concept_base, path=path)


def _open_concept_base(vocab: Vocab, path: str | None) -> KnowledgeBase:
    from ..components.linker.knowledge_base import ConceptKnowledgeBase

    if path is None:
        return ConceptKnowledgeBase(vocab, None).from_disk(CONCEPTS)
    try:
        return ConceptKnowledgeBase(vocab, None).from_disk(path)
    except (OSError, StorageError) as error:
        where = ""
        if not Path(path).is_absolute():
            where = f", relative to the working directory, {Path.cwd()}"
        return ConceptKnowledgeBase(
            vocab,
            None,
            f"{error} The config says path = {path!r}{where}. Load the pipeline with "
            'config={"components.NAME.kb.path": ...}, or save it with store_kb = true, which '
            "keeps a copy of the knowledge base in it.",
        )


# --- @callbacks ---------------------------------------------------------------------


def universal_noun_chunks() -> Callable[[Language], Language]:
    """Find noun chunks in trees with universal dependencies, as ``[nlp.after_creation]``.

    spaCy's noun chunks of English look for other labels, such as ``dobj`` and ``pobj``, and miss
    most objects. Parts of speech must be set.
    """
    from ..components.parser.noun_chunks import use_noun_chunks

    return use_noun_chunks


def calibrate(
    corpus: Callable[[Language], Iterable[Example]],
    components: list[str] = [],  # noqa: B006
) -> Callable[[Language], Language]:
    """Calibrate probabilities whenever the pipeline is saved, as ``[training.before_to_disk]``.

    The corpus reads held-out examples, such as ``${corpora.dev}``. `components` are the names of
    those to calibrate; none for all that have probabilities. Calibrations are saved with them.
    """

    def calibrated(nlp: Language) -> Language:
        from ..components.probabilities import calibrate_pipeline

        calibrate_pipeline(nlp, corpus(nlp), components=components)
        return nlp

    return calibrated
