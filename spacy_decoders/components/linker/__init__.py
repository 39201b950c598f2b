"""``graph_entity_linker``: all mentions of a document linked together, certified."""
