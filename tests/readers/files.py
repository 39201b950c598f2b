"""Small corpora in each format."""

import bz2
import gzip
from pathlib import Path

CONLLU = """\
# newdoc id = one
# sent_id = 1
1-2\tDon't\t_\t_\t_\t_\t_\t_\t_\t_
1\tDo\tdo\tAUX\tVBP\tMood=Imp\t3\taux\t_\t_
2\tn't\tnot\tPART\tRB\t_\t3\tadvmod\t_\t_
3\tgo\tgo\tVERB\tVB\tVerbForm=Inf\t0\troot\t_\tSpaceAfter=No
3.1\tgone\tgo\tVERB\tVBN\t_\t_\t_\t_\t_
4\t!\t!\tPUNCT\t.\t_\t3\tpunct\t_\t_

# sent_id = 2
1\t#\t#\tSYM\t_\t_\t2\tdep\t_\t_
2\tstay\tstay\tVERB\tVB\t_\t0\troot\t_\t_

# newdoc id = two
# sent_id = 3
1\tWhy\twhy\tADV\tWRB\t_\t0\troot\t_\tSpaceAfter=No
2\t?\t?\tPUNCT\t.\t_\t1\tpunct\t_\t_

"""


# two roots in the first sentence, crossing arcs in the second
CONLLX = """\
1\tDet\tdet\tPP\tPP3\tx=1\t0\tROOT\t_\t_
2\tvil\tville\tVA\tVAD\t_\t0\tROOT\t_\t_

1\ta\ta\tN\tNC\t_\t3\tx\t_\t_
2\tb\tb\tN\tNC\t_\t4\tx\t_\t_
3\tc\tc\tN\tNC\t_\t0\tROOT\t_\t_
4\td\td\tN\tNC\t_\t3\tx\t_\t_
"""


COLUMNS = """\
# newdoc id = a
Mercury\tNNP\tB-PLANET
shines\tVBZ\tO

#\tSYM\tO
New\tNNP\tB-LOC
York\tNNP\tI-LOC
"""


def written(folder: Path, name: str, content: str | bytes) -> Path:
    """Write a file, packed as its name says."""
    pack = {".gz": gzip.compress, ".bz2": bz2.compress}.get(Path(name).suffix, bytes)
    (folder / name).write_bytes(pack(content.encode() if isinstance(content, str) else content))
    return folder / name
