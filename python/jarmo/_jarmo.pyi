"""The extension module. Import these names from `jarmo`."""

import pathlib
from collections.abc import Sequence
from typing import Any, Literal, SupportsIndex, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jarmo._types import (
    Evaluate,
    Evaluation,
    Lookup,
    Outcome,
    Path,
    Player,
    Positions,
    Progress,
    Samples,
    SearchResult,
    Step,
    Symmetry,
)

__all__ = [
    "GAMES",
    "Agent",
    "Game",
    "Position",
    "SelfPlay",
    "Tables",
    "Training",
    "VecEnv",
    "Yardstick",
    "__version__",
    "arena",
    "bench_env",
    "create_run",
    "decide",
    "exam",
    "exam_questions",
    "read_run",
    "run_program",
    "save_agent",
    "search",
    "yardstick_report",
    "yardstick_rows",
    "yardstick_seal",
]

GAMES: list[str]
__version__: str

@final
class Game:
    """The rules of a game with their settings.

    Games with equal rules are equal. All functions that take a game take its name, too, for the standard settings.

    Args:
        name: One of ``jarmo.GAMES``.
        max_plies: A game is truncated and drawn after this many actions, 0 for never; by default the game's limit.
        board: A board file that replaces the standard board (jarmo and guard), or ``"random:SEED"`` for a random one.
        quiet_limit: Plies without a capture after which tammi is drawn.
    """

    def __new__(
        cls,
        name: str = "jarmo",
        *,
        max_plies: int | None = None,
        board: Path | None = None,
        quiet_limit: int | None = None,
    ) -> Game: ...

    @property
    def name(self) -> str:
        """One of ``jarmo.GAMES``."""

    @property
    def num_actions(self) -> int:
        """The number of actions; every action is an index below it."""

    @property
    def max_plies(self) -> int:
        """A game is truncated and drawn after this many actions; 0 for never."""

    @property
    def rules_version(self) -> int:
        """The version of the rules. It is increased whenever the rules or the numbers of actions and features
        change."""

    def feature_shape(self, *, threats: bool = False) -> tuple[int, int, int]:
        """Planes, rows and columns of a position's features. With ``threats``, planes for cells under attack, possible
        captures and the like follow. The networks of agent files need them."""

    def plane_names(self, *, threats: bool = False) -> list[str]:
        """The content of each plane of features, and with ``threats`` of each plane of threats. The cells of planes of
        numbers are listed in docs/games."""

    @property
    def lines(self) -> NDArray[np.bool_]:
        """Which cells the board's lines join, ``[cells, cells]``. In games without lines, none."""

    @property
    def action_names(self) -> list[str]:
        """The text of every action by index, from White's point of view and without captures. In tammi, actions are
        from the point of view of the player to move."""

    def symmetries(self, *, threats: bool = False) -> list[Symmetry]:
        """The symmetries of the game, which keep its rules and results. The first one is the identity."""

    @property
    def start(self) -> Position:
        """The position a game starts from."""

    def position(self, text: str) -> Position:
        """Reads a position from its text; the error names the field that is wrong."""

    def features(
        self, positions: Positions, *, threats: bool = False, viewer: int | None = None
    ) -> NDArray[np.float32]:
        """The features of ``N`` positions, ``[N, planes, rows, columns]``, 0 or 1: as the player to move sees them, or as
        if ``viewer`` (0 for White, 1 for Black) were to move."""

    def masks(self, positions: Positions) -> NDArray[np.bool_]:
        """The legal actions of ``N`` positions, ``[N, actions]``; none where the game is over."""

    def __getnewargs_ex__(self) -> Any: ...
    def __copy__(self) -> Game: ...
    def __deepcopy__(self, memo: object) -> Game: ...
    def __hash__(self) -> int: ...
    def __eq__(self, other: object, /) -> bool: ...

