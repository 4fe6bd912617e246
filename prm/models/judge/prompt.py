"""A run as one user message for a judge: the rubric, the run as numbered data, and the form of the answer.

The blocks are those of `prm.data.render`, under headings of the prompt's own that recorded text cannot write. What
does not fit the budget is left out by the same plan as for the step classifier, the middle of tool results first and
step text last; no step is ever left out. Text and ids say the same: the text is made harmless first
(`prm.models.judge.defuse`), then tokenised within the chat template's frame.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

from prm.data.budget import MIN_BUDGET_TOKENS, BlockLength, Budget, Plan
from prm.data.label_account import LabelAccount
from prm.data.render import Block, BlockKind, render
from prm.errors import ConfigError
from prm.models.judge.answer import AnswerFormat, verdict_words
from prm.models.judge.chat import chat_frame
from prm.models.judge.defuse import Defuser
from prm.models.judge.rubric import MARKER, RUN_BEGINS, RUN_ENDS, Rubric
from prm.models.judge.shorten import LONGEST_MARK, plan_bodies, shorten
from prm.types import Protocol, StepLabel, Trajectory


@dataclass(frozen=True, slots=True)
class JudgePromptConfig:
    """How a judge is asked; stored with a trained judge.

    Attributes:
        max_prompt_tokens: Tokens of the whole prompt: chat frame, rubric and run.
        answer_format: ``compact`` or ``json``.
        protocol: ``error_propagation`` or ``independent``.
        outcome: Whether a verdict on the whole run is asked for.
        max_tool_tokens: Tokens that any one tool result may keep even where there is room; None = all.
    """

    max_prompt_tokens: int = 4096
    answer_format: AnswerFormat = "compact"
    protocol: Protocol = "error_propagation"
    outcome: bool = True
    max_tool_tokens: int | None = None

    def __post_init__(self) -> None:
        if self.max_prompt_tokens < MIN_BUDGET_TOKENS:
            rule = f"must be at least {MIN_BUDGET_TOKENS}"
            raise ConfigError.at("max_prompt_tokens", rule, self.max_prompt_tokens, "raise it")
        if self.answer_format not in get_args(AnswerFormat):
            rule = f"must be one of {', '.join(get_args(AnswerFormat))}"
            raise ConfigError.at("answer_format", rule, self.answer_format, "name one of them")
        Budget(self.max_prompt_tokens, self.max_tool_tokens)
        Rubric(self.answer_format, self.protocol, self.outcome)


@dataclass(frozen=True, slots=True)
class JudgePrompt:
    """One run's prompt.

    Attributes:
        text: The user message.
        input_ids: The same through the model's chat template, with the opening of the answer.
        message_indices: Step number k, from 1, is the message ``message_indices[k - 1]``.
        account: What the budget left out.
        defused: Places of recorded text that were changed because they would have been a heading or a control token.
        answer_prefix: What the ids have already begun of the answer, ``<think>`` or nothing; parse what is generated
            with it in front.
    """

    text: str
    input_ids: tuple[int, ...]
    message_indices: tuple[int, ...]
    account: LabelAccount
    defused: int
    answer_prefix: str = ""

    @property
    def messages(self) -> list[dict[str, str]]:
        """The prompt as chat messages, for trainers and endpoints that apply a chat template themselves."""
        return [{"role": "user", "content": self.text}]


def template_options(answer_format: AnswerFormat) -> dict[str, Any]:
    """What the chat template is told: a compact answer begins at once, so thinking is off where a template has it."""
    return {"enable_thinking": False} if answer_format == "compact" else {}


@dataclass(frozen=True, slots=True)
class _Draft:
    """A run's blocks with their headings, their harmless bodies, and how many tokens each has."""

    blocks: Sequence[Block]
    headings: Sequence[str]
    bodies: Sequence[str]
    lengths: Sequence[BlockLength]


