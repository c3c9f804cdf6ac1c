"""`dpest init`: an example mechanism and its test, to begin with."""

from __future__ import annotations

from pathlib import Path

import click

from dpest.errors import InvalidInput

MECHANISM = '''"""A mechanism of your own: change it, and ask again what it loses."""

import dpest


def above_threshold(queries, eps=1.0, threshold=0.5):
    """The place of the first query that is above a threshold, both noisy."""
    # A draw is a random value. dpest runs this function on stand-ins, and follows both ways through every `if`.
    noisy_threshold = threshold + dpest.laplace(2 / eps)
    for i, query in enumerate(queries):
        if query + dpest.laplace(4 / eps) >= noisy_threshold:
            return i
    return None


if __name__ == "__main__":
    # The loss of one pair of inputs that differ by at most 1 in each place, with the event that shows it:
    print(dpest.estimate(above_threshold, ([1, 1, 1], [2, 0, 0])))
    # The loss over all such inputs, with a proof:
    print(dpest.prove(above_threshold, n=3))
'''
TEST = '''"""The claim about the mechanism, as a test: it fails with a counterexample where the claim is wrong."""

from mechanism import above_threshold

from dpest.testing import assert_private


def test_above_threshold_keeps_its_claim_on_the_input_patterns():
    assert_private(above_threshold, 1.0, n=3)


def test_above_threshold_keeps_its_claim_on_all_inputs():
    assert_private(above_threshold, 1.0, n=3, all_inputs=True)
'''
FILES = {"mechanism.py": MECHANISM, "test_mechanism.py": TEST}


@click.command("init")
@click.argument("folder", default=".", type=click.Path(file_okay=False))
def command(folder: str) -> None:
    """Write an example mechanism and a test of its claim into FOLDER (here by default), which must be empty."""
    place = Path(folder)
    there = sorted(p.name for p in place.iterdir() if not p.name.startswith(".")) if place.is_dir() else []
    if there:
        raise InvalidInput(f"{folder} is not empty (it has {there[0]}): write dpest init NEW_FOLDER; nothing was written")
    place.mkdir(parents=True, exist_ok=True)
    for name, text in FILES.items():
        with open(place / name, "x", encoding="utf-8") as file:  # never over a file that appeared meanwhile
            file.write(text)
        click.echo(str(place / name))
    click.echo(f"next, in {folder}: dpest estimate mechanism.py:above_threshold -n 3, the same with prove, and pytest")