@final
class Position:
    """A position of a game, an immutable value.

    Positions are equal if search treats them as the same. A notebook shows a position as a picture, ``print`` as text.
    """

    @property
    def game(self) -> Game:
        """The rules of its game."""

    @property
    def text(self) -> str:
        """The position as text; ``game.position(text)`` reads it. The text of tammi leaves out the earlier positions
        that count for repetitions."""

    @property
    def to_move(self) -> int:
        """0 if White is to move, 1 if Black is."""

    @property
    def ply(self) -> int:
        """The number of actions played."""

    @property
    def is_over(self) -> bool:
        """Whether the game is over."""

    @property
    def outcome(self) -> Outcome | None:
        """How the game ended; None if it is not over."""

    @property
    def legal(self) -> list[int]:
        """The legal actions, lowest first; none if the game is over."""

    @property
    def legal_texts(self) -> list[str]:
        """The legal actions as text, in the order of ``legal``."""

    def action_text(self, action: SupportsIndex | str) -> str:
        """The text of a legal action."""

    def parse_action(self, text: str) -> int:
        """The action with this text, which may be illegal."""

    def play(self, *actions: SupportsIndex | str) -> Position:
        """The position after these actions, given as indices or texts. The error says why one is illegal."""

    def svg(self, actions: Sequence[SupportsIndex | str] | None = None, *, title: str | None = None) -> str:
        """A picture as SVG, with legal actions as arrows."""

    def _repr_svg_(self) -> str: ...
    def __reduce__(self) -> Any: ...
    def __copy__(self) -> Position: ...
    def __deepcopy__(self, memo: object) -> Position: ...
    def __hash__(self) -> int: ...
    def __eq__(self, other: object, /) -> bool: ...

@final
class VecEnv:
    """``N`` games in lockstep, each in its own slot, on NumPy arrays.

    The same seed gives the same games as in the Rust library, on any number of threads. The arrays of a step are new,
    or the caller's own. A call that fails changes nothing.

    Args:
        game: A game or its name.
        num_envs: The number of games, ``N``.
        seed: The seed of all random numbers. By default it is a new one each time; the property ``seed`` returns it.
        threads: The largest number of threads, by default one per core. Results do not depend on it.
        max_plies: A move limit instead of the game's, 0 for none.
        autoreset: When the next game of a slot begins: at once, in the next step (which ignores the slot's action), or
            when ``reset(mask=…)`` is called.
        opponent: The player of the other side: an agent, its spec such as ``"random"``, or a function. The function
            gets a list of positions and returns an action for each, or gets features and masks. A step then ends when
            the caller is to move again. By default the caller plays both sides.
        seat: The side of the caller in games against an opponent, drawn for each game by default.
        random_plies: Random plies at the start of each game.
        dtype: The type of observations.
        packed: Masks as bits.
        threats: Adds the threat planes to observations.
        boards: Boards of jarmo or guard with equally many lines, each a board file or ``"random:SEED"``. Each has an equal
            part of the slots, the first board the first ones. The caller then plays both sides.
    """

    def __new__(
        cls,
        game: Game | str,
        num_envs: int,
        *,
        seed: int | None = None,
        threads: int | None = None,
        max_plies: int | None = None,
        autoreset: Literal["same_step", "next_step", "disabled"] = "same_step",
        opponent: Player | None = None,
        seat: Literal["white", "black", "random"] | None = None,
        random_plies: int = 0,
        dtype: Literal["float32", "uint8"] = "float32",
        packed: bool = False,
        threats: bool = False,
        boards: Sequence[Path] | None = None,
    ) -> VecEnv: ...
    @property
    def game(self) -> Game:
        """The rules of the games; with several boards, those of the first slot."""

    @property
    def num_envs(self) -> int:
        """The number of games, ``N``."""

    @property
    def num_actions(self) -> int:
        """The number of actions; every action is an index below it."""

    @property
    def threads(self) -> int:
        """The maximum number of threads."""

    @property
    def seed(self) -> int | list[int]:
        """The seed of all random numbers, or the list of the slots' seeds."""

    @property
    def steps(self) -> int:
        """Steps since the start."""

    @property
    def observation_shape(self) -> tuple[int, int, int]:
        """Planes, rows and columns of one observation."""

    @property
    def single_observation_space(self) -> Any:
        """Gymnasium's space of one observation. Gymnasium is imported only here and in `single_action_space`."""

    @property
    def single_action_space(self) -> Any:
        """Gymnasium's space of one action."""

    @property
    def seats(self) -> NDArray[np.int8]:
        """``[N]``: the caller's side against an opponent in the games to act in next, 0 for White and 1 for Black.
        ``Step.seat`` has the sides in the games of the last step."""

    def buffers(self) -> Step:
        """New arrays of zeros, for ``out``."""

    def reset(
        self,
        *,
        seed: int | Sequence[int] | NDArray[np.integer[Any]] | None = None,
        mask: ArrayLike | None = None,
        positions: Positions | None = None,
        out: Step | None = None,
    ) -> Step:
        """Starts new games in all slots, or where ``mask`` (``[N]``, ``bool``) is set. The first reset of a new
        environment keeps the games of its seed. With a seed, everything begins again as in a new environment with that
        seed. With ``N`` seeds, each slot plays like an environment of one game with its seed. ``positions`` has a
        position for each new game, which starts there without random plies; ``[env.position(slot)]`` copies the game of
        a slot."""

    def observe(self, *, out: Step | None = None) -> Step:
        """The results of the last step again."""

    def step(self, actions: ArrayLike, *, out: Step | None = None) -> Step:
        """Plays one action in every game.

        Args:
            actions: ``[N]``, any integer type. -1 is no action, where the game is over.
            out: Arrays to write into, as ``buffers()`` makes them; only ``finished`` and ``final_observation`` of the
                result are new then.

        Raises:
            ValueError: An action is illegal or its game is over; the message names the slot and the reason.
            TypeError: An argument has the wrong type.
        """

    def sample_actions(self, *, out: NDArray[np.int64] | None = None) -> NDArray[np.int64]:
        """A legal action for every game, uniformly at random: ``[N]``, -1 where the game is over. Repeated calls give
        the same actions until the next step."""

    def position(self, slot: SupportsIndex) -> Position:
        """The position in a slot."""

    def positions(self) -> list[Position]:
        """The positions of all slots."""

    def final_positions(self) -> dict[int, Position]:
        """The last positions of the games that ended in the last step, by slot."""

    def save(self) -> bytes:
        """The unfinished games and the seed. Slots whose game is over, with ``autoreset`` other than ``"same_step"``,
        are saved without their last position."""

    def restore(self, saved: bytes) -> None:
        """Continues exactly as the saved environment would have. It must have had the same settings, except the number
        of threads."""

    def close(self) -> None:
        """Frees the games and their opponents, after a call that is running in another thread has ended. An opponent
        cannot close its own environment. After closing, every other call is an error."""

    def __enter__(self) -> VecEnv: ...
    def __exit__(self, *exception: object) -> None: ...
    def __reduce__(self) -> Any:
        """For pickling and copying: the games continue from the result of ``save``."""

    def _repr_html_(self) -> str: ...
    def __len__(self) -> int: ...

