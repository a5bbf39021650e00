"""The ids of the environments for Gymnasium. Importing this module does not import the environments."""

from __future__ import annotations

from gymnasium.envs.registration import register as _register

IDS = {"jarmo": "Jarmo-v1", "guard": "Guard-v1", "tammi": "Tammi-v1", "connect_four": "ConnectFour-v1"}
"""The ids by game, without the namespace ``jarmo/``."""


def register() -> None:
    """Registers the environments of all games. Gymnasium calls it when it is imported, through the package's entry
    point."""
    for game, name in IDS.items():
        _register(
            f"jarmo/{name}",
            entry_point="jarmo.gym:JarmoEnv",
            vector_entry_point="jarmo.gym:JarmoVectorEnv",
            kwargs={"game": game},
        )
