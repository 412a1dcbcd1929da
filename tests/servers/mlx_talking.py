"""``mlx_lm.server`` on a tiny model with random weights, as a process: what it says is nonsense, and its wire is the real one."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.encode.tiny_qwen import write_model
from tests.process.processes import environment_of

TEMPLATE = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}<|im_start|>assistant\n"
)


@contextmanager
def mlx_server(folder: Path) -> Iterator[tuple[str, str]]:
    """(its url, the name of its model)."""
    model = write_model(folder / "tiny")
    facts = {"tokenizer_class": "PreTrainedTokenizerFast", "eos_token": "<|im_end|>", "chat_template": TEMPLATE}
    (model / "tokenizer_config.json").write_text(json.dumps(facts), encoding="utf-8")
    with socket.create_server(("127.0.0.1", 0)) as bound:
        port = bound.getsockname()[1]
    (folder / "cache").mkdir()
    given = {"HOME": str(folder), "HF_HUB_OFFLINE": "1", "HF_HUB_CACHE": str(folder / "cache")}
    command = [sys.executable, "-m", "mlx_lm", "server", "--model", str(model), "--port", str(port)]
    with subprocess.Popen(
        command, env=environment_of(given), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stderr is not None
            said = []
            for line in process.stderr:
                said.append(line)
                if "Starting httpd" in line:
                    break
            else:
                raise AssertionError("".join(said))
            yield f"http://127.0.0.1:{port}", str(model)
        finally:
            process.kill()
