"""AlphaZero as in `alphazero`, but the network is PyTorch's, on one CPU core.

    pip install torch
    python alphazero_torch.py --evaluations 1000000 --simulations 0,64
"""

from functools import partial

from common import run

import alphazero
import torch
from torch import nn
from torch.nn import functional


class TorchNetwork(nn.Module):
    """The network of `common` with the same interface: a layer, residual blocks, and linear heads, with Adam."""

    def __init__(self, inputs, heads, width=128, blocks=1, seed=1):
        super().__init__()
        torch.set_num_threads(1)  # budgets are time of one core
        torch.manual_seed(seed)
        self.stem = nn.Linear(inputs, width)
        self.blocks = nn.ModuleList(nn.Linear(width, width) for _ in range(blocks))
        self.heads = nn.ModuleDict({head: nn.Linear(width, outputs) for head, outputs in heads.items()})
        deviations = {self.stem: (20 / inputs) ** 0.5}  # about a tenth of the inputs are set
        deviations |= {block: (0.5 / width) ** 0.5 for block in self.blocks}
        deviations |= {head: (0.02 / width) ** 0.5 for head in self.heads.values()}
        for layer, deviation in deviations.items():
            nn.init.normal_(layer.weight, 0, deviation)
            nn.init.zeros_(layer.bias)
        self.optimizer = torch.optim.Adam(self.parameters())

    def forward(self, features):
        """The outputs of the heads as arrays, by name."""
        hidden = torch.from_numpy(features.reshape(len(features), -1).astype("f4", copy=False))
        hidden = functional.relu(self.stem(hidden))
        for block in self.blocks:
            hidden = functional.relu(hidden + block(hidden))
        self.outputs = {head: layer(hidden) for head, layer in self.heads.items()}
        return {head: one.detach().numpy() for head, one in self.outputs.items()}

    def learn(self, errors, rate):
        """A step of Adam: `errors` are the gradients of the loss by the outputs of the last call."""
        gradients = [torch.from_numpy((error / len(error)).astype("f4")) for error in errors.values()]
        self.optimizer.zero_grad()
        torch.autograd.backward([self.outputs[head] for head in errors], gradients)
        self.optimizer.param_groups[0]["lr"] = rate
        self.optimizer.step()


train = partial(alphazero.train, network_class=TorchNetwork)

if __name__ == "__main__":
    run(train, "AlphaZero (PyTorch)")
