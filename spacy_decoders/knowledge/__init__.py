"""The linker's data: concepts, their aliases, their graph, their text."""
