"""The options of `prm train grpo`: a flat YAML recipe and the command line, parsed once, checked once.

Every option of TRL's ``GRPOConfig`` is one of ours as well. Knows nothing of data or models.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from trl import GRPOConfig

from prm.errors import ConfigError
from prm.training.judge.options import JudgeModelOptions
from prm.training.recipe import Recipe
from prm.training.shared_options import LabelledData, RunArguments, is_sharded, refuse_waiting_for_validation

POLICY = "judge"
"""The value of the key `policy` in a recipe of this stage."""

ADVANTAGES = ("run", "verdict", "exact")
BALANCES = ("none", "group", "global")
_SHARED_PREFIX = ("auto", "off")


@dataclass
class GrpoDataOptions(LabelledData):
    """What is trained on, and how the judge is asked; what is left open is taken from the judge's own folder."""

    policy: str = field(default=POLICY, metadata={"help": "judge; in a recipe it chooses what is trained."})
    validation_runs: int | None = field(
        default=None, metadata={"help": "Evaluate on so many validation runs, drawn once by the seed; None = all."}
    )
    max_prompt_tokens: int | None = field(default=None, metadata={"help": "Tokens of one prompt."})
    skip_long_runs: bool = field(
        default=False, metadata={"help": "Leave out training runs whose steps do not fit max_prompt_tokens."}
    )
    max_tool_tokens: int | None = field(default=None, metadata={"help": "Tokens one tool result may keep."})
    answer_format: str | None = field(default=None, metadata={"help": "compact, or json (needs forced_frame false)."})
    ask_outcome: bool | None = field(default=None, metadata={"help": "Ask for a verdict on the whole run as well."})

    def __post_init__(self) -> None:
        if self.answer_format not in (None, "compact", "json"):
            raise ConfigError.at("answer_format", "must be compact or json", self.answer_format, "change it")
        if self.validation_runs is not None and self.validation_runs < 1:
            raise ConfigError.at("validation_runs", "must be at least 1", self.validation_runs, "raise or drop it")
        super().__post_init__()
        if self.policy != POLICY:
            raise ConfigError.at("policy", f"must be {POLICY} here", self.policy, "use --policy classifier")


