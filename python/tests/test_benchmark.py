"""The benchmark: versions, entries of its board, and forged entries, which are rejected with the reason."""

import base64
import copy
import json
import re
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import jarmo
from jarmo import _benchmark, _jarmo, _solver, yardstick

VERSION = yardstick.VERSIONS["tammi-v1"]


def run(seed: int, **changed: Any) -> yardstick.Result:
    """A policy that has "trained" with a seed: it prefers actions in a random order."""
    order = np.random.default_rng(seed).random(jarmo.Game("tammi").num_actions)

    def policy(features: Any, masks: Any) -> Any:
        return np.tile(order, (len(masks), 1))

    budget = yardstick.Budget(**changed.pop("budget", {"steps": 100_000}))
    budget.step(changed.pop("steps", 100_000), evaluations=1000)
    seed = changed.pop("training_seed", seed)
    return yardstick.evaluate(policy, "tammi-v1", name="mine", budget=budget, training_seed=seed, **changed)


@pytest.fixture(scope="module")
def results() -> list[yardstick.Result]:
    return [run(seed) for seed in (1, 2)]


def entry_of(results: list[yardstick.Result]) -> yardstick.Entry:
    return yardstick.Entry(results, code="https://example.org/mine", command="python mine.py --seeds 2")


@pytest.fixture(scope="module")
def entry(results: list[yardstick.Result]) -> yardstick.Entry:
    return entry_of(results)


def sealed(row: dict[str, Any]) -> dict[str, Any]:
    """A row whose checksum fits whatever was changed by hand: anybody can make it."""
    found: dict[str, Any] = json.loads(_jarmo.yardstick_seal(json.dumps(row)))
    return found


