"""Tiny real tokenizers and models, built on the spot; nothing is downloaded."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import torch
from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers
from transformers import (
    GPT2Config,
    GPT2LMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedTokenizerFast,
    Qwen2Config,
    Qwen2ForCausalLM,
)

from prm.types import RunIdentity, StepLabel, Trajectory

CORPUS = [
    '### Step 1\n-> search({"query": "stock of a lamp"})\n=>',
    '### Result search\n{"status": "ok", "record": {"sku": "AB-12", "stock": 0}}',
    "### User\nPlease ship the blue lamp to Anna, good and bad words, yes or no.\n### Outcome\n=>",
    " … [12 tokens left out] … 0123456789",
]
CONTROL = ["<|im_start|>", "<|im_end|>", "<think>", "</think>"]


def byte_level_tokenizer() -> PreTrainedTokenizerFast:
    """Byte-level BPE as of Llama 3, Qwen and SmolLM; `<think>` is added but not special, as in Qwen."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=400, initial_alphabet=alphabet, special_tokens=CONTROL[:2])
    tokenizer.train_from_iterator(CORPUS, trainer)
    tokenizer.add_tokens([AddedToken(text, special=False, normalized=False) for text in CONTROL[2:]])
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<|im_end|>", pad_token="<|im_end|>")


def unigram_tokenizer() -> PreTrainedTokenizerFast:
    """Unigram with a metaspace and an unknown token, as of T5 and XLM."""
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    trainer = trainers.UnigramTrainer(vocab_size=120, special_tokens=["<s>", "</s>", "<unk>"], unk_token="<unk>")
    tokenizer.train_from_iterator(CORPUS, trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, bos_token="<s>", eos_token="</s>", unk_token="<unk>", pad_token="</s>"
    )


def word_piece_tokenizer() -> PreTrainedTokenizerFast:
    """WordPiece that lower-cases and drops white space, as of BERT; its control tokens match normalised text."""
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    trainer = trainers.WordPieceTrainer(vocab_size=200, special_tokens=["[UNK]", "[SEP]", "[PAD]"])
    tokenizer.train_from_iterator(CORPUS, trainer)
    tokenizer.add_tokens([AddedToken("[end]", special=False, normalized=True)])
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, unk_token="[UNK]", sep_token="[SEP]", pad_token="[PAD]", eos_token="[SEP]"
    )


def silent_tokenizer() -> PreTrainedTokenizerFast:
    """A vocabulary of three words without an unknown token: it writes nothing for most text, our frames included."""
    tokenizer = Tokenizer(models.BPE({"a": 0, "b": 1, "ab": 2, "</s>": 3}, [("a", "b")]))
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="</s>", pad_token="</s>")


def bos_tokenizer() -> PreTrainedTokenizerFast:
    """Byte-level BPE that puts a BOS before every text, as of Llama."""
    from tokenizers import processors

    fast = byte_level_tokenizer()
    backend = fast.backend_tokenizer
    backend.post_processor = processors.TemplateProcessing(
        single="<|im_start|> $A",
        special_tokens=[("<|im_start|>", fast.convert_tokens_to_ids("<|im_start|>"))],
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=backend, bos_token="<|im_start|>", eos_token="<|im_end|>", pad_token="<|im_end|>"
    )


FAMILIES = {
    "byte_level": byte_level_tokenizer,
    "bos": bos_tokenizer,
    "unigram": unigram_tokenizer,
    "word_piece": word_piece_tokenizer,
    "silent": silent_tokenizer,
}

_SIZES: dict[str, Any] = {"vocab_size": 512, "max_position_embeddings": 2048}


def save_llama(folder: Path, layers: int = 3, seed: int = 0) -> Path:
    """A Llama of a few thousand weights with the byte-level tokenizer, saved as a plain checkpoint."""
    torch.manual_seed(seed)
    config = LlamaConfig(
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=layers,
        num_attention_heads=4,
        num_key_value_heads=2,
        **_SIZES,
    )
    return _save(LlamaForCausalLM(config), folder)


def save_qwen(folder: Path) -> Path:
    """A Qwen2 with per-layer attention types in its config."""
    torch.manual_seed(0)
    config = Qwen2Config(
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=3,
        num_attention_heads=4,
        num_key_value_heads=2,
        layer_types=["full_attention"] * 3,
        **_SIZES,
    )
    return _save(Qwen2ForCausalLM(config), folder)


def save_gpt2(folder: Path) -> Path:
    """A GPT-2: dropout, learnt positions, a head called `classifier`."""
    torch.manual_seed(0)
    return _save(
        GPT2LMHeadModel(GPT2Config(n_embd=32, n_layer=3, n_head=4, bos_token_id=0, eos_token_id=0, **_SIZES)),
        folder,
    )


def _save(model: Any, folder: Path) -> Path:
    model.save_pretrained(folder)
    byte_level_tokenizer().save_pretrained(folder)
    return folder


def make_run(number: int, steps: int = 3, query: int | None = None, words: int = 6) -> Trajectory:
    """A run whose step is good (+1) where it says "good", bad (−1) where it says "bad", neutral elsewhere."""
    draw = random.Random(number)
    messages: list[dict[str, Any]] = [{"role": "user", "content": f"Please ship lamp {number % 7}"}]
    labels: dict[int, StepLabel | None] = {}
    for _ in range(steps):
        label: StepLabel = draw.choice((-1, 0, 1, 1))
        word = {-1: "bad", 0: "so", 1: "good"}[label]
        labels[len(messages)] = label
        call = {
            "id": "c",
            "type": "function",
            "function": {"name": "search", "arguments": '{"query": "lamp"}'},
        }
        messages.append({"role": "assistant", "content": f"{word} " * draw.randint(1, words), "tool_calls": [call]})
        messages.append(
            {"role": "tool", "name": "search", "tool_call_id": "c", "content": "stock " * draw.randint(1, 30)}
        )
    outcome: StepLabel = -1 if -1 in labels.values() else 1
    identity = RunIdentity("tiny", number if query is None else query, number)
    return Trajectory(identity, tuple(messages), labels, outcome, protocol="error_propagation", label_source="rule")