@dataclass
class RewardOptions:
    """What is rewarded, and which verdict the credit goes to."""

    forced_frame: bool = field(
        default=True, metadata={"help": "Give numbers and separators; the judge only draws verdicts, one token each."}
    )
    advantages: str = field(
        default="verdict",
        metadata={
            "help": "run: one advantage an answer, as in TRL. verdict: each verdict that of its own step, against the "
            "group's mean. exact: against the expectation under the policy, over the three verdicts."
        },
    )
    step_weight: float = field(default=1.0, metadata={"help": "Weight of StepAcc."})
    reward_class_balance: str = field(
        default="none",
        metadata={
            "help": "StepAcc's steps count equally (none), each class of a run equally (group), or by the inverse "
            "frequency of their class in the training data (global)."
        },
    )
    balanced_weight: float = field(default=0.0, metadata={"help": "Weight of a further, class-balanced StepAcc."})
    first_error_weight: float = field(default=0.0, metadata={"help": "Weight of the first error being found."})
    format_weight: float = field(default=0.0, metadata={"help": "Weight of an answer that can be read whole."})
    outcome_reward_weight: float = field(default=0.0, metadata={"help": "Weight of the outcome verdict; 0 = none."})
    reward: list[str] = field(
        default_factory=list, metadata={"help": "Further rewards module:function, called as TRL calls them."}
    )
    reward_weight: list[float] = field(
        default_factory=list, metadata={"help": "A weight for each of them; none = 1 each."}
    )
    cross_entropy_weight: float = field(
        default=0.0, metadata={"help": "Weight of the true labels' cross-entropy, mixed into the loss."}
    )
    resample_dead_groups: int = field(
        default=0, metadata={"help": "Draw again, so many times at most, where all answers of a group earn the same."}
    )
    shared_prefix: str = field(
        default="auto",
        metadata={"help": "auto: a group's prompt is read once where the model can; off: for each answer."},
    )

    def __post_init__(self) -> None:
        for name, known in (
            ("advantages", ADVANTAGES),
            ("reward_class_balance", BALANCES),
            ("shared_prefix", _SHARED_PREFIX),
        ):
            if getattr(self, name) not in known:
                raise ConfigError.at(name, f"must be one of {', '.join(known)}", getattr(self, name), "change it")
        if self.resample_dead_groups < 0:
            raise ConfigError.at("resample_dead_groups", "must be at least 0", self.resample_dead_groups, "raise it")
        if self.cross_entropy_weight < 0:
            raise ConfigError.at("cross_entropy_weight", "must be at least 0", self.cross_entropy_weight, "raise it")
        if self.reward_weight and len(self.reward_weight) != len(self.reward):
            raise ConfigError.at("reward_weight", "goes with reward, one each", self.reward_weight, "give as many")
        if not self._rewards_something():
            raise ConfigError.at("step_weight", "something must be rewarded", 0.0, "set a weight above 0")
        self._check_unforced()

    def _rewards_something(self) -> bool:
        weights = (self.step_weight, self.balanced_weight, self.first_error_weight, self.format_weight)
        return any((*weights, self.outcome_reward_weight)) or bool(self.reward)

    def _check_unforced(self) -> None:
        if self.forced_frame:
            return
        if self.advantages != "run":
            todo = "set advantages: run, or forced_frame: true"
            raise ConfigError.at("advantages", "of single verdicts need forced_frame", self.advantages, todo)
        for name in ("cross_entropy_weight", "resample_dead_groups"):
            if getattr(self, name):
                raise ConfigError.at(name, "needs forced_frame", getattr(self, name), "drop it, or force the frame")


@dataclass
class GrpoArguments(RunArguments, GRPOConfig):  # type: ignore[misc,unused-ignore]
    """TRL's GRPOConfig with what a judge needs, and defaults that suit it."""

    output_dir: str = field(default="runs/grpo", metadata={"help": "Folder of the run."})
    learning_rate: float = field(default=1e-5, metadata={"help": "Peak learning rate."})
    lr_scheduler_type: str = field(default="constant_with_warmup", metadata={"help": "As in transformers."})
    bf16: bool | None = field(default=False, metadata={"help": "Compute in bfloat16 where that is safe (autocast)."})
    gradient_checkpointing: bool | None = field(default=None, metadata={"help": "Less memory, more computing."})
    num_generations_eval: int | None = field(default=1, metadata={"help": "Held-out answers are greedy: one each."})
    max_completion_length: int | None = field(
        default=512, metadata={"help": "Tokens of one answer, where its frame is not forced."}
    )
    remove_unused_columns: bool | None = field(default=False, metadata={"help": "Rewards read the columns."})
    eval_strategy: str = field(default="steps", metadata={"help": "no, steps or epoch."})
    eval_steps: float | None = field(default=20, metadata={"help": "Updates between two evaluations."})
    eval_on_start: bool = field(default=True, metadata={"help": "Evaluate before the first update as well."})
    save_strategy: str = field(default="steps", metadata={"help": "no, steps, epoch or best."})
    save_steps: float = field(default=20, metadata={"help": "Updates between two checkpoints."})
    greater_is_better: bool | None = field(default=True, metadata={"help": "Whether more of that metric is better."})
    logging_steps: float = field(default=1, metadata={"help": "Updates between two log lines."})

    def __post_init__(self) -> None:
        # TRL says so too, but after it has loaded what it is given.
        self._check_group()
        super().__post_init__()

    def _check_group(self) -> None:
        generations = self.num_generations or 0
        if generations < 2:
            raise ConfigError.at("num_generations", "a group needs 2 answers or more", generations, "raise it")
        processes = int(os.environ.get("WORLD_SIZE", "1"))
        steps = self.steps_per_generation or self.gradient_accumulation_steps
        answers = self.generation_batch_size or self.per_device_train_batch_size * processes * steps
        if answers % generations:
            rule = f"must divide the {answers} answers that are drawn at a time"
            todo = "make per_device_train_batch_size × gradient_accumulation_steps × processes a multiple of it"
            raise ConfigError.at("num_generations", rule, generations, todo)


