"""What a token budget does to labels, for the verbs that show it: counts by class under a given model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from prm.data.encode import Encoder

Model = Annotated[str | None, typer.Option("--model", help="Count tokens with this model's tokenizer (folder or id).")]
MaxTokens = Annotated[int | None, typer.Option(min=1, help="Say what a budget would cut (needs --model).")]
MaxToolTokens = Annotated[int | None, typer.Option(min=1, help="Budget of one tool result.")]


class TokenCounter:
    """Counts a trajectory's tokens and adds up what the budget would do."""

    def __init__(self, encoder: Encoder) -> None:
        from prm.data.label_account import LabelAccount

        self._encoder = encoder
        self.account = LabelAccount()

    def __call__(self, trajectory: Any) -> int:
        """The trajectory's tokens in full."""
        account = self._encoder.account(trajectory)
        self.account.add(account)
        return account.tokens


def open_encoder(model: str | None, max_tokens: int | None, max_tool_tokens: int | None) -> Encoder | None:
    """The encoder of a model under a budget; None where no model is named.

    Raises:
        ConfigError: A budget without a model. DownloadError: The model's tokenizer cannot be had.
    """
    from prm.errors import ConfigError, DownloadError, complaint

    if model is None:
        for name, value in (("--max-tokens", max_tokens), ("--max-tool-tokens", max_tool_tokens)):
            if value is not None:
                raise ConfigError.at(name, "needs --model, whose tokens are counted", value, "add --model")
        return None
    if max_tool_tokens is not None and max_tokens is None:
        raise ConfigError.at("--max-tool-tokens", "needs --max-tokens", max_tool_tokens, "add --max-tokens")
    from transformers import AutoTokenizer

    from prm.data.encode import Encoder, EncodingConfig
    from prm.models.fetch import resolve_model

    try:
        tokenizer = AutoTokenizer.from_pretrained(resolve_model(model))
    except (OSError, ValueError) as error:
        reason = str(error).splitlines()[0]
        rule = "must be a folder or id with a tokenizer"
        raise DownloadError(complaint(f"--model {model}", rule, reason, "check the name and the connection")) from None
    unlimited = 1 << 40
    return Encoder(tokenizer, EncodingConfig(max_tokens or unlimited, max_tool_tokens))


def print_budget(budget: dict[str, Any]) -> None:
    """Shows a label account with its budget."""
    typer.echo(f"under a budget of {budget['max_tokens']} tokens, labelled steps (-1 / 0 / +1):")
    for name in ("labelled", "kept", "elided", "windowed", "dropped"):
        counts = budget[name]
        typer.echo(f"  {name}: {counts['-1']} / {counts['0']} / {counts['1']}")
    typer.echo(f"  tokens left out: {budget['tokens_left_out']} of {budget['tokens']}")
    typer.echo(f"  tool results cut: {budget['tool_results_elided']} of {budget['tool_results']}")
    typer.echo(f"  rows: {budget['rows']}, the longest {budget['longest_row']} tokens")
