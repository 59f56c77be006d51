"""Models that test_torch_patch.py and bench/torch_patch.py train: a perceptron and a small transformer."""

import torch
from torch.nn import functional


class Block(torch.nn.Module):
    """Layer of a transformer. Its attention is by products, or by PyTorch's function for it."""

    def __init__(self, width, heads, is_fused=False):
        super().__init__()
        self.norms = torch.nn.ModuleList(torch.nn.LayerNorm(width) for _ in range(2))
        self.qkv, self.project = torch.nn.Linear(width, 3 * width), torch.nn.Linear(width, width)
        self.up, self.down = torch.nn.Linear(width, 4 * width), torch.nn.Linear(4 * width, width)
        self.heads, self.is_fused = heads, is_fused

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = self.qkv(self.norms[0](x)).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        if self.is_fused:
            mixed = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        else:
            mixed = torch.softmax(q @ k.mT * (width // self.heads) ** -0.5, -1) @ v
        x = x + self.project(mixed.transpose(1, 2).reshape(batch, length, width))
        return x + self.down(functional.gelu(self.up(self.norms[1](x))))


def make_model(name, width, *, device, dtype=torch.float32, heads=3, depth=2, is_fused=False):
    """Returns a model. Equal calls return equal models."""
    torch.manual_seed(1)
    if name == "perceptron":
        layers = torch.nn.Linear(width, 4 * width), torch.nn.ReLU(), torch.nn.Linear(4 * width, width)
    else:
        layers = (torch.nn.Embedding(width, width), *(Block(width, heads, is_fused) for _ in range(depth)),
                  torch.nn.Linear(width, width))
    return torch.nn.Sequential(*layers).to(device, dtype)


def train(name, model, shape, steps):
    """Trains a model on data from one seed, and yields the loss of each step."""
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
    last = model[-1]
    place = {"device": last.weight.device}
    torch.manual_seed(2)
    for _ in range(steps):
        if name == "perceptron":
            x = torch.randn(*shape, last.out_features, dtype=last.weight.dtype, **place)
            loss = functional.mse_loss(model(x), x.roll(1, 1)) * 64
        else:
            x = torch.randint(last.out_features, shape, **place)
            loss = functional.cross_entropy(model(x).flatten(0, 1), x.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        yield loss.detach()
