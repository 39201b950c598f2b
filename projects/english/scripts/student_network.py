"""The network of `configs/parser.cfg` in PyTorch, with the weights that `student.py` reads."""

from typing import Any

import numpy as np
import torch
from student_data import Arrays
from student_lstm import GraphicsLSTM, ProcessorLSTM
from torch import Tensor, nn
from torch.nn.functional import dropout

__all__ = ["DEVICE", "Student"]

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"

#: Upper ends of the classes of distances on each side; as in `models/parser/biaffine.py`.
DISTANCES = torch.tensor([1, 2, 3, 4, 6, 9, 14, 24])


def half_precision() -> Any:
    """Products on a processor in the format for which newer ones have units of their own."""
    return torch.autocast("cpu", torch.bfloat16, enabled=DEVICE == "cpu")


class Student(nn.Module):
    """The network of `branch_and_bound_parser`; its weights have the names of `student.py`."""

    def __init__(self, given: Arrays, rate: float = 0.2) -> None:
        super().__init__()
        self.rate = rate
        for name, values in given.items():
            if name.startswith("rows."):
                rows = torch.from_numpy(values.astype(np.int64))
                self.register_buffer(name.replace(".", "_"), rows, persistent=False)
        vectors = torch.from_numpy(given["vectors"].astype("f"))
        self.register_buffer("known_vectors", vectors, persistent=False)
        weights = {
            k.removeprefix("weights."): v for k, v in given.items() if k.startswith("weights.")
        }
        self.w = nn.ParameterDict(
            {
                k.replace(".", "__"): torch.from_numpy(v.astype("f").copy())
                for k, v in weights.items()
                if not k.startswith("lstm.")
            }
        )
        kind = ProcessorLSTM if DEVICE == "cpu" else GraphicsLSTM
        self.lstm = kind({k: weights[f"lstm.{k}"].astype("f") for k in ("W", "U", "b")})

    def weights(self) -> Arrays:
        """Return all weights by name."""
        found = {k.replace("__", "."): v.detach().cpu().numpy() for k, v in self.w.items()}
        found |= {f"lstm.{k}": v for k, v in self.lstm.weights().items()}
        return found

    def drop(self, values: Tensor) -> Tensor:
        """Leave out some numbers in training."""
        return dropout(values, self.rate, self.training)

    def maxout(self, name: str, values: Tensor) -> Tensor:
        """Return a layer of the greatest of some pieces, normalised."""
        W, b = self.w[f"mix_{name}__W"], self.w[f"mix_{name}__b"]
        with half_precision():
            out = values @ W.reshape(-1, W.shape[-1]).T
        out = (out.float() + b.reshape(-1)).unflatten(-1, b.shape).amax(-1)
        mean = out.mean(-1, keepdim=True)
        spread = (out.var(-1, unbiased=False, keepdim=True) + 1e-8).sqrt()
        return (out - mean) / spread * self.w[f"norm_{name}__G"] + self.w[f"norm_{name}__b"]

    def embed(self, words: Tensor) -> Tensor:
        """Return the vectors of words by themselves."""

        def looked_up(kind: str, count: int) -> Tensor:
            parts = []
            for column in range(count):
                E = self.w[f"{kind}{column}__E"]
                mask = self.drop(torch.ones(E.shape[1], device=E.device))
                parts.append(E[getattr(self, f"rows_{kind}{column}")[words]].sum(1) * mask)
            return torch.cat(parts, -1)

        forms = self.drop(self.maxout("forms", looked_up("form", 4)))
        vectors = self.known_vectors[self.rows_vectors[words]]
        vectors = vectors @ self.w["vectors__W"].T + self.w["vectors__b"]
        return self.drop(
            self.maxout("all", torch.cat([forms, looked_up("cluster", 6), vectors], -1))
        )

    def encode(self, words: Tensor, lengths: Tensor) -> Tensor:
        """Return the vectors of words in their documents, laid end to end."""
        flat = self.embed(words)
        steps = torch.arange(int(lengths.max()), device=words.device)
        inside = steps[None, :] < lengths[:, None]
        padded = flat.new_zeros(*inside.shape, flat.shape[-1])
        padded[inside] = flat
        around = nn.functional.pad(padded, (0, 0, 1, 1))
        windows = torch.cat([around[:, :-2], padded, around[:, 2:]], -1)
        padded = padded + self.drop(self.maxout("windows", windows))
        return self.drop(self.lstm(padded[inside], lengths))

    def hidden(self, name: str, values: Tensor) -> Tensor:
        """Return a hidden layer of an output."""
        with half_precision():
            out = values @ self.w[f"{name}__W"].T
        return self.drop((out.float() + self.w[f"{name}__b"]).relu())

    def forward(
        self, words: Tensor, lengths: Tensor, block: Tensor, column: Tensor
    ) -> dict[str, Tensor]:
        """Return scores of tags, boundaries and arcs, and what scores labels.

        Arcs are (words, words of the longest block + 1), the root first.
        """
        w = self.w
        encoded = self.encode(words, lengths)
        tags = encoded @ w["tags__W"].T + w["tags__b"]
        seen = torch.cat([encoded, tags.detach().softmax(-1) @ w["tagged__E"]], -1)
        starts = self.hidden("boundary_hidden", seen) @ w["boundaries__W"].T + w["boundaries__b"]
        modifiers, heads = self.hidden("arc_modifiers", seen), self.hidden("arc_heads", seen)
        count, longest = int(block.max()) + 1, int(column.max()) + 1

        def spread(values: Tensor) -> Tensor:
            out = values.new_zeros(count, longest, values.shape[-1])
            out[block, column] = values
            return out

        queries = spread(modifiers @ w["arcs__U"] + w["arcs__u"])
        arcs = queries @ spread(heads).transpose(1, 2)
        place = torch.arange(longest, device=words.device)
        signed = place[None, :] - place[:, None]
        buckets = torch.searchsorted(DISTANCES.to(words.device), signed.abs()) + 9 * (signed < 0)
        buckets = buckets.expand(count, -1, -1)
        arcs = arcs + spread(modifiers @ w["arcs__E"].T + w["arcs__bias"]).gather(2, buckets)
        of_heads = spread(heads @ w["arcs__F"].T).gather(2, buckets.transpose(1, 2))
        arcs = arcs + of_heads.transpose(1, 2)
        present = torch.zeros(count, longest, dtype=torch.bool, device=words.device)
        present[block, column] = True
        arcs = arcs.masked_fill(~present[:, None, :] | (signed == 0), -1e9)
        arcs = torch.cat([queries @ w["arcs__root"][:, None], arcs], -1)
        return {
            "tags": tags,
            "starts": starts[:, 0],
            "arcs": arcs[block, column],
            "label_modifiers": self.hidden("label_modifiers", seen),
            "label_heads": self.hidden("label_heads", seen),
        }

    def labels(self, out: dict[str, Tensor], modifiers: Tensor, heads: Tensor) -> Tensor:
        """Return the scores of the labels of some arcs."""
        w = self.w
        d, k = out["label_modifiers"][modifiers], out["label_heads"][heads]
        with half_precision():
            by_label = (d @ w["labels__W"]).unflatten(-1, w["labels__H"].shape)
        scores = (by_label * k[:, None, :].to(by_label.dtype)).sum(-1, dtype=torch.float32)
        signed = heads - modifiers
        buckets = torch.searchsorted(DISTANCES.to(d.device), signed.abs()) + 9 * (signed < 0)
        return (
            scores
            + k @ w["labels__H"].T
            + d @ w["labels__M"].T
            + w["labels__b"]
            + w["labels__D"][buckets]
        )
