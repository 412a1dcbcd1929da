"""Texts for the redaction tests: places where secrets turn up, and texts in which there is none."""

from __future__ import annotations

import json
from collections.abc import Callable

PLACES: dict[str, Callable[[str], str]] = {
    "alone": lambda it: it,
    "env export": lambda it: f"export SERVICE_VALUE={it}\nexport NEXT=1",
    "dotenv": lambda it: f'SERVICE_VALUE="{it}"\nPORT=80',
    "json": lambda it: json.dumps({"name": "orchid", "value": it, "n": 1}),
    "json in json": lambda it: json.dumps({"output": json.dumps({"value": it})}),
    "yaml": lambda it: f"service:\n  value: {it}\n  port: 80",
    "url query": lambda it: f"https://api.orchid.dev/v1?a=1&value={it}&b=2",
    "header": lambda it: f"X-Service: {it}\r\nAccept: */*",
    "bearer": lambda it: f"curl -H 'Authorization: Bearer {it}' https://api.orchid.dev",
    "shell command": lambda it: f"orchid login --with {it} && echo ok",
    "python": lambda it: f"client = Client(value='{it}', retries=3)",
    "javascript": lambda it: f"const value = `{it}`;",
    "log line": lambda it: f"2026-11-30T12:00:00Z INFO value={it} took 3ms",
    "markdown code": lambda it: f"Use `{it}` as the value.",
    "sentence": lambda it: f"my value is {it}, please rotate it.",
    "end of a sentence": lambda it: f"It is {it}.",
    "chinese": lambda it: f"這是我的鑰匙{it}，請勿外傳",
    "xml": lambda it: f"<value>{it}</value>",
    "csv": lambda it: f"id,{it},2026",
    "diff": lambda it: f"@@ -1 +1 @@\n-old\n+{it}\n",
    "escaped line break": lambda it: f"line one\\n{it}\\nline three",
    "colour": lambda it: f"\x1b[32m{it}\x1b[0m",
    "brackets": lambda it: f"[{it}]",
    "tool argument": lambda it: json.dumps({"command": f'echo "{it}" > f'}),
    "numbered lines": lambda it: f"    12→{it}\n    13→next",
    "url-encoded": lambda it: f"redirect=https%3A%2F%2Fx.dev%3Fv%3D{it}%26z",
}

_SHA = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
_COMMIT = "182c10f181da4464a3eec51b833316888f3b2a17"
_INTEGRITY = "sha512-v2kDEe57lecTulaDIuNTPy3Ry4gLGJ6Z1O3vE1krgXZNrsQ+LFTGHVxVjcXPs17LhbZVGedAJv8XZ1tvj5FvSg=="
_UUID = "7b1e4c3a-52d8-4f0e-9a6b-0c8d2f4e6a91"

