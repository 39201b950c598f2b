"""The LSTM in both directions: PyTorch's on a graphics card, the package's on a processor."""

import numpy as np
import torch
from student_data import Arrays
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_sequence, unpack_sequence

from spacy_decoders.models.bilstm import BiLSTM

__all__ = ["GraphicsLSTM", "ProcessorLSTM"]

#: The weights of a direction by their names here and in PyTorch.
NAMES = (("W", "weight_ih_l0"), ("U", "weight_hh_l0"), ("b", "bias_ih_l0"))
#: Gates are input, forget, output, candidate here; PyTorch has the output last.
GATES = [0, 1, 3, 2]


class GraphicsLSTM(nn.LSTM):
    """PyTorch's layer with our weights, over documents laid end to end."""

    def __init__(self, given: Arrays) -> None:
        inputs, hidden = len(given["W"]), len(given["U"])
        super().__init__(inputs, hidden, bidirectional=True)
        with torch.no_grad():
            for d, end in enumerate(("", "_reverse")):
                for name, of in NAMES:
                    gates = given[name].reshape(-1, 2, 4, hidden)[:, d, GATES]
                    target = getattr(self, of + end)
                    ordered = np.ascontiguousarray(gates.reshape(-1, 4 * hidden).T)
                    target.copy_(torch.from_numpy(ordered).reshape(target.shape))
                second = getattr(self, "bias_hh_l0" + end)
                second.zero_()
                second.requires_grad_(False)

    def forward(self, rows: Tensor, lengths: Tensor) -> Tensor:  # type: ignore[override]
        packed = pack_sequence(rows.split(lengths.tolist()), enforce_sorted=False)
        return torch.cat(unpack_sequence(super().forward(packed)[0]))

    def weights(self) -> Arrays:
        """Return the weights in our order."""
        found = {}
        for name, of in NAMES:
            both = []
            for end in ("", "_reverse"):
                gates = getattr(self, of + end).detach().cpu().numpy()
                gates = gates.reshape(4, self.hidden_size, -1)[GATES]
                both.append(gates.reshape(4 * self.hidden_size, -1).T)
            found[name] = np.hstack(both)
        return found


class ProcessorLSTM(nn.Module):
    """The layer that the pipeline has, whose steps need no graph of each: a fifth of the time."""

    def __init__(self, given: Arrays) -> None:
        super().__init__()
        for name, values in given.items():
            setattr(self, name, nn.Parameter(torch.from_numpy(values.copy())))
        self.layer = BiLSTM(len(given["W"]), len(given["U"]))

    def forward(self, rows: Tensor, lengths: Tensor) -> Tensor:
        return _Steps.apply(self.layer, lengths, rows, self.W, self.U, self.b)

    def weights(self) -> Arrays:
        """Return the weights in our order."""
        return {name: value.detach().numpy() for name, value in self.named_parameters()}


class _Steps(torch.autograd.Function):
    """A call of a layer of thinc."""

    @staticmethod
    def forward(ctx, layer, lengths, rows, *weights):  # type: ignore[no-untyped-def]
        for name, weight in zip("WUb", weights, strict=True):
            layer.set_param(name, weight.detach().numpy())
            layer.set_grad(name, np.zeros(weight.shape, dtype="f"))
        ctx.layer, ctx.ends = layer, np.cumsum(lengths.numpy())[:-1]
        found, ctx.backprop = layer.begin_update(np.split(rows.detach().numpy(), ctx.ends))
        return torch.from_numpy(np.concatenate(found))

    @staticmethod
    def backward(ctx, gradient):  # type: ignore[no-untyped-def]
        of_rows = np.concatenate(ctx.backprop(np.split(gradient.numpy(), ctx.ends)))
        grads = [torch.from_numpy(ctx.layer.get_grad(name)) for name in "WUb"]
        return None, None, torch.from_numpy(of_rows), *grads