class JudgePromptBuilder:
    """Builds the prompts of one tokenizer and one configuration.

    Attributes:
        config: The configuration.
        rubric: The rubric with the verdicts' spelling for this tokenizer.
    """

    def __init__(self, tokenizer: Any, config: JudgePromptConfig) -> None:
        self.config = config
        words = verdict_words(tokenizer)
        self.rubric = Rubric(config.answer_format, config.protocol, config.outcome, words)
        self._chat = chat_frame(tokenizer, **template_options(config.answer_format))
        self._safe = Defuser(tokenizer)
        self._mark_tokens = self._tokens(LONGEST_MARK)
        self._before = f"{self.rubric.before_run()}\n\n{RUN_BEGINS}"
        self._around_tokens = len(self._chat.before) + len(self._chat.after) + self._tokens(self._before)

    def build(self, trajectory: Trajectory) -> JudgePrompt:
        """The prompt of a run.

        Raises:
            ConfigError: The steps alone do not fit the budget, or there is nothing to judge.
        """
        steps = tuple(step.index for step in trajectory.steps)
        if not steps and not self.config.outcome:
            raise ConfigError.at(_name(trajectory), "a run must have something to judge", "no step", "ask its outcome")
        defused_before = self._safe.defused
        draft = self._draft(trajectory)
        plan, text, ids = self._fit(draft, _name(trajectory), len(steps))
        account = _account(draft, plan, trajectory.step_labels, len(ids))
        defused = self._safe.defused - defused_before
        return JudgePrompt(text, ids, steps, account, defused, self._chat.begun)

    def answer_places(self, prompt: JudgePrompt) -> list[int]:
        """Where in the ids the line ends that closes each step, and, where the outcome is asked for, the run: `[K]`.

        There a causal model has read all that the verdict is about. Of prompts for compact answers.
        """
        names = [str(number) for number in range(1, len(prompt.message_indices) + 1)]
        lines = [f"\n{self.rubric.place_of(name)}" for name in [*names, *(["final"] if self.rubric.outcome else [])]]
        ends = [prompt.text.index(line) + len(line) for line in lines]
        return [len(self._chat.before) + place for place in self._safe.places(prompt.text, ends)]

    def _draft(self, trajectory: Trajectory) -> _Draft:
        blocks = [block for block in render(trajectory) if block.kind is not BlockKind.OUTCOME]
        headings = _headings(blocks, self.rubric)
        bodies = [self._safe.defuse(block.body) for block in blocks]
        lengths = [
            BlockLength(block.kind, self._tokens(heading), tokens)
            for block, heading, (_, tokens) in zip(blocks, headings, bodies, strict=True)
        ]
        return _Draft(blocks, headings, [text for text, _ in bodies], lengths)

    def _fit(self, draft: _Draft, name: str, steps: int) -> tuple[Plan, str, tuple[int, ...]]:
        """The plan, the text and the ids that fit the budget."""
        budget = Budget(self.config.max_prompt_tokens, self.config.max_tool_tokens)
        after = f"{_closing(draft.blocks, self.rubric)}\n{RUN_ENDS}\n\n{self.rubric.after_run(steps)}"
        around = self._around_tokens + self._tokens(after)
        while True:
            # What surrounds the run counts as a block of which nothing can be cut.
            lengths = [BlockLength(BlockKind.PREAMBLE, around, 0), *draft.lengths]
            plan, total = plan_bodies(lengths, budget, self._mark_tokens)
            if total > budget.max_tokens:
                rule = f"the {steps} steps must fit max_prompt_tokens ({budget.max_tokens}) even when cut short"
                raise ConfigError.at(name, rule, total, "raise max_prompt_tokens to that")
            text = self._before + "".join(self._shown(draft, plan[1:])) + after
            ids = (*self._chat.before, *self._safe.ids(text), *self._chat.after)
            if len(ids) <= budget.max_tokens:
                return plan[1:], text, ids
            # Pieces can have more tokens together than each alone.
            around += len(ids) - budget.max_tokens

    def _shown(self, draft: _Draft, plan: Plan) -> Iterator[str]:
        for heading, body, length, kept in zip(draft.headings, draft.bodies, draft.lengths, plan, strict=True):
            yield heading
            yield shorten(body, length.body, kept, self._tokens, self._mark_tokens)

    def _tokens(self, text: str) -> int:
        return len(self._safe.ids(text))


def _name(trajectory: Trajectory) -> str:
    return f"run {':'.join(trajectory.key)}"


def _headings(blocks: Sequence[Block], rubric: Rubric) -> list[str]:
    """The lines before each block: ``[~step 3]``, and before what follows a step and its results ``[~answer] 3: ?``.

    Under a causal model the line that opens a step knows nothing of it; the one that closes it has seen all of it.
    """
    headings = []
    steps, is_open = 0, False
    for block in blocks:
        closing = f"\n{rubric.place_of(str(steps))}" if is_open and block.kind is not BlockKind.TOOL else ""
        is_open = block.kind is BlockKind.STEP or (is_open and block.kind is BlockKind.TOOL)
        steps += block.kind is BlockKind.STEP
        name = f"step {steps}" if block.kind is BlockKind.STEP else _context_name(block)
        headings.append(f"{closing}\n{MARKER}{name}]\n")
    return headings


def _closing(blocks: Sequence[Block], rubric: Rubric) -> str:
    """What closes the last step, where the run ends in it, and the whole run."""
    last = [block.kind for block in blocks if block.kind is not BlockKind.TOOL][-1:]
    steps = sum(block.kind is BlockKind.STEP for block in blocks)
    asks_outcome = rubric.outcome and rubric.answer_format == "compact"
    names = [*([str(steps)] if last == [BlockKind.STEP] else []), *(["final"] if asks_outcome else [])]
    return "".join(f"\n{rubric.place_of(name)}" for name in names)


def _context_name(block: Block) -> str:
    if block.kind is BlockKind.PREAMBLE:
        return "tools" if block.message_index is None else "system"
    return "result" if block.kind is BlockKind.TOOL else "user"


def _account(draft: _Draft, plan: Plan, labels: Mapping[int, StepLabel | None], tokens: int) -> LabelAccount:
    account = LabelAccount(rows=1, longest_row=tokens)
    for block, length, kept in zip(draft.blocks, draft.lengths, plan, strict=True):
        account.tokens += length.frame + length.body
        account.tokens_left_out += length.body - kept
        if block.kind is BlockKind.TOOL:
            account.tool_results += 1
            account.tool_results_elided += kept < length.body
        label = labels.get(block.message_index) if block.message_index is not None else None
        if block.kind is BlockKind.STEP and label is not None:
            account.labelled[str(label)] += 1
            (account.kept if kept >= length.body else account.elided)[str(label)] += 1
    return account