def test_an_entry_is_verified_and_says_what_is_not(entry: yardstick.Entry, tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    entry.save(path)
    verified = yardstick.verify(path)
    assert isinstance(verified, yardstick.Entry)
    assert verified.rows == entry.rows and verified.summary() == entry.summary()
    assert (verified.name, verified.budget, verified.version) == ("mine", ("steps", 100_000), VERSION)
    assert verified.used()["steps"] == 100_000 and verified.used()["evaluations"] == 1000
    assert "2 of 10 seeds" in str(verified) and "fresh_wrong: 0." in str(verified)
    for unknown in ("who gave the answers", "budget", "date and machine", "tables or exams"):
        assert unknown in str(verified) and "cannot be verified" not in str(entry)


def test_the_positions_of_a_version_never_change(entry: yardstick.Entry) -> None:
    with pytest.raises(ValueError, match="tammi-v1 fixes tables, seed, fresh"):
        yardstick.evaluate("random", "tammi-v1", seed=5)
    assert len({version.seed for version in yardstick.VERSIONS.values()}) == 3
    assert (VERSION.seed, yardstick.VERSIONS["jarmo-v1"].seed) == (2834007166, 1144113121)
    assert entry.rows[0]["fresh"]["checksum"] == "0df2ebda36a411cf" == VERSION.ranked
    jarmo_v1 = yardstick.VERSIONS["jarmo-v1"]
    row = yardstick.evaluate("random", "jarmo-v1").rows[0]
    assert (row["exam"]["checksum"], row["fresh"]["checksum"]) == (jarmo_v1.exam, jarmo_v1.ranked)


def test_connect_four_needs_its_solver(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_solver, "available", lambda: False)
    with pytest.raises(ValueError, match="pip install bitbully"):
        yardstick.evaluate("random", "connect_four-v1")


@pytest.mark.parametrize("game", ["jarmo", "tammi"])
def test_answers_of_the_shipped_exam_win_nothing(game: str) -> None:
    exam = yardstick.load_exam(game)
    best = {position: int(row.argmax()) for position, row in zip(exam.positions, exam.results, strict=True)}

    def copied(positions: list[jarmo.Position]) -> list[int]:
        return [best.get(position, position.legal[0]) for position in positions]

    def lowest(positions: list[jarmo.Position]) -> list[int]:
        return [position.legal[0] for position in positions]

    cheat, honest = (yardstick.evaluate(policy, f"{game}-v1").table[0] for policy in (copied, lowest))
    assert cheat["exam_wrong"] == 0 < honest["exam_wrong"]
    assert cheat["fresh_wrong"] == honest["fresh_wrong"], "no ranked position is in the exam"


def changed(part: str, **values: Any) -> Callable[[dict[str, Any]], None]:
    return lambda file: (file["rows"][0][part] if part else file).update(values)


def claims(name: str, value: Any) -> Callable[[dict[str, Any]], None]:
    def change(file: dict[str, Any]) -> None:
        for row in file["rows"]:
            row["claims"][name] = value

    return change


def training(row: int, **values: Any) -> Callable[[dict[str, Any]], None]:
    return lambda file: file["rows"][row]["claims"]["training"].update(values)


def answers(part: str, edit: Callable[[list[int]], Any]) -> Callable[[dict[str, Any]], None]:
    """Changes the answers of a part in place."""

    def change(file: dict[str, Any]) -> None:
        row = file["rows"][0]
        chosen = _benchmark.unpack(part, row["answers"][part])
        edit(chosen)
        row["answers"][part] = _benchmark.pack(chosen)

    return change


def other_seed(file: dict[str, Any]) -> None:
    """The answers of the first seed again, as those of the second."""
    for part in ("exam", "fresh", "games", "worst", "answers"):
        file["rows"][1][part] = copy.deepcopy(file["rows"][0][part])


FORGERIES: dict[str, tuple[Callable[[dict[str, Any]], Any], str]] = {
    "a better share of the exam": (changed("exam", share=0.01), "row 1: exam: it claims"),
    "fewer wrong answers": (changed("exam", wrong=1), "row 1: it claims 1 wrong answers, and"),
    "a narrower interval": (changed("exam", error=0.0), "row 1: exam: it claims"),
    "a better share of the ranked positions": (changed("fresh", share=0.001), "row 1: fresh: it claims"),
    "fewer wrong ranked answers": (changed("fresh", wrong=0, share=0.0), "row 1: fresh: it claims"),
    "more points": (changed("games", points=150.0), "row 1: games: it claims"),
    "no mistakes in games": (changed("games", mistakes=0, flawless=200), "row 1: games: it claims"),
    "more starts that are held": (changed("worst", held=90), "row 1: worst: it claims"),
    "more starts that are proven": (changed("worst", proven=100), "row 1: worst: it claims"),
    "a longer shortest line": (changed("worst", median_plies=30), "row 1: worst: it claims"),
    "ranked positions left out": (lambda file: file["rows"][0].update(fresh=None), "fresh positions is None"),
    "games left out": (lambda file: file["rows"][0].update(games=None), "row 1: games: it claims null"),
    "worst case left out": (lambda file: file["rows"][0].update(worst=None), "row 1: worst: it claims null"),
    "another seed of positions": (changed("settings", seed=5), "not measured by a version"),
    "fewer ranked positions": (changed("settings", fresh=20), "not measured by a version"),
    "no games": (changed("settings", games=0), "not measured by a version"),
    "one row with another seed": (lambda file: file["rows"][1]["settings"].update(seed=5), "seed is 5, and tammi-v1 has"),
    "other rules": (lambda file: file["rows"][0].update(rules_version=2), "rules_version is 2, and tammi-v1 has 1"),
    "another game": (lambda file: file["rows"][0].update(game="jarmo"), "game is jarmo, and tammi-v1 has tammi"),
    "another exam": (changed("exam", checksum="0" * 16), "exam positions is 0+, and tammi-v1 has a64c08bfcc045a79"),
    "other ranked positions": (changed("fresh", checksum="0" * 16), "fresh positions is 0+, and tammi-v1 has"),
    "another format": (lambda file: file["rows"][0].update(format=1), "in format 1, this program"),
    "another version": (lambda file: file.update(version="jarmo-v1"), "version is 'jarmo-v1', and the settings are those"),
    "a version that is none": (lambda file: file.update(version=["tammi-v1"]), "version is \\['tammi-v1'\\]"),
    "no rows": (lambda file: file.update(rows=[]), "no rows"),
    "rows that are no list": (lambda file: file.update(rows="none"), "no rows"),
    "a row that is no object": (lambda file: file["rows"].append([]), "row 3: answers has the keys"),
    "an unknown key": (lambda file: file.update(elo=3000), "missing or unknown: elo"),
    "a missing key": (lambda file: file.pop("command"), "missing or unknown: command"),
    "an unknown key in a row": (lambda file: file["rows"][0].update(elo=3000), "unknown field `elo`"),
    "an unknown key in a measure": (changed("games", elo=3000), "unknown field `elo`"),
    "an unknown key in a training": (training(0, gpu=1), "unknown field `gpu`"),
    "an unknown key in answers": (changed("answers", puzzles=""), "row 1: answers has the keys"),
    "a text as a number": (changed("games", points="200"), "invalid type"),
    "a truth as a number": (changed("exam", wrong=True), "invalid type"),
    "an action that is illegal": (answers("fresh", lambda list: list.__setitem__(0, 65535)), "fresh: the answer to question 1"),
    "another move in a game": (answers("games", lambda list: list.reverse()), "row 1: games: "),
    "a game that ends early": (answers("games", lambda list: list.pop()), "games: answer \\d+ is missing"),
    "an answer too many": (answers("worst", lambda list: list.append(0)), "worst: it has 1 answers to no question"),
    "no answers": (answers("exam", lambda list: list.clear()), "exam: answer 1 is missing"),
    "better answers with the old measures": (answers("exam", lambda list: list.sort()), "row 1: "),
    "answers that are not packed": (changed("answers", exam=[1, 2]), "answers.exam: not packed answers"),
    "half an answer": (
        changed("answers", exam=base64.b64encode(zlib.compress(b"abc")).decode()),
        "answers.exam: not packed answers",
    ),
    "answers that fill the memory": (
        changed("answers", exam=base64.b64encode(zlib.compress(bytes(1 << 24))).decode()),
        "answers.exam: not packed answers, or more than",
    ),
    "the best seeds of many": (training(1, seed=17), "training seed 17 where seed 2 comes"),
    "the same run twice": (other_seed, "seeds 1 and 2 gave the same answers"),
    "a seed without its training": (lambda file: file["rows"][1]["claims"].update(training=None), "without training"),
    "more training than the budget": (training(0, steps=200_000), "used 200,000 steps of a budget of 100,000"),
    "no training within the budget": (training(0, steps=0), "used 0 steps of a budget of 100,000"),
    "two budgets": (training(1, budget={"steps": 1_000_000}), "a budget of {'steps': 1000000} among those of"),
    "negative steps": (training(0, steps=-5), "invalid value"),
    "a budget that the board does not have": (
        lambda file: [training(row, budget={"steps": 5}, steps=5)(file) for row in (0, 1)],
        "a budget of 5 steps, and the board has 100,000",
    ),
    "a budget of two kinds": (training(0, budget={"steps": 100_000, "minutes": 1.0}), "expected value|expected"),
    "a number of simulations twice": (
        lambda file: file["rows"].append(copy.deepcopy(file["rows"][0])),
        "every seed has each number of simulations once",
    ),
    "simulations for the network alone": (lambda file: [row.update(nodes=64) for row in file["rows"]], "worst: it has"),
    "simulations that the board does not have": (
        lambda file: [row.update(nodes=5) for row in file["rows"]],
        "5 simulations, and the board has 0, 64, 256",
    ),
    "two names": (lambda file: file["rows"][1].update(agent="yours"), "rows of mine and yours in one entry"),
    "a name with markup": (lambda file: [row.update(agent="[a](b)") for row in file["rows"]], "agent '\\[a\\]\\(b\\)' has"),
    "code that is no address": (lambda file: file.update(code="javascript:alert(1)"), "code 'javascript"),
    "code outside the repository": (lambda file: file.update(code="../../secret"), "code '../../secret' has"),
    "a command of many lines": (lambda file: file.update(command="a\nb"), "command must be one line"),
    "no date": (claims("date", "soon"), "date 'soon' is not a day"),
    "no machine": (claims("machine", {}), "machine lacks jarmo"),
    "a speed that is none": (
        lambda file: file["rows"][0]["claims"]["machine"].update(speed=-1.0),
        "machine.speed is -1.0",
    ),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forged_entry_is_rejected(name: str, entry: yardstick.Entry, tmp_path: Path) -> None:
    path = tmp_path / "forged.json"
    entry.save(path)
    file = json.loads(path.read_text())
    change, reason = FORGERIES[name]
    change(file)
    for row in file["rows"]:
        try:
            unpacked = {**row, "answers": {part: _benchmark.unpack(part, row["answers"][part]) for part in _benchmark.PARTS}}
            row["checksum"] = sealed(unpacked)["checksum"]
        except (TypeError, ValueError, KeyError):
            pass  # what cannot be read cannot be sealed
    path.write_text(json.dumps(file))
    with pytest.raises(ValueError, match=reason):
        yardstick.verify(path)


@pytest.mark.parametrize(
    ("edit", "reason"),
    [
        (lambda text: re.sub(r'"share": [\d.]+', '"share": NaN', text, count=1), "NaN is not a finite number"),
        (lambda text: re.sub(r'"points": [\d.]+', '"points": Infinity', text, count=1), "Infinity is not a finite"),
        (lambda text: re.sub(r'"points": [\d.]+', '"points": 1e999', text, count=1), "1e999 is not a finite number"),
        (lambda text: text.replace('"exam": {', '"exam": {}, "exam": {', 1), "the key `exam` stands twice"),
        (lambda text: text.replace('"version"', '"version": "jarmo-v1", "version"', 1), "the key `version` stands twice"),
        (lambda text: text.replace('"rows": [', '"rows": ' + "[" * 200_000, 1), "nested too deeply"),
        (lambda text: text[:-20], "not JSON: "),
        (lambda text: "", "no rows"),
        (lambda text: re.sub(r'"checksum": "\w+"\n', '"checksum": ""\n', text), "its checksum does not match"),
    ],
)
def test_a_file_that_hides_something_is_rejected(
    edit: Callable[[str], str], reason: str, entry: yardstick.Entry, tmp_path: Path
) -> None:
    path = tmp_path / "forged.json"
    entry.save(path)
    path.write_text(edit(path.read_text()))
    with pytest.raises(ValueError, match=reason):
        yardstick.verify(path)


def test_results_that_do_not_belong_together_are_no_entry(results: list[yardstick.Result]) -> None:
    for wrong, reason in [
        ([run(1, steps=300_000)], "used 300,000 steps of a budget of 100,000"),
        ([run(2, training_seed=1), results[0]], "training seed 1 where seed 2 comes"),
        ([yardstick.evaluate("random", "tammi-v1"), results[1]], "2 comes|without training"),
        ([yardstick.evaluate("random", "tammi", fresh=100, games=2, starts=2)], "not measured by a version"),
    ]:
        with pytest.raises(ValueError, match=reason):
            entry_of(wrong)
    evaluations = run(1, budget={"evaluations": 1_000_000})
    with pytest.raises(ValueError, match="a budget of {'steps': 100000} among those of {'evaluations': 1000000}"):
        entry_of([evaluations, results[1]])
    assert entry_of([evaluations]).budget == ("evaluations", 1_000_000)


def test_entries_are_drawn(entry: yardstick.Entry) -> None:
    pytest.importorskip("matplotlib").use("svg")
    level = yardstick.Entry([yardstick.evaluate("random", "tammi-v1")], code="https://example.org", command="none")
    axes = yardstick.plot([entry, level])
    (line,) = (line for line in axes.lines if line.get_label() == "mine")
    assert line.get_xdata() == [100_000] and line.get_ydata() == [entry.summary()[0]["fresh_wrong"][0]]
    assert {text.get_text() for text in axes.texts} == {"random"}
    assert axes.get_xlabel() == "steps" and axes.get_ylabel() == "fresh wrong"
