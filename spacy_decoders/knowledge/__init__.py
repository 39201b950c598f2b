"""What the linker knows: concepts, their aliases, their graph, their text."""
