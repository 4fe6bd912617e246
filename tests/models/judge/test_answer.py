"""Answers to train on, and the frame in which compact answers are decoded."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tokenizers import normalizers

from prm.errors import ModelError
from prm.models.judge.answer import (
    WORDS,
    VerdictFrame,
    compact_form,
    compact_text,
    json_text,
    verdict_frame,
    verdict_words,
)
from prm.models.judge.parse import parse_answer
from prm.types import LABELS, StepLabel
from tests.models.judge.merging import merging_tokenizer
from tests.models.judge.templates import CHATML
from tests.tiny import bos_tokenizer, byte_level_tokenizer, unigram_tokenizer

LABEL_LISTS = st.lists(st.sampled_from(LABELS), min_size=1, max_size=15)


class TestText:
    def test_a_compact_answer_numbers_the_steps_from_one(self) -> None:
        assert compact_text({2: 1, 5: 0, 9: -1}, 1) == "1:+ 2:0 3:- final:+"
        assert compact_text({2: 1, 5: 0, 9: -1}, -1, (" bad", " neutral", " good")) == (
            "1: good 2: neutral 3: bad final: bad"
        )

    def test_steps_are_numbered_in_the_order_of_the_run_whatever_the_order_of_the_mapping(self) -> None:
        assert compact_text({9: -1, 2: 1}, None) == "1:+ 2:-"
        assert [step["label"] for step in json.loads(json_text({9: -1, 2: 1}, None))["steps"]] == [1, -1]

    def test_an_unknown_label_keeps_its_number_and_is_left_out(self) -> None:
        assert compact_text({1: 1, 3: None, 5: -1}, None) == "1:+ 3:-"
        assert [step["step"] for step in json.loads(json_text({1: 1, 3: None, 5: -1}, None))["steps"]] == [1, 3]

    def test_a_json_answer_has_labels_and_the_reasons_that_there_are(self) -> None:
        assert json.loads(json_text({1: 1, 3: -1}, 0, {3: "wrong “sku”", None: "open"})) == {
            "steps": [{"step": 1, "label": 1}, {"step": 2, "label": -1, "reason": "wrong “sku”"}],
            "final": {"label": 0, "reason": "open"},
        }


class TestFrame:
    def test_ids_and_positions_by_hand(self) -> None:
        frame = VerdictFrame(((5, 6), (7,), (), (9, 2)), (30, 31, 32), (1, 3, None))
        assert frame.ids([-1, 0, 1]) == [5, 6, 30, 7, 31, 32, 9, 2]
        assert frame.verdict_positions() == [2, 4, 5]

    def test_labels_must_be_as_many_as_slots(self) -> None:
        frame = VerdictFrame(((5,), (2,)), (30, 31, 32), (1,))
        with pytest.raises(ValueError, match="zip"):
            frame.ids([])

    def test_slots_are_the_steps_and_the_outcome(self) -> None:
        assert verdict_frame(byte_level_tokenizer(), [2, 5]).slots == (2, 5, None)
        assert verdict_frame(byte_level_tokenizer(), [2, 5], outcome=False).slots == (2, 5)

    def test_a_run_without_steps_has_the_outcome_or_nothing(self) -> None:
        tokenizer = byte_level_tokenizer()
        assert verdict_frame(tokenizer, []).slots == (None,)
        assert verdict_frame(tokenizer, [], outcome=False).forced == ((tokenizer.eos_token_id,),)

    @pytest.mark.parametrize("make", [byte_level_tokenizer, bos_tokenizer, lambda: merging_tokenizer(":-")])
    @settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
    @given(labels=LABEL_LISTS, outcome=st.booleans())
    def test_the_ids_decode_to_an_answer_with_the_same_labels(
        self, make: Any, labels: list[StepLabel], outcome: bool
    ) -> None:
        tokenizer = make()
        indices = [2 * i + 1 for i in range(len(labels))]
        final: StepLabel = labels[0]
        frame = verdict_frame(tokenizer, indices, outcome=outcome)
        ids = frame.ids([*labels, final] if outcome else labels)
        assert [ids[i] for i in frame.verdict_positions()] == [
            frame.verdict_ids[LABELS.index(label)] for label in (*labels, *([final] if outcome else []))
        ]
        parsed = parse_answer(tokenizer.decode(ids, skip_special_tokens=True), indices, outcome=outcome)
        assert (parsed.status, list(parsed.step_labels.values())) == ("ok", labels)
        assert parsed.final_label == (final if outcome else None)

    def test_an_answer_has_the_ids_that_the_tokenizer_gives_its_text(self) -> None:
        tokenizer = byte_level_tokenizer()
        form = compact_form(tokenizer)
        text = compact_text(dict.fromkeys(range(12), 1) | {3: -1, 7: 0}, -1, form.words)
        ids = form.frame(range(12)).ids([1, 1, 1, -1, 1, 1, 1, 0, 1, 1, 1, 1, -1])
        assert ids == [*tokenizer(text, add_special_tokens=False)["input_ids"], tokenizer.eos_token_id]


class TestWords:
    def test_signs_are_taken_where_each_is_one_token_in_its_place(self) -> None:
        assert verdict_words(byte_level_tokenizer()) == ("-", "0", "+")

    def test_a_verdict_that_merges_with_its_colon_is_passed_over(self) -> None:
        """``:-`` is one token and ``:+`` two, so the answer's length would tell its labels."""
        merging = merging_tokenizer(":-", " -", " 0", " +")
        form = compact_form(merging)
        assert form.words == (" -", " 0", " +")
        assert merging.convert_ids_to_tokens(list(form.verdict_ids)) == ["Ġ-", "Ġ0", "Ġ+"]

    def test_words_that_read_otherwise_beside_another_verdict_are_passed_over(self) -> None:
        tokenizer = merging_tokenizer()
        tokenizer.backend_tokenizer.normalizer = normalizers.Replace("- 2:0", "-2:0")
        assert verdict_words(tokenizer) == (" -", " 0", " +")

    def test_where_all_merge_with_something_the_pieces_are_tokenised_apart(self) -> None:
        merging = merging_tokenizer(":-", " -")
        frame = verdict_frame(merging, [1, 3])
        assert frame.words == ("-", "0", "+")
        assert len({len(frame.ids([label] * 3)) for label in LABELS}) == 1
        assert merging.convert_ids_to_tokens(frame.ids([-1, 1, 0])[:4]) == ["1", ":", "-", "Ġ"]

    def test_words_differ_within_and_never_contradict_each_other(self) -> None:
        meaning: dict[str, int] = {}
        for words in WORDS:
            for word, label in zip(words, LABELS, strict=True):
                assert meaning.setdefault(word.strip(), label) == label

    def test_a_tokenizer_without_one_token_verdicts_is_refused_in_one_line(self) -> None:
        with pytest.raises(ModelError, match=r"tokenizer: .* use the answer format json") as caught:
            verdict_frame(unigram_tokenizer(), [1])
        assert "\n" not in str(caught.value)
        assert verdict_words(unigram_tokenizer()) == ("-", "0", "+")


