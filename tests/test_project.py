"""What holds for the whole project: imports run one way, help is quick, README and recipes tell the truth."""

from __future__ import annotations

import ast
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml
from typer.main import get_command
from typer.testing import CliRunner

from prm.cli.main import app
from prm.version import __version__

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "prm"

LAYERS = {
    "errors": 0,
    "types": 0,
    "version": 0,
    "data": 1,
    "evaluation": 2,
    "reach": 3,
    "report": 4,
    "models": 5,
    "training": 6,
    "quickstart": 7,
    "cli": 8,
}
"""The part of the package → its layer; a module imports from its own part and from lower layers only."""

TORCH_FREE = ("errors", "types", "version", "data", "evaluation", "reach", "report")
HEAVY = frozenset({"accelerate", "datasets", "numpy", "peft", "sklearn", "torch", "transformers", "trl"})


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for path in sorted(PACKAGE.rglob("*.py"))}


def part_of(module: str) -> str:
    """``prm.data.jsonl`` → ``data``; the package itself and ``__main__`` → the empty text."""
    name = module.removeprefix("prm").lstrip(".").partition(".")[0]
    return "" if name == "__main__" else name


def imported_names(node: ast.AST) -> Iterator[str]:
    """Every module that the statements in `node` import, at any depth, also those imported for types only."""
    for statement in ast.walk(node):
        if isinstance(statement, ast.Import):
            yield from (alias.name for alias in statement.names)
        elif isinstance(statement, ast.ImportFrom):
            assert statement.level == 0, "imports are absolute"
            parent = statement.module or ""
            for alias in statement.names:
                full = f"{parent}.{alias.name}"
                yield full if full in MODULES else parent


def parsed(module: str) -> ast.Module:
    return ast.parse(MODULES[module].read_text(encoding="utf-8"))


def imports_of(module: str) -> set[str]:
    return set(imported_names(parsed(module)))


def own_imports_of(module: str) -> set[str]:
    return {name for name in imports_of(module) if name.partition(".")[0] == "prm"}


@pytest.mark.parametrize("module", [name for name in MODULES if part_of(name)])
def test_a_module_imports_only_from_its_own_part_and_lower_layers(module: str) -> None:
    own = part_of(module)
    assert own in LAYERS, f"give the new part {own!r} a layer"
    wrong = {
        name for name in own_imports_of(module) if part_of(name) != own and LAYERS.get(part_of(name), 99) >= LAYERS[own]
    }
    assert not wrong


def circle_members(needs: dict[str, set[str]]) -> set[str]:
    """The nodes in or between circles: again and again drops what needs nothing or is needed by nothing."""
    left = {name: needed - {name} for name, needed in needs.items()}
    while True:
        needed_by_any = set().union(*left.values())
        kept = {
            name: needed & left.keys()
            for name, needed in left.items()
            if needed & left.keys() and name in needed_by_any
        }
        if kept == left:
            return set(left)
        left = kept


def test_circles_are_found() -> None:
    assert circle_members({"a": {"b"}, "b": {"c"}, "c": {"b", "d"}, "d": set()}) == {"b", "c"}
    assert circle_members({"a": {"b", "c"}, "b": {"c"}, "c": set()}) == set()


def test_no_modules_import_each_other_in_a_circle() -> None:
    assert circle_members({name: own_imports_of(name) & MODULES.keys() for name in MODULES}) == set()


@pytest.mark.parametrize(
    "module", [name for name in MODULES if part_of(name) in TORCH_FREE and name != "prm.data.encode"]
)
def test_records_metrics_and_rules_never_import_torch(module: str) -> None:
    roots = {name.partition(".")[0] for name in imports_of(module)}
    assert not roots & {"torch", "transformers", "accelerate", "peft", "trl"}


@pytest.mark.parametrize("module", [name for name in MODULES if part_of(name) == "cli"])
def test_a_verb_module_imports_only_typer_at_its_top(module: str) -> None:
    top = {
        name
        for statement in parsed(module).body
        if isinstance(statement, ast.Import | ast.ImportFrom)
        for name in imported_names(statement)
    }
    foreign = {name for name in top if name.partition(".")[0] not in {*sys.stdlib_module_names, "typer", "prm"}}
    assert not foreign
    assert {part_of(name) for name in top if name.startswith("prm")} <= {"cli", "errors", "types", "version"}


@pytest.mark.parametrize("module", [name for name in MODULES if part_of(name) != "cli"])
def test_only_the_command_line_prints(module: str) -> None:
    calls = [node for node in ast.walk(parsed(module)) if isinstance(node, ast.Call)]
    assert not [node.lineno for node in calls if isinstance(node.func, ast.Name) and node.func.id == "print"]


