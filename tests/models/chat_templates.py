"""Chat templates of the kinds that models with and without tools ship, small."""

from __future__ import annotations

HERMES = (
    "{% if tools %}<|im_start|>system\n{% if messages[0]['role'] == 'system' %}{{ messages[0]['content'] }}\n\n{% endif %}"
    "# Tools\n{% for tool in tools %}{{ tool | tojson }}\n{% endfor %}<|im_end|>\n"
    "{% elif messages[0]['role'] == 'system' %}<|im_start|>system\n{{ messages[0]['content'] }}<|im_end|>\n{% endif %}"
    "{% for m in messages %}{% if m['role'] == 'tool' %}<|im_start|>user\n<tool_response>\n{{ m['content'] }}\n"
    "</tool_response><|im_end|>\n{% elif m['role'] != 'system' %}<|im_start|>{{ m['role'] }}\n"
    "{{ m['content'].split('</think>')[-1].strip() }}<|im_end|>\n{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
"""Knows tools; strips earlier thoughts and white space, as Qwen3."""

LLAMA = (
    "{{ bos_token }}{% for m in messages %}<|im_start|>{{ m['role'] }}\n"
    "{% if tools is defined and tools and loop.index0 == 1 %}{% for t in tools %}{{ t | tojson }}\n{% endfor %}{% endif %}"
    "{% if m['role'] == 'tool' %}{{ m['content'] | tojson }}{% elif m.tool_calls is defined and m.tool_calls %}"
    "{% if m.tool_calls | length != 1 %}{{ raise_exception('one call only') }}{% endif %}{{ m.tool_calls[0] | tojson }}"
    "{% else %}{{ m['content'] | trim }}{% endif %}<|im_end|>{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
"""Knows tools; refuses parallel calls, drops the text beside a call, writes results as JSON, as Llama 3."""

ALTERNATING = (
    "{% for m in messages %}{% if m['role'] not in ['user', 'assistant', 'system'] or (loop.index0 > 1 and "
    "m['role'] == messages[loop.index0 - 1]['role']) %}{{ raise_exception('roles must alternate') }}{% endif %}"
    "<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
"""Knows no tools and refuses two messages of one side in a row, as Mistral."""

NO_SYSTEM = (
    "{% for m in messages %}{% if m['role'] == 'system' %}{{ raise_exception('no system role') }}{% endif %}"
    "{% if m['role'] != ['user', 'assistant'][loop.index0 % 2] %}{{ raise_exception('roles must alternate') }}{% endif %}"
    "<|im_start|>{{ m['role'] }}\n{{ m['content'] | trim }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n<think>\n{% endif %}"
)
"""Refuses a system message, as Gemma, and begins a thought for the answer."""

TOOLS_NAMED_NOT_SHOWN = (
    "{% if tools %}You have {{ tools | length }} tools.{% endif %}"
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n{% endfor %}"
)
"""Takes tools and does not show them."""