class TestEnd:
    def test_the_last_block_ends_with_eos_without_a_chat_template(self) -> None:
        tokenizer = byte_level_tokenizer()
        assert verdict_frame(tokenizer, [1]).forced[-1] == (tokenizer.eos_token_id,)

    def test_the_last_block_ends_the_turn_as_the_chat_template_does(self) -> None:
        tokenizer = byte_level_tokenizer()
        tokenizer.eos_token = "<|im_start|>"
        tokenizer.chat_template = CHATML
        assert verdict_frame(tokenizer, [1]).forced[-1] == (tokenizer.convert_tokens_to_ids("<|im_end|>"),)


def test_a_space_that_is_a_token_of_its_own_belongs_to_the_frame() -> None:
    merging = merging_tokenizer(":-")
    frame = verdict_frame(merging, [1, 3])
    assert frame.words == (" -", " 0", " +")
    assert merging.convert_ids_to_tokens(frame.ids([-1, 1, 0])[:4]) == ["1", ":", "Ġ", "-"]


@pytest.mark.needs_model
def test_the_base_models_verdicts_are_words() -> None:
    """It has a token for ``:-`` and for `` +``, none for ``:+`` and `` 0``."""
    from transformers import AutoTokenizer

    from prm.models.fetch import resolve_model

    tokenizer = AutoTokenizer.from_pretrained(resolve_model("smollm2-135m"))
    form = compact_form(tokenizer)
    assert form.words == (" bad", " neutral", " good")
    ids = form.frame([1, 3, 5]).ids([1, 0, -1, 1])
    assert tokenizer.decode(ids) == "1: good 2: neutral 3: bad final: good<|im_end|>"
    assert ids[:-1] == tokenizer(compact_text({1: 1, 3: 0, 5: -1}, 1, form.words))["input_ids"]