@final
class Agent:
    """An agent by its spec, for example ``"random"``, ``"greedy"``, ``"rollout:1000"``, ``"alphabeta:20000"``,
    ``"trained:256"`` (the agent in the package) or ``"FILE.safetensors?sims=64"``. docs/agents.md lists them all.
    ``seed`` is the seed of its random numbers, which continue from call to call. By default it is a new one each
    time."""

    def __new__(cls, spec: Path, *, game: Game | str = "jarmo", seed: int | None = None) -> Agent: ...
    @property
    def spec(self) -> str:
        """The spec, in full."""

    @property
    def game(self) -> Game:
        """The rules of its game."""

    def choose(
        self,
        positions: Positions,
        *,
        nodes: int | None = None,
        seed: int | None = None,
        threads: int | None = None,
    ) -> NDArray[np.int64]:
        """An action for each of ``N`` positions, ``[N]``. ``nodes`` replaces the spec's number of simulations or nodes.
        The decision in a position depends only on the position, its index, the seed and the agent's kernel. Without a
        seed, each call derives a new one from the agent's."""

    def evaluate(
        self,
        positions: Positions,
        *,
        nodes: int | None = None,
        seed: int | None = None,
        threads: int | None = None,
    ) -> Evaluation:
        """The agent's judgement of ``N`` positions."""

    def network(self) -> dict[str, NDArray[np.float32]]:
        """The tensors of the agent's network by name, ``float32``, if it has one. `save_agent` describes them."""

    def save(self, path: Path) -> None:
        """Writes the agent's network as an agent file, whose name ends in ``.safetensors``."""

    def to_onnx(self, path: Path) -> None:
        """Writes the agent's network as an ONNX model, with the package ``onnx``. Its input is ``features``, ``[batch,
        inputs]``: ``game.features(positions, threats=True)``, one row per position. Its outputs are ``policy``
        (``[batch, actions]``, logits; mask them) and ``result`` (``[batch, 3]``, probabilities of win, draw and loss
        of the player to move), and in games with points ``score``."""

    def _repr_html_(self) -> str: ...
    def __getnewargs_ex__(self) -> Any: ...
    def __getstate__(self) -> int: ...
    def __setstate__(self, drawn: int) -> None: ...

@final
class Tables:
    """Exact tables, as ``jarmo tables build`` writes them (jarmo and tammi)."""

    def __new__(cls, folder: Path, *, game: Game | str = "jarmo") -> Tables: ...
    @property
    def game(self) -> Game:
        """The rules of their game."""

    def lookup(self, positions: Positions) -> Lookup:
        """The results of ``N`` positions."""

    def actions(self, position: Position) -> list[tuple[int, int, int]] | None:
        """Every legal action with its result for the player who acts (1, 0, -1) and its plies (-1 without); None if
        the tables do not know the position."""

