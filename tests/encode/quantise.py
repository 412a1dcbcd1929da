"""A tiny model, quantised by MLX's own tools, beside one with the numbers that the codes mean."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any


def quantise(folder: Path, out: Path, *, bits: int, group_size: int, mode: str = "affine") -> tuple[Path, Path]:
    """(packed, plain). To be run in the thread that does MLX's work."""
    from mlx_lm.utils import dequantize_model, load_model, quantize_model, save_model

    model, config = load_model(folder)
    model, config = quantize_model(model, config, group_size, bits, mode=mode)
    packed = _save(save_model, model, config, folder, out / "packed")
    plain_config: dict[str, Any] = {name: one for name, one in config.items() if not name.startswith("quantization")}
    plain = _save(save_model, dequantize_model(model), plain_config, folder, out / "plain")
    return packed, plain


def _save(save_model: Any, model: Any, config: dict[str, Any], source: Path, folder: Path) -> Path:
    folder.mkdir()
    save_model(folder, model)
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    shutil.copy(source / "tokenizer.json", folder)
    return folder
