"""PyTorch and JAX take the arrays of a step without a copy: they see them at the same address."""

import jax
import numpy as np
import torch

import jarmo

FEW = 1 << 14  # bytes below which an array is not aligned, and JAX copies it

for dtype in ("float32", "uint8"):
    env = jarmo.VecEnv("connect_four", 32768, seed=1, dtype=dtype)
    env.reset()
    for _ in range(20):
        env.step(env.sample_actions())
    new = env.step(env.sample_actions())
    for kind, step in (("new", new), ("out", env.step(env.sample_actions(), out=env.buffers()))):
        for name, array in step._asdict().items():
            address = array.ctypes.data
            taken = torch.from_dlpack(array)
            assert taken.data_ptr() == address or array.size == 0, f"PyTorch copies {kind} {name}"
            assert np.array_equal(taken.numpy(), array)
            if array.nbytes >= FEW and array.dtype != np.int64:  # JAX has 32 bits unless it is told otherwise
                taken = jax.dlpack.from_dlpack(array)
                assert taken.unsafe_buffer_pointer() == address, f"JAX copies {kind} {name}"
                assert np.array_equal(taken, array)
        sizes = {name: array.nbytes for name, array in step._asdict().items()}
        print(f"{dtype}, {kind} arrays: no copy of", ", ".join(f"{name} ({size:,})" for name, size in sizes.items()))