@dataclass(frozen=True)
class GrpoOptions:
    """Everything that one run of `prm train grpo` needs."""

    data: GrpoDataOptions
    model: JudgeModelOptions
    rewards: RewardOptions
    training: GrpoArguments


RECIPE = Recipe("grpo", "prm train grpo", (GrpoDataOptions, JudgeModelOptions, RewardOptions, GrpoArguments))


def parse_grpo_recipe(recipe: Path | None, overrides: Sequence[str]) -> GrpoOptions:
    """Reads a flat YAML recipe, appends the user's own options, and parses both once.

    Args:
        recipe: The YAML file, or None.
        overrides: Options as on a command line; they win.

    Raises:
        ConfigError: An unknown key, a wrong type, a missing key, or values that do not go together.
    """
    options = GrpoOptions(*RECIPE.parse(recipe, overrides))
    check_together(options)
    return options


def check_together(options: GrpoOptions) -> None:
    """Refuses options of different parts that do not go together.

    Raises:
        ConfigError: One line that names the option.
    """
    training, rewards = options.training, options.rewards
    if rewards.forced_frame:
        _check_forced(options)
    if not options.data.validation_data:
        refuse_waiting_for_validation(training)
    if training.reward_weights is not None:
        todo = "use step_weight, first_error_weight … and reward_weight"
        raise ConfigError.at("reward_weights", "are made from the rewards' own weights", training.reward_weights, todo)
    if training.multi_objective_aggregation != "sum_then_normalize" and rewards.advantages != "run":
        rule = "must be sum_then_normalize where verdicts get their own advantages"
        raise ConfigError.at("multi_objective_aggregation", rule, training.multi_objective_aggregation, "drop it")
    _check_resumable(training)


def _check_forced(options: GrpoOptions) -> None:
    training = options.training
    if options.data.answer_format == "json":
        raise ConfigError.at("answer_format", "json has no frame to force", "json", "set forced_frame: false")
    if training.use_vllm:
        todo = "set forced_frame: false and advantages: run, or use_vllm: false"
        raise ConfigError.at("use_vllm", "draws whole answers; forced_frame draws verdicts", True, todo)
    if is_sharded(training):
        todo = "use DDP, or set forced_frame: false and advantages: run"
        raise ConfigError.at("forced_frame", "needs whole weights in each process (no FSDP, no ZeRO-3)", True, todo)
    if training.temperature <= 0:
        raise ConfigError.at("temperature", "must be above 0", training.temperature, "raise it")
    whole = training.per_device_train_batch_size * (training.steps_per_generation or 1) % training.num_generations == 0
    if options.rewards.resample_dead_groups and not whole:
        rule = "needs whole groups in each process"
        todo = "make per_device_train_batch_size × gradient_accumulation_steps a multiple of num_generations"
        raise ConfigError.at("resample_dead_groups", rule, options.rewards.resample_dead_groups, todo)


def _check_resumable(training: GrpoArguments) -> None:
    """A checkpoint between two updates that share their answers could not be gone on from exactly."""
    every = training.steps_per_generation * training.num_iterations
    accumulation = training.gradient_accumulation_steps
    if every % accumulation and accumulation % every:
        rule = f"must go with gradient_accumulation_steps {accumulation}: one a multiple of the other"
        raise ConfigError.at("steps_per_generation", rule, training.steps_per_generation, "change one of them")
    updates = max(every // accumulation, 1)
    if updates > 1 and training.save_strategy == "steps" and training.save_steps % updates:
        rule = f"must be a multiple of the {updates} updates that share their answers"
        raise ConfigError.at("save_steps", rule, training.save_steps, "change it")
