"""Networks as arrays, as agent files and as ONNX models."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import jarmo


def run(tensors: dict[str, np.ndarray], features: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Logits of actions, and of win, draw and loss, by the formulas of docs/formats.md."""
    hidden = np.maximum(features @ tensors["stem.weight"] + tensors["stem.bias"], 0)
    block = 0
    while f"blocks.{block}.bias" in tensors:
        change = hidden @ tensors[f"blocks.{block}.weight"] + tensors[f"blocks.{block}.bias"]
        hidden = np.maximum(hidden + change, 0)
        block += 1
    heads = [hidden @ tensors[f"{head}.weight"] + tensors[f"{head}.bias"] for head in ("policy", "result")]
    return heads[0], heads[1]


def softmax(logits: np.ndarray) -> np.ndarray:
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    shares: np.ndarray = powers / powers.sum(axis=1, keepdims=True)
    return shares


@pytest.mark.parametrize("game", jarmo.GAMES)
def test_arrays_are_the_network_that_plays(game: str) -> None:
    positions = jarmo.VecEnv(game, 50, seed=1, random_plies=8).positions()
    agent = jarmo.Agent("trained?sims=0&kernel=portable", game=game)
    features = jarmo.Game(game).features(positions, threats=True).reshape(50, -1)
    logits, results = run(agent.network(), features)
    judged = agent.evaluate(positions)
    assert np.allclose(softmax(results), judged.results, atol=1e-4)
    masked = np.where(jarmo.Game(game).masks(positions), logits, -np.inf)
    assert np.array_equal(masked.argmax(axis=1), judged.actions)
    assert np.allclose(softmax(masked), judged.policies, atol=1e-4)


def test_a_saved_network_is_an_agent(tmp_path: Path) -> None:
    path = tmp_path / "mine.safetensors"
    tensors = jarmo.Agent("trained", game="guard").network()
    jarmo.save_agent(path, "guard", tensors, run="test", step=7, games=5)
    positions = jarmo.VecEnv("guard", 30, seed=1, random_plies=5).positions()
    mine = jarmo.Agent(f"{path}?sims=16", game="guard")
    assert np.array_equal(mine.choose(positions), jarmo.Agent("trained:16", game="guard").choose(positions))
    for name, tensor in mine.network().items():
        assert np.array_equal(tensor, tensors[name])


def test_an_agent_keeps_the_network_that_it_has_loaded(tmp_path: Path) -> None:
    path = tmp_path / "mine.safetensors"
    trained = jarmo.Agent("trained:8", game="guard")
    trained.save(path)
    positions = jarmo.VecEnv("guard", 30, seed=1, random_plies=5).positions()
    mine = jarmo.Agent(path, game="guard")
    tensors = mine.network()
    jarmo.save_agent(path, "guard", {name: (tensor / 2).astype(np.float32) for name, tensor in tensors.items()})
    assert np.array_equal(mine.network()["stem.weight"], tensors["stem.weight"])
    path.unlink()
    ours, theirs = (jarmo.search(positions, one, simulations=8) for one in (mine, trained))
    assert np.array_equal(ours.policies, theirs.policies)
    expected = trained.choose(positions, nodes=8)
    assert np.array_equal(mine.choose(positions, nodes=8, threads=3), expected), "more threads, the same network"
    assert jarmo.arena([mine, "random"], games=2, nodes=2).agents["games"].tolist() == [2, 2]
    with pytest.raises(ValueError, match="no such file"):
        jarmo.Agent(path, game="guard")
    with pytest.raises(ValueError, match="must end in .safetensors"):
        trained.save(tmp_path / "mine.npz")
    with pytest.raises(ValueError, match="agent `greedy` has no network"):
        jarmo.Agent("greedy").save(path)


def test_a_network_without_threats_is_an_agent(tmp_path: Path) -> None:
    tensors = jarmo.Agent("trained", game="guard").network()
    inputs = int(np.prod(jarmo.Game("guard").feature_shape()))
    jarmo.save_agent(tmp_path / "mine.safetensors", "guard", {**tensors, "stem.weight": tensors["stem.weight"][:inputs]})
    stem = jarmo.Agent(f"{tmp_path}/mine.safetensors", game="guard").network()["stem.weight"]
    assert stem.shape == tensors["stem.weight"].shape
    assert np.array_equal(stem[:inputs], tensors["stem.weight"][:inputs])
    assert not stem[inputs:].any()


def test_wrong_networks_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "mine.safetensors"
    tensors = jarmo.Agent("trained", game="guard").network()
    with pytest.raises(ValueError, match="tensor `stem.weight` has dimensions"):
        jarmo.save_agent(path, "tammi", tensors)
    with pytest.raises(ValueError, match="tensor `stem.bias` is missing"):
        jarmo.save_agent(path, "guard", {})
    with pytest.raises(TypeError, match=r'tensors\["stem.bias"\] must be an array of float32'):
        jarmo.save_agent(path, "guard", {**tensors, "stem.bias": tensors["stem.bias"].astype(np.float64)})
    tensors["stem.bias"][0] = np.nan
    with pytest.raises(ValueError, match="must be finite"):
        jarmo.save_agent(path, "guard", tensors)
    assert not path.exists()
    with pytest.raises(ValueError, match="agent `greedy` has no network"):
        jarmo.Agent("greedy").network()


@pytest.mark.parametrize("game", jarmo.GAMES)
def test_onnx_runtime_agrees(game: str, tmp_path: Path) -> None:
    pytest.importorskip("onnx")
    runtime = pytest.importorskip("onnxruntime")
    path = tmp_path / "agent.onnx"
    agent = jarmo.Agent("trained?sims=0&kernel=portable", game=game)
    agent.to_onnx(path)
    positions = jarmo.VecEnv(game, 100, seed=2, random_plies=8).positions()
    features = jarmo.Game(game).features(positions, threats=True).reshape(100, -1)
    session = runtime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    policy, result = session.run(["policy", "result"], {"features": features})
    judged = agent.evaluate(positions)
    assert np.abs(result - judged.results).max() < 1e-5
    masked = np.where(jarmo.Game(game).masks(positions), policy, -np.inf)
    assert np.abs(softmax(masked) - judged.policies).max() < 1e-5
