"""Time pytorch-crf on the scores in a file; run by the interpreter that has torch.

Prints the median of the processor seconds for the whole batch.
"""

import statistics
import sys
from time import thread_time

import numpy as np
import torch
from torchcrf import CRF

torch.set_num_threads(1)
with np.load(sys.argv[1]) as scores:
    crf = CRF(len(scores["start"]), batch_first=True)
    with torch.no_grad():
        crf.transitions.copy_(torch.from_numpy(scores["transitions"]))
        crf.start_transitions.copy_(torch.from_numpy(scores["start"]))
        crf.end_transitions.copy_(torch.from_numpy(scores["end"]))
    lengths = scores["lengths"].tolist()
    parts = torch.split(torch.from_numpy(scores["emissions"]), lengths)
batch = torch.nn.utils.rnn.pad_sequence(parts, batch_first=True)
mask = torch.arange(batch.shape[1])[None] < torch.tensor(lengths)[:, None]
taken: list[float] = []
while len(taken) < 2 or (sum(taken) < 2 and len(taken) < 20):
    begin = thread_time()
    with torch.no_grad():
        crf.decode(batch, mask)
    taken.append(thread_time() - begin)
print(statistics.median(taken))
