"""Completions of a shell."""

import pytest

from tests.cli.running import SAMPLES, process, tfg

XOR = str(SAMPLES / "xor.pbtxt")


def offered(*words: str) -> list[str]:
    """Return the completions of the last word."""
    done = process(COMP_WORDS=" ".join(["tfg", *words]), COMP_CWORD=str(len(words)), _TFG_COMPLETE="bash_complete")
    assert not done.err
    return [line.partition(",")[2] for line in done.out.splitlines() if line]


@pytest.mark.parametrize(
    ("words", "some"),
    [
        (["expl"], {"explain"}),
        (["run", XOR, "--fet"], {"--fetch"}),
        (["explain", XOR, "hidden/k"], {"hidden/kernel", "hidden/kernel/Assign"}),
        (["run", XOR, "--fetch", "lo"], {"logits", "loss"}),
        (["run", XOR, "--feed", "x"], {"x"}),
        (["dump", XOR, "--op", "Ap"], {"ApplyAdam"}),
        (["dump", XOR, "--scope", "hidden/"], {"hidden/kernel"}),
        (["optimize", XOR, "--passes", "pr"], {"prune"}),
        (["run", str(SAMPLES / "scaler_saved_model"), "--signature", "s"], {"serving_default"}),
    ],
)
def test_names(words, some):
    assert some <= set(offered(*words))


def test_graphs_are_files():
    assert offered("dump", "sam") == ["sam"]


def test_a_graph_that_is_not_there_offers_nothing():
    assert offered("run", "nowhere.pb", "--fetch", "lo") == []


@pytest.mark.parametrize(
    ("shell", "used"), [("bash", "complete -o nosort"), ("zsh", "#compdef tfg"), ("fish", "complete --no-files")]
)
def test_the_script_of_a_shell_asks_tfg(shell, used):
    done = tfg("completion", shell)
    assert used in done.out and f"_TFG_COMPLETE={shell}_complete" in done.out


def test_a_shell_without_a_script_is_refused():
    assert "'bash', 'zsh', 'fish'" in tfg("completion", "tcsh").err