HARMLESS: tuple[str, ...] = (
    # Hashes and ids
    f"commit {_COMMIT}",
    f"HEAD is now at {_COMMIT[:7]} Fix the token refresh",
    f"git checkout {_COMMIT} -- src/auth/token.py",
    f"sha256:{_SHA}",
    f"{_SHA}  orchid-1.2.3.tar.gz",
    f"FROM python:3.12@sha256:{_SHA}",
    f"session {_UUID} resumed",
    f'{{"id": "{_UUID}", "sessionId": "{_UUID}", "token": "{_UUID}"}}',
    f"https://github.com/orchid/app/commit/{_COMMIT}",
    f'ETag: "{_SHA[:32]}"',
    "toolu_01A09q90qw90lq917835lq9 call_8Zr4vJ2kPq0LmN5tXw7YbC3d msg_01XFDUDYJgAACzvnptvVoYEL",
    "req_011CSHoEeqs5C35K2UUqR7Fy chatcmpl-9xY2bKqLmNoPqRsTuVwXyZ",
    "arn:aws:iam::123456789012:role/orchid-deploy",
    # Lock files
    f'"integrity": "{_INTEGRITY}"',
    '"resolved": "https://registry.npmjs.org/@types/node/-/node-20.11.5.tgz",',
    f'lodash@^4.17.21, lodash@~4.17.20:\n  version "4.17.21"\n  integrity {_INTEGRITY}',
    f'{{ url = "https://files.pythonhosted.org/a1/b2/idna-3.7-py3-none-any.whl", hash = "sha256:{_SHA}", size = 6 }}',
    f"idna==3.7 \\\n    --hash=sha256:{_SHA}",
    "golang.org/x/crypto v0.21.0 h1:X31++rzVUdKhX5sWmSOFZxx8UW/ldWx55cbf08iNAMA=",
    f'checksum = "{_SHA}"',
    "platformdirs/version.py,sha256=qaN-fw_htIgKUVXoAuAEVgKxQu3tZ9qE2eiKkWIS7LA,160",
    # Code about secrets, without one
    "def login(user: str, password: str, token: str | None = None) -> Session: ...",
    "password: string; token?: string; apiKey: string | undefined;",
    "const token = await getToken(user2, { secret: process.env.JWT_SECRET });",
    "api_key = os.environ['OPENAI_API_KEY']",
    "api_key=settings.openai_api_key_v2, secret=config.auth.secret2",
    "token = tokens[0]; secret = secrets.token_urlsafe(32); key = hashlib.sha256(password).hexdigest()",
    "if not password or password != confirm_password: raise ValueError('Password must be at least 8 characters')",
    "tokenizer = tiktoken.get_encoding('cl100k_base'); max_tokens = 4096; total_tokens: 12345",
    '<input type="password" name="user_password" id="pwd1" autocomplete="current-password">',
    "password = getpass.getpass('Password: ')",
    "self.access_token = response.json()['access_token']",
    "Authorization: `Bearer ${token}`",
    "headers = {'Authorization': f'Bearer {token}', 'X-API-Key': api_key}",
    "env:\n  GITHUB_TOKEN: ${{ secrets.GITHUB_TOKEN }}\n  NPM_TOKEN: ${{ secrets.NPM_TOKEN_2 }}",
    "DATABASE_URL=postgres://user:password@localhost:5432/app",
    "DATABASE_URL=postgresql://${DB_USER}:${DB_PASS}@db:5432/app",
    "redis://localhost:6379/0 amqp://guest:guest@localhost:5672//",
    "SECRET_KEY_PATH=/run/secrets/key2024 TOKEN_FILE=~/.orchid/token-1.json",
    "secretName: orchid-db-credentials-2024\n  secretKeyRef:\n    name: orchid-db-1\n    key: password",
    "TOKEN=$(gh auth token) PASSWORD=$1 API_KEY=${API_KEY:-}",
    '"nextToken": "eyJOZXh0VG9rZW4iOiBudWxsLCAiYm90b190cnVuY2F0ZV9hbW91bnQiOiAyfQ=="',
    'publicKeyToken="b77a5c561934e089"',
    "class TokenBucket2: keyword = 'v2'; monkey = 'Koko2'; turkey: 12",
    "sk-learn sk_learn_pipeline_of_the_first_2_models hf_hub_download r8_g8_b8_a8_unorm",
    "docker run -u 1000:1000 -v key-data:/data img; curl -u $USER:$PASS https://x.dev",
    "git clone git@github.com:orchid/app.git && git clone https://github.com/orchid/app.git",
    "npm i @scope/pkg@1.2.3 http://localhost:3000/@vite/client http://[::1]:8080",
    # Documentation
    "AWS_ACCESS_KEY_ID=AKIAIOSFODNN7EXAMPLE\nAWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
    "OPENAI_API_KEY=sk-... ANTHROPIC_API_KEY=sk-ant-... export GITHUB_TOKEN=ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    "Set `API_KEY=<your-token>` or `API_KEY=your-api-key-here`; the password is changed in the settings.",
    "Authorization: Bearer <token>; Authorization: Bearer YOUR_ACCESS_TOKEN; Basic authentication is off.",
    "I forgot my password, and the token: it expired. What is the secret? The key is to ask. Password: see below.",
    "a password of 12 characters; token: 4k of 128k; secret: yes; api key: none",
    "-----BEGIN CERTIFICATE-----\nMIIDdzCCAl+gAwIBAgIEAgAAuTANBgkqhkiG9w0BAQUFADBaMQswCQYDVQQGEwJJ\n-----END CERTIFICATE-----",
    "A file that begins with '-----BEGIN RSA PRIVATE KEY-----' is a key; ssh-ed25519 "
    "AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsABgH5C9okWi0dh2l9GKJl dev@orchid",
    "密碼是什麼？請輸入 token，然後按 Enter。",
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
)
