"""A tiny judge for training: a Llama whose tokenizer knows the rubric's words, so that prompts are short."""

from __future__ import annotations

from pathlib import Path

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

from prm.data.render import render
from prm.models.judge.rubric import RUN_BEGINS, RUN_ENDS, Rubric
from tests.tiny import CONTROL, CORPUS, make_run, save_llama


def save_judge_backbone(folder: Path, layers: int = 2) -> Path:
    """A Llama of a few thousand weights; a prompt of `make_run` takes two to three hundred of its tokens."""
    save_llama(folder, layers)
    rubric = Rubric()
    texts = [rubric.before_run(), rubric.after_run(3), RUN_BEGINS, RUN_ENDS, *CORPUS]
    texts += [block.opening + block.body + block.closing for block in render(make_run(1))]
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=510, initial_alphabet=alphabet, special_tokens=CONTROL[:2])
    tokenizer.train_from_iterator(texts, trainer)
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<|im_end|>", pad_token="<|im_end|>")
    fast.save_pretrained(folder)
    return folder
