"""``@decoders`` that select and order words."""

from .deferred import Deferred

build_beam = Deferred("decoders.path:Beam")
build_color_coding = Deferred("decoders.path:ColorCoding")
build_exact_path = Deferred("decoders.path:ExactPath")
build_integer_program = Deferred("decoders.path:IntegerProgram")