def heavy_modules_after(statements: str) -> set[str]:
    """The heavy packages that a fresh Python has loaded once it ran `statements`."""
    code = f"import sys\ntry:\n    {statements}\nexcept SystemExit as end:\n    assert not end.code, end.code\n"
    code += "sys.stderr.write('LOADED ' + ' '.join(sys.modules))"
    finished = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return HEAVY & set(finished.stderr.rpartition("LOADED ")[2].split())


@pytest.mark.parametrize("option", ["--help", "--version"])
def test_help_and_version_load_nothing_heavy(option: str) -> None:
    run = f"sys.argv = ['prm', {option!r}]; from prm.cli import main; main()"
    assert heavy_modules_after(run) == set()


def test_importing_the_package_loads_nothing_heavy() -> None:
    assert heavy_modules_after("import prm") == set()


def verbs(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """(words, command) of every verb of the command line, those of groups included."""
    for name, inner in getattr(command, "commands", {}).items():
        yield (*path, name), inner
        yield from verbs(inner, (*path, name))


def root_command() -> Any:
    return get_command(app)


def passes_options_on(verb: Any) -> bool:
    """Whether a parser of its own reads the verb's options, those of transformers among them."""
    return bool(verb.context_settings.get("ignore_unknown_options"))


def test_the_help_of_a_verb_loads_nothing_heavy() -> None:
    every = [[*words, "--help"] for words, verb in verbs(root_command()) if not passes_options_on(verb)]
    assert every
    run = f"from prm.cli.main import app; [app(words, standalone_mode=False) for words in {every!r}]"
    assert heavy_modules_after(run) == set()


def test_every_verb_and_every_option_of_it_has_a_help_text() -> None:
    for words, verb in verbs(root_command()):
        assert verb.help, words
        unexplained = [parameter.name for parameter in verb.params if not getattr(parameter, "help", "argument")]
        assert not unexplained, words


# README


def readme() -> list[str]:
    return (ROOT / "README.md").read_text(encoding="utf-8").splitlines()


def fenced_blocks(lines: list[str]) -> Iterator[tuple[int, str, list[str]]]:
    """(line number of the fence, its language, its lines) of every fenced block."""
    start: int | None = None
    for number, line in enumerate(lines, start=1):
        if line.startswith("```") and start is None:
            start = number
        elif line.startswith("```") and start is not None:
            yield start, lines[start - 1].removeprefix("```").strip(), lines[start : number - 1]
            start = None


def shell_commands() -> list[list[str]]:
    """Every command in README's shell blocks, as words; a variable set before a command is left out."""
    commands = []
    for _, language, lines in fenced_blocks(readme()):
        if language not in {"bash", "sh", "shell", "console"}:
            continue
        text = "\n".join(line.removeprefix("$ ") for line in lines).replace("\\\n", " ")
        for line in text.splitlines():
            for command in re.split(r"\s(?:&&|\|\||;|\|)\s", line):
                words = shlex.split(command, comments=True)
                while words and re.fullmatch(r"[A-Z_]+=.*", words[0]):
                    words = words[1:]
                commands.append(words)
    return [words for words in commands if words]


def test_readme_is_short_and_begins_with_something_to_run() -> None:
    lines = readme()
    assert len(lines) <= 150
    assert any(
        start < 25 for start, language, _ in fenced_blocks(lines) if language in {"bash", "sh", "shell", "console"}
    )


def test_readme_has_commands_of_prm_to_check() -> None:
    assert [words for words in shell_commands() if words[0] == "prm"]


def without_redirections(words: list[str]) -> list[str]:
    for position, word in enumerate(words):
        if re.match(r"[12]?>", word):
            return words[:position]
    return words


@pytest.mark.parametrize("words", [w for w in shell_commands() if w[0] == "prm"], ids=" ".join)
def test_a_prm_command_of_readme_has_verbs_and_options_that_exist(words: list[str]) -> None:
    parse(root_command(), "prm", without_redirections(words[1:]))


def test_a_wrong_verb_or_option_or_a_missing_name_would_be_found() -> None:
    for words in (["fetsh", "x"], ["fetch", "x", "--cash", "y"], ["fetch"]):
        with pytest.raises(pytest.fail.Exception):
            parse(root_command(), "prm", words)
    parse(root_command(), "prm", ["fetch", "smollm2-135m", "--cache", "folder"])


def option_names(words: list[str]) -> list[str]:
    return [word.partition("=")[0] for word in words if word.startswith("--")]


def options_in_help(verb: list[str]) -> list[str]:
    result = CliRunner().invoke(app, [*verb, "--help"])
    assert result.exit_code == 0, result.output
    return re.findall(r"--\w[\w-]*", result.output)


def parse(command: Any, name: str, words: list[str], parent: Any = None) -> None:
    """Parses `words` and those of the verb in them, without running it; a file need not exist here."""
    try:
        context = command.make_context(name, list(words), parent=parent)
        rest = [*getattr(context, "_protected_args", []), *context.args]
        is_group = bool(getattr(command, "commands", None) and rest)
        verb, inner, remaining = command.resolve_command(context, rest) if is_group else ("", None, [])
    except typer.BadParameter.__base__ as error:  # the usage error, which older typers take from click
        if not isinstance(error, typer.BadParameter) or type(error).__name__ == "MissingParameter":
            pytest.fail(f"{name} {shlex.join(words)}: {error.format_message()}")
        return
    if passes_options_on(command):
        unknown = set(option_names(context.args)) - set(options_in_help(context.command_path.split()[1:]))
        assert not unknown
    if inner is not None:
        parse(inner, verb, remaining, context)


@pytest.mark.parametrize("words", [w for w in shell_commands() if w[0] in {"bash", "python", "python3"}], ids=" ".join)
def test_a_script_that_readme_runs_exists(words: list[str]) -> None:
    if words[1:] and not words[1].startswith("-"):
        assert (ROOT / words[1]).is_file()


def tree_lines() -> list[str]:
    """The lines of README's tree: the block that has ``prm/`` alone or with a comment in its first lines."""
    for _, _, lines in fenced_blocks(readme()):
        if any(re.match(r"prm/(\s|$)", line) for line in lines[:3]):
            return lines
    return []


def tree_paths() -> list[str]:
    """Every path that the tree names, `<…>` as `*`; what a comment lists lies in the folder of its line."""
    paths: list[str] = []
    parents: list[tuple[int, str]] = []
    for line in tree_lines():
        match = re.match(r"([\s│├└─]*)([\w.<>*/{},-]+)(.*)", line)
        if match is None:
            continue
        column, name, comment = len(match[1]), re.sub(r"<[^>]*>", "*", match[2]), match[3]
        parents = [(other, folder) for other, folder in parents if other < column]
        path = "".join(folder for _, folder in parents) + name
        paths.append(path)
        if name.endswith("/"):
            parents.append((column, name))
            paths += [
                path + listed for listed in re.findall(r"(?<![\w/])[\w/]+\.(?:py|sh|yaml|md|json|j2|html)\b", comment)
            ]
    return paths


def test_readme_shows_the_tree() -> None:
    assert len(tree_paths()) > 10


@pytest.mark.parametrize("path", tree_paths())
def test_a_path_of_the_tree_exists(path: str) -> None:
    assert list(ROOT.glob(path.rstrip("/"))), f"{path} is in README's tree, but not in the project"


def test_every_folder_of_the_package_is_in_the_tree() -> None:
    folders = {f"prm/{path.name}" for path in PACKAGE.iterdir() if (path / "__init__.py").is_file()}
    assert folders <= {path.rstrip("/") for path in tree_paths()}


# Recipes, scripts, the changelog

REACH_FILES = ("spec.yaml", "spec_logs.yaml", "variants.yaml")
"""What a recipe of Reach holds beside stages of training."""

RECIPES = sorted([*(ROOT / "recipes").rglob("*.y*ml"), *(ROOT / "configs").rglob("*.y*ml")])


def test_there_are_recipes() -> None:
    assert RECIPES


@pytest.mark.parametrize("path", RECIPES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_yaml_file_is_one_mapping(path: Path) -> None:
    value = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert isinstance(value, dict)
    assert value


@pytest.mark.parametrize(
    "path",
    [path for path in RECIPES if "accelerate" not in path.parts and path.name not in REACH_FILES],
    ids=lambda path: str(path.relative_to(ROOT)),
)
def test_a_recipe_parses_with_the_parser_of_training(path: Path) -> None:
    parser_of(path)(path, [])


def parser_of(recipe: Path) -> Callable[[Path, list[str]], object]:
    """What reads a recipe of its stage; the key `stage` names it, and without one it is supervised training."""
    from prm.training.arguments import parse_recipe
    from prm.training.classifier_grpo.options import parse_classifier_grpo_recipe
    from prm.training.grpo.options import parse_grpo_recipe
    from prm.training.judge.options import parse_judge_recipe
    from prm.training.recipe import read_recipe, stage_of

    if read_recipe(recipe).get("policy") == "classifier":
        return parse_classifier_grpo_recipe
    return {"supervised": parse_recipe, "judge": parse_judge_recipe, "grpo": parse_grpo_recipe}[stage_of(recipe)]


def test_ci_runs_the_test_command_that_readme_names() -> None:
    command = "bash scripts/check.sh && bash scripts/test.sh"
    assert command in (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert command in "\n".join(readme())


def test_scripts_are_valid_bash_and_executable() -> None:
    for path in (ROOT / ".ci" / "run", *(ROOT / "scripts").glob("*.sh")):
        subprocess.run(["bash", "-n", path], check=True)
        assert path.name == "environment.sh" or os.access(path, os.X_OK), path


def test_the_changelog_has_the_version() -> None:
    assert f"## {__version__}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
