"""``@readers`` of annotated corpora."""

from .deferred import Deferred

column_corpus = Deferred("readers.corpora:ColumnCorpus")
conllu_corpus = Deferred("readers.corpora:ConlluCorpus")
headline_corpus = Deferred("readers.headlines:HeadlineCorpus")
joined_corpus = Deferred("readers.corpora:JoinedCorpus")
linked_corpus = Deferred("readers.linked:LinkedCorpus")
