"""The options of `prm train grpo --policy classifier`: a flat YAML recipe and the command line, checked once.

Every option of ``transformers.TrainingArguments`` is one of ours as well. Knows nothing of data or models.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from prm.errors import ConfigError
from prm.training.arguments import StepTrainingArguments
from prm.training.recipe import Recipe
from prm.training.shared_options import LabelledData, WeightOptions, refuse_waiting_for_validation

POLICY = "classifier"
"""The value of the key `policy` in a recipe of this stage."""

GRADIENTS = ("sampled", "exact")
ADVANTAGES = ("run", "step")
SCALES = ("none", "group")


@dataclass
class PolicyDataOptions(LabelledData):
    """What is trained on; how a run is read is what the start's checkpoint says."""

    policy: str = field(default=POLICY, metadata={"help": "classifier; in a recipe it chooses what is trained."})

    def __post_init__(self) -> None:
        if self.policy != POLICY:
            raise ConfigError.at("policy", f"must be {POLICY} here", self.policy, "drop it, or use --policy judge")
        super().__post_init__()


@dataclass
class PolicyModelOptions(WeightOptions):
    """Where it starts, and how much of it is trained."""

    model: str = field(kw_only=True, metadata={"help": "The start: a folder of `prm train supervised`, or its hub id."})
    trainable_layers: int | None = field(
        default=None, metadata={"help": "Train only so many top layers (0 = the head alone); None = all."}
    )
    trust_remote_code: bool = field(default=False, metadata={"help": "Run code of the model's repository."})
    states_cache: str | None = field(
        default=None, metadata={"help": "Folder that keeps a frozen backbone's states for other runs; None = none."}
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.trainable_layers is not None and self.trainable_layers < 0:
            raise ConfigError.at("trainable_layers", "must be at least 0", self.trainable_layers, "raise it")
        if self.states_cache is not None and not self.head_only:
            raise ConfigError.at("states_cache", "keeps what a frozen backbone gives", self.states_cache, "drop it")

    @property
    def head_only(self) -> bool:
        """Whether nothing below the head is trained."""
        return self.trainable_layers == 0 and self.lora_rank is None


@dataclass
class PolicyRewardOptions:
    """What is rewarded, and how its gradient is found."""

    gradient: str = field(
        default="sampled",
        metadata={"help": "sampled: from drawn labels. exact: of the expected reward, over the three labels."},
    )
    advantages: str = field(
        default="run",
        metadata={"help": "run: one advantage a drawn labelling of a row. step: each label that of its own step."},
    )
    scale_advantages: str = field(
        default="none",
        metadata={
            "help": "none: an unbiased gradient of the expected reward. group: divided by the group's deviation."
        },
    )
    num_generations: int = field(default=16, metadata={"help": "Labellings drawn for each row; one forward in all."})
    num_iterations: int = field(default=1, metadata={"help": "Updates that share their drawn labels."})
    epsilon: float = field(default=0.2, metadata={"help": "The ratio to the drawing policy is clipped at 1 - this."})
    epsilon_high: float | None = field(default=None, metadata={"help": "And at 1 + this; None = the same."})
    beta: float = field(default=0.0, metadata={"help": "Weight of the KL divergence from the start."})
    entropy_weight: float = field(
        default=0.0, metadata={"help": "Weight of the entropy bonus; keeps a policy from saying +1 everywhere."}
    )
    step_weight: float = field(default=1.0, metadata={"help": "Weight of StepAcc (class_weights weigh its steps)."})
    balanced_weight: float = field(default=0.0, metadata={"help": "Weight of a StepAcc balanced within each row."})
    first_error_weight: float = field(default=0.0, metadata={"help": "Weight of the first error being found."})

    def __post_init__(self) -> None:
        for name, known in (("gradient", GRADIENTS), ("advantages", ADVANTAGES), ("scale_advantages", SCALES)):
            if getattr(self, name) not in known:
                raise ConfigError.at(name, f"must be one of {', '.join(known)}", getattr(self, name), "change it")
        weights = ("step_weight", "balanced_weight", "first_error_weight")
        for name in (*weights, "beta", "entropy_weight"):
            if not 0 <= getattr(self, name) < float("inf"):
                raise ConfigError.at(name, "must be at least 0", getattr(self, name), "change it")
        if not any(getattr(self, name) for name in weights):
            raise ConfigError.at("step_weight", "something must be rewarded", 0.0, "set a weight above 0")
        self._check_drawing()

    def _check_drawing(self) -> None:
        if self.num_generations < 2:
            raise ConfigError.at("num_generations", "a group needs 2 labellings or more", self.num_generations, "raise")
        if self.num_iterations < 1:
            raise ConfigError.at("num_iterations", "must be at least 1", self.num_iterations, "raise it")
        if self.gradient == "exact" and self.num_iterations > 1:
            todo = "set num_iterations: 1, or gradient: sampled"
            raise ConfigError.at("num_iterations", "reuses drawn labels; exact draws none", self.num_iterations, todo)
        for name in ("epsilon", "epsilon_high"):
            value = getattr(self, name)
            if value is not None and not 0 < value < float("inf"):
                raise ConfigError.at(name, "must be above 0", value, "raise it")


@dataclass
class ClassifierGrpoArguments(StepTrainingArguments):
    """The supervised trainer's arguments with defaults that suit GRPO."""

    output_dir: str = field(default="runs/classifier-grpo", metadata={"help": "Folder of the run."})
    outcome_weight: float = field(default=0.0, metadata={"help": "Weight of the outcome's reward; 0 = none."})
    learning_rate: float = field(default=2e-5, metadata={"help": "Peak learning rate."})
    lr_scheduler_type: str = field(default="constant_with_warmup", metadata={"help": "As in transformers."})
    eval_strategy: str = field(default="steps", metadata={"help": "no, steps or epoch."})
    eval_steps: float | None = field(default=20, metadata={"help": "Updates between two evaluations."})
    eval_on_start: bool = field(default=True, metadata={"help": "Evaluate the start as well."})
    save_strategy: str = field(default="steps", metadata={"help": "no, steps, epoch or best."})
    save_steps: float = field(default=20, metadata={"help": "Updates between two checkpoints."})
    logging_steps: float = field(default=1, metadata={"help": "Updates between two log lines."})

    def __post_init__(self) -> None:
        if self.label_smoothing_factor:
            todo = "drop it; entropy_weight keeps probabilities from 0"
            raise ConfigError.at(
                "label_smoothing_factor", "has no place in a reward", self.label_smoothing_factor, todo
            )
        super().__post_init__()
        self.remove_unused_columns = False


@dataclass(frozen=True)
class ClassifierGrpoOptions:
    """Everything that one run needs."""

    data: PolicyDataOptions
    model: PolicyModelOptions
    rewards: PolicyRewardOptions
    training: ClassifierGrpoArguments


RECIPE = Recipe(
    "grpo",
    "prm train grpo --policy classifier",
    (PolicyDataOptions, PolicyModelOptions, PolicyRewardOptions, ClassifierGrpoArguments),
)


def parse_classifier_grpo_recipe(recipe: Path | None, overrides: Sequence[str]) -> ClassifierGrpoOptions:
    """Reads a flat YAML recipe, appends the user's own options, and parses both once.

    Args:
        recipe: The YAML file, or None.
        overrides: Options as on a command line; they win.

    Raises:
        ConfigError: An unknown key, a wrong type, a missing key, or values that do not go together.
    """
    options = ClassifierGrpoOptions(*RECIPE.parse(recipe, overrides))
    if not options.data.validation_data:
        refuse_waiting_for_validation(options.training)
    _check_resumable(options)
    return options


def _check_resumable(options: ClassifierGrpoOptions) -> None:
    """A checkpoint between two updates that share their labels could not be gone on from exactly."""
    updates, training = options.rewards.num_iterations, options.training
    if updates == 1:
        return
    for strategy, name in (("steps", "save_steps"), ("best", "eval_steps")):
        every = getattr(training, name)
        if training.save_strategy == strategy and every is not None and every % updates:
            rule = f"must be a multiple of the {updates} updates that share their labels"
            raise ConfigError.at(name, rule, every, "change it")