@final
class SelfPlay:
    """Endless self-play: each iteration plays until there are at least ``min_samples`` positions of finished games. See
    `jarmo.self_play`."""

    def __new__(
        cls,
        game: Game | str,
        evaluate: Evaluate,
        *,
        games: int = 512,
        simulations: int = 32,
        root: Literal["gumbel", "puct"] = "gumbel",
        max_random_plies: int = 0,
        value_lambda: float = 1.0,
        seed: int | None = None,
        threats: bool = False,
        min_samples: int = 1024,
        threads: int | None = None,
        considered: int | None = None,
        least_range: float | None = None,
        c_puct: float | None = None,
        fpu: float | None = None,
        temperature: float | None = None,
    ) -> SelfPlay: ...
    def __iter__(self) -> SelfPlay: ...
    def __next__(self) -> Samples: ...
    def save(self) -> bytes:
        """The unfinished games, between two steps of the iterator."""

    def restore(self, saved: bytes) -> None:
        """Continues exactly as the saved self-play would have. It must have had the same arguments, except the number
        of threads, and the seed if none was given."""

    def stats(self) -> dict[str, float]:
        """Counts so far: finished ``games``, ``positions``, ``simulations`` and ``evaluations``; and means over
        finished games: ``white``, ``black``, ``drawn``, ``truncated`` and ``plies``."""

    def close(self) -> None:
        """Frees the games and trees, after an iteration that is running in another thread has ended. The function that
        evaluates cannot close its own self-play. After closing, every other call is an error."""

    def __enter__(self) -> SelfPlay: ...
    def __exit__(self, *exception: object) -> None: ...

def search(
    positions: Positions,
    evaluate: Evaluate | Agent,
    *,
    simulations: int = 64,
    root: Literal["gumbel", "puct"] = "gumbel",
    noise: bool = False,
    seed: int | None = None,
    threats: bool = False,
    batch: int = 1024,
    pad: bool = False,
    threads: int | None = None,
    considered: int | None = None,
    least_range: float | None = None,
    c_puct: float | None = None,
    fpu: float | None = None,
    temperature: float | None = None,
    min_visit_share: float | None = None,
) -> SearchResult:
    """Searches from ``N`` positions of one game with your own network, many trees at a time.

    Args:
        positions: Positions that are not over.
        evaluate: Called as ``evaluate(features, masks)`` with new arrays, ``[B, planes, rows, columns]`` of ``float32``
            and ``[B, actions]`` of ``bool``, in the thread of the caller. Returns ``(logits, values)``: ``[B,
            actions]``, of which those of illegal actions are ignored, and the expected results for the player to move,
            ``[B]`` from -1 to 1, or probabilities of win, draw and loss, ``[B, 3]``. Anything that ``numpy.asarray``
            reads will do. The result for a position must not depend on the rest of the batch. Instead of a function, an
            agent with a network is possible; ``threats``, ``batch`` and ``pad`` then have no effect.
        simulations: Simulations per position.
        root: Gumbel AlphaZero with sequential halving, or AlphaZero's PUCT.
        noise: Noise at the roots, for self-play: Gumbel variables, or a Dirichlet distribution.
        seed: The seed of the noise, by default a new one each time. Without noise nothing is random.
        threats: Adds the threat planes to the features.
        batch: The largest number of trees that a thread grows at a time, which is also the largest ``B``.
        pad: Every batch has exactly ``batch`` rows, for networks that are compiled for a shape. Extra rows are zeros,
            and their results are ignored.
        threads: Threads that grow trees, by default one per core. With two, one grows its trees while the leaves of
            the other are evaluated.
        considered: Gumbel: actions that get simulations before the first halving [16].
        least_range: Gumbel: values at a node that span less than this influence the policy proportionally less [0].
        c_puct: PUCT: weight of exploration [1.25].
        fpu: PUCT: an unvisited action starts at its parent's value minus up to this amount [0.2].
        temperature: PUCT: softmax temperature of the priors [1].
        min_visit_share: PUCT: actions with at least this share of the highest visit count compete by value for
            ``actions``; with 1, the most visited action is chosen [1].
    """

def save_agent(
    path: Path,
    game: Game | str,
    tensors: dict[str, NDArray[np.float32]],
    *,
    run: str = "",
    seed: int = 0,
    step: int = 0,
    games: int = 0,
) -> None:
    """Writes a network as an agent file, which ``jarmo.Agent``, ``jarmo arena`` and ``play`` accept.

    With ``x`` the features of a position with threats, ``[inputs]``, and ``L.weight`` of shape ``[inputs,
    outputs]``, the network is ``h = relu(x @ stem.weight + stem.bias)``, then ``h = relu(h + h @ blocks.I.weight +
    blocks.I.bias)`` for I from 0, and linear heads: ``policy`` (a logit per action), ``result`` (logits of win, draw
    and loss of the player to move) and, in games with points, ``score`` (a logit for each point difference). The
    width is a multiple of 32. A network without threats has fewer rows in ``stem.weight``; zeros take their place.
    docs/formats.md has more.

    Args:
        path: The file, whose name ends in ``.safetensors``.
        game: A game or its name.
        tensors: ``float32`` arrays by name.
        run: A name for where it comes from.
        seed: The seed of the training.
        step: Training steps.
        games: Self-play games.
    """

def arena(
    agents: Sequence[Player],
    game: Game | str,
    *,
    games: int = 100,
    nodes: int | None = None,
    random_plies: int | None = None,
    openings: Path | None = None,
    gauntlet: bool = False,
    anchor: str | None = None,
    seed: int | None = 1,
    threads: int | None = None,
    threats: bool = False,
) -> tuple[str, str, str]: ...
def exam(
    agent: Player,
    game: Game | str,
    *,
    file: Path | None = None,
    nodes: int | None = None,
    seed: int | None = 1,
    threats: bool = False,
    progress: Progress | None = None,
) -> list[tuple[str, list[int]]]: ...
def bench_env(
    game: Game | str, num_envs: int, *, observe: bool = True, seconds: float = 1.0, seed: int | None = None
) -> dict[str, float]:
    """The speed of the library's own environment in this process, without Python in the loop: ``plies_per_s``,
    ``plies_per_cpu_s`` and the number of ``threads``. With ``observe`` features and masks are written."""

@final
class Yardstick:
    """Measures agents of a game: see `jarmo.yardstick`."""

    def __new__(
        cls,
        game: Game | str,
        *,
        tables: Path | None = None,
        seed: int = 1,
        fresh: int = 2000,
        games: int = 100,
        starts: int = 50,
        positions: int = 1000,
    ) -> Yardstick: ...
    @property
    def game(self) -> Game:
        """The rules of the game."""

    def measure(
        self,
        player: Player,
        *,
        nodes: int | None = None,
        threats: bool = False,
        progress: Progress | None = None,
    ) -> str:
        """Measures a player; returns a row of the result as JSON. ``nodes`` is its budget, which for a function is only
        noted."""

    def verify(self, row: str, *, solved: bool = False) -> None:
        """Computes the measures of a row from its answers; raises ``ValueError`` if they differ. With ``solved`` it
        skips what a solver judged."""

def yardstick_report(rows: list[str], title: str) -> tuple[str, str]:
    """Rows of results as text and as a picture."""

def yardstick_rows(text: str) -> list[str]:
    """The rows of a file of results, one after another as JSON."""

def yardstick_seal(row: str) -> str:
    """A row with the checksum of its content."""

def decide(policy: Player, positions: Positions, *, threats: bool = False) -> list[int]:
    """The actions that a function of the user chooses in positions of one game, checked. Errors name the argument."""

def exam_questions(
    game: Game | str, file: Path | None = None
) -> tuple[
    list[Position],
    NDArray[np.int8],
    NDArray[np.int32],
    NDArray[np.int8],
    NDArray[np.bool_],
    str,
    str,
]:
    """The questions of an exam: positions, results and plies ``[N, actions]``, phases and critical ones ``[N]``, the
    checksum, and how it was made."""

def run_program(arguments: Sequence[str]) -> int:
    """Runs the program with these arguments, of which the first is what was typed to start it; returns the exit status.
    `jarmo.__main__` calls it."""

def create_run(folder: Path, game: str, settings: Sequence[str], from_agent: Path | None = None) -> None:
    """Creates the folder of a new run. Settings are texts ``KEY=VALUE``."""

def read_run(folder: Path) -> tuple[Game, pathlib.Path | None]:
    """The game of the run in a folder, and the path of its newest agent."""

@final
class Training:
    """Trains the run in a folder on its own thread until a limit. After each event it waits until the event is
    taken."""

    def __new__(cls, folder: Path, limits: Sequence[str]) -> Training: ...
    def next(self) -> tuple[tuple[int, str] | None, str | None, str | None] | None:
        """The next event: ``((step, metrics), warning, line)``, of which each may be None; None after the end."""

    def finish(self) -> None:
        """Saves and ends the training; events until then are dropped."""
