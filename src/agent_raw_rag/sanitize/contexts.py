"""Secrets that are known by what stands around them: a name, a header, a URL, an armour.

Keywords are lower-case and found in any case, anywhere. Patterns ignore case. Only the secret is masked, not its name.
"""

from __future__ import annotations

from agent_raw_rag.sanitize.pieces import (
    B64,
    COOKIES,
    DATABASE,
    ENV_TAIL,
    IS,
    NEXT_TO,
    NO_CURSOR,
    OPEN,
    PRIVATE_KEY,
    PUTTY_LINES,
    QUOTE,
    TAIL,
    UUID,
    after,
    value,
)
from agent_raw_rag.sanitize.rule import Guard, Rule

_ID = "{h8}-{h4}-{h4}-{h4}-{h12}"

_ARMOURS = (
    Rule(
        "private-key",
        ("-----begin ",),
        PRIVATE_KEY,
        "«-----BEGIN RSA PRIVATE KEY-----\n{b64}\n{b64}\n{b40}==\n-----END RSA PRIVATE KEY-----»",
        "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----, '-----BEGIN RSA PRIVATE KEY-----' begins it",
    ),
    Rule(
        "putty-private-key",
        ("private-lines:",),
        r"private-lines: \d{1,3}" + PUTTY_LINES,
        "Private-Lines: 2«\n{b64}\n{b40}»",
        "Private-Lines: 14 of them",
    ),
)

_URLS = (
    Rule(
        "slack-webhook",
        ("://",),
        r"://hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9/_-]{20,})",
        "https://hooks.slack.com/services/«T{u8}/B{u8}/{a24}»",
        "https://hooks.slack.com/services/TXXXXXXXX/BXXXXXXXX/XXXXXXXXXXXXXXXXXXXXXXXX",
        3.0,
    ),
    Rule(
        "discord-webhook",
        ("://",),
        r"://[a-z.]{0,20}discord(?:app)?\.com/api/(?:v\d{1,2}/)?webhooks/\d{12,22}/([A-Za-z0-9_-]{40,})",
        "https://discord.com/api/webhooks/{d18}/«{w68}»",
        "https://discord.com/api/webhooks/{webhook.id}/{webhook.token}",
        3.0,
    ),
    Rule(
        "teams-webhook",
        ("://",),
        r"://[a-z0-9-]{1,40}\.webhook\.office\.com/webhookb2/([A-Za-z0-9@/_-]{60,})",
        f"https://acme.webhook.office.com/webhookb2/«{_ID}@{_ID}/IncomingWebhook/{{h32}}/{_ID}»",
        "https://acme.webhook.office.com/webhookb2/<id>",
    ),
    Rule(
        "azure-sas",
        ("sig=",),
        r"(?<=[?&;])sig=([A-Za-z0-9%/+=_-]{40,120})",
        "https://orchid.blob.core.windows.net/c?sv=2024-11-04&sr=b&sig=«{a43}%3D»",
        "https://x.blob.core.windows.net/c?sig=<signature>&sv=2024-11-04",
        3.0,
    ),
    Rule(
        "aws-presigned-url",
        ("x-amz-signature=",),
        r"x-amz-signature=([a-f0-9]{64})",
        "https://s3.amazonaws.com/b/k?X-Amz-Expires=300&X-Amz-Signature=«{h64}»",
        "https://s3.amazonaws.com/b/k?X-Amz-Signature=<sig>",
        3.0,
    ),
    Rule(
        "sentry-dsn",
        ("://",),
        r"://([0-9a-f]{32}(?::[0-9a-f]{32})?)@[a-z0-9.-]{4,80}/\d{1,20}",
        "https://«{h32}»@o450.ingest.sentry.io/4501",
        "https://examplePublicKey@o0.ingest.sentry.io/0",
    ),
    Rule(
        "database-url",
        ("://",),
        DATABASE + r"://[^\s/:@\"'`<>\[]{0,80}:([^\s\"'`<>\\/]{4,160})@",
        "postgresql://app:«{a16}»@db.internal:5432/orchid",
        "postgres://user:password@localhost:5432/db, redis://:${REDIS_PASSWORD}@cache",
    ),
    Rule(
        "url-password",
        ("://",),
        r"://[^\s/:@\"'`<>\[]{0,80}:([^\s\"'`<>\\/]{5,160})@(?=[a-z0-9\[])",
        "https://deploy:«{a14}»@git.orchid.dev/app.git",
        "http://localhost:3000/@scope/pkg ssh://git@host:22 https://user:pass@host",
    ),
    Rule(
        "url-token",
        ("://",),
        r"://([A-Za-z0-9_-]{20,255})@(?=[a-z0-9])",
        "https://«{h40}»@github.com/orchid/app.git",
        "https://deploy@git.orchid.dev and https://a-very-long-user-name-of-a-person@host.dev",
        3.0,
        Guard.RANDOM,
    ),
)

_HEADERS = (
    Rule(
        "authorization",
        ("auth",),
        r"(?<![a-z][a-z0-9])authorization"
        + IS
        + OPEN
        + r"(?:(?:basic|bearer|token|digest|bot|key|apikey|negotiate|ntlm"
        r"|splunk|genie-?key|apitoken)\s{1,3})?(?!aws4-)([A-Za-z0-9._~+/=:-]{8,4096})",
        "Authorization: Basic «{b38}==»",
        "Authorization: Bearer $TOKEN, authorization: required, Authorization: Basic <credentials>",
        2.5,
        Guard.VALUE,
    ),
    Rule(
        "bearer",
        ("bearer",),
        r"bearer(?:\s{1,3}|%20)([A-Za-z0-9._~+/=-]{12,4096})",
        "curl -H 'Auth: Bearer «{a40}»'",
        "Bearer authentication, Bearer YOUR_ACCESS_TOKEN_GOES_HERE",
        2.5,
        Guard.VALUE,
    ),
    Rule(
        "session-cookie",
        ("cookie",),
        COOKIES,
        "Cookie: theme=dark; sessionid=«{l32}»",
        "Cookie: theme=dark; session_length=a-long-plain-word-here",
        3.0,
        Guard.RANDOM,
    ),
    Rule(
        "curl-password",
        ("curl",),
        r"curl\b(?:[^\n;|c]|c(?!url)){0,400}?\s(?:-u\s{0,2}|--user[ =])[\"']?[^\s:\"'$]{1,80}:"
        r"(?!\d{1,9}\b)([^\s\"'$\\]{4,200})",
        "curl -s -u admin:«{a14}» https://orchid.dev/api",
        "curl -u user:$PASSWORD https://orchid.dev; docker run -u 1000:1000 img",
    ),
    Rule(
        "registry-auth",
        ("auth",),
        r"(?:(?<=:_)|(?<=\n_)|(?<=[\"']))auth(?:\\{0,3}[\"'])?\s{0,3}[:=]\s{0,3}"
        + OPEN
        + r"([A-Za-z0-9+/]{16,400}={0,2})",
        "//registry.orchid.dev/:_auth=«{b40}»",
        '"auth": "password-or-token", _auth=${NPM_AUTH}',
        3.0,
        Guard.MIXED,
    ),
)


def _vendor(kind: str, before: str, keyword: str, secret: str, example: str, counter: str) -> Rule:
    """A vendor's secret without a shape of its own: known by the vendor in the name it is assigned to."""
    pattern = f"{after(*before.split('|'))}{keyword}{IS}{OPEN}({secret})(?![a-z0-9])"
    return Rule(kind, (keyword,), pattern, example, counter, 2.5, Guard.MIXED)


_VENDORS = (
    Rule(
        "aws-secret-access-key",
        ("secret",),
        r"secret[_.-]?(?:access[_.-]?)?key" + IS + OPEN + r"([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])",
        "aws_secret_access_key = «{b40}»",
        "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        3.5,
        Guard.MIXED,
    ),
    Rule(
        "aws-session-token",
        ("token",),
        after("session ", "security ") + r"token" + IS + OPEN + r"([A-Za-z0-9/+=]{80,})",
        "aws_session_token = «IQoJb3JpZ2lu{b200}»",
        "aws_session_token = <token>",
        3.5,
        Guard.MIXED,
    ),
    Rule(
        "azure-storage-key",
        ("key",),
        r"(?<=account)key\s?=\s?(" + B64 + r"{60,100}={0,2})",
        "DefaultEndpointsProtocol=https;AccountName=orchid;AccountKey=«{b86}==»;EndpointSuffix=core.windows.net",
        "AccountKey=<key>;EndpointSuffix=core.windows.net",
        3.5,
    ),
    Rule(
        "azure-shared-access-key",
        ("key",),
        r"(?<=sharedaccess)key\s?=\s?(" + B64 + r"{40,100}={0,2})",
        "Endpoint=sb://orchid.servicebus.windows.net/;SharedAccessKeyName=Root;SharedAccessKey=«{b43}=»",
        "SharedAccessKeyName=RootManageSharedAccessKey",
        3.5,
    ),
    Rule(
        "gcp-private-key-id",
        ("key",),
        r"(?<=private_)key_id" + IS + QUOTE + r"([0-9a-f]{40})",
        '"type": "service_account", "private_key_id": "«{h40}»"',
        '"private_key_id": "key-of-the-account"',
        3.0,
    ),
    Rule(
        "braintree-token",
        ("token",),
        r"(?<=access_)token\$(?:production|sandbox)\$[0-9a-z]{16}\$([0-9a-f]{32})",
        "access_token$production${l16}$«{h32}»",
        "access_token$production$id$secret",
    ),
    _vendor(
        "heroku-api-key",
        "heroku api |heroku ",
        "key",
        UUID,
        f"HEROKU_API_KEY=«{_ID}»",
        "heroku release 01234567-89ab-cdef-0123-456789abcdef",
    ),
    _vendor(
        "datadog-key",
        "datadog api |datadog app |dd api |dd app |datadog ",
        "key",
        r"(?:[0-9a-f]{40}|[0-9a-f]{32})",
        'datadog_api_key: "«{h32}»"',
        "datadog-agent 7.50 at 5f4dcc3b5aa765d61d8327deb882cf99",
    ),
    _vendor(
        "cloudflare-api-token",
        "cloudflare api |cloudflare |cf api ",
        "token",
        r"[a-z0-9_-]{40}",
        "CLOUDFLARE_API_TOKEN=«{a40}»",
        "cloudflare: see the-page-about-workers-and-their-limits-of-it",
    ),
    _vendor(
        "cloudflare-global-key",
        "cloudflare api |cloudflare |cf api ",
        "key",
        r"[a-f0-9]{37}",
        "CLOUDFLARE_API_KEY=«{h37}»",
        "CLOUDFLARE_API_KEY=$KEY",
    ),
    _vendor(
        "twilio-auth-token",
        "twilio auth |twilio ",
        "token",
        r"[0-9a-f]{32}",
        "TWILIO_AUTH_TOKEN=«{h32}»",
        "twilio-python 9.0, TWILIO_AUTH_TOKEN=<token>",
    ),
    _vendor(
        "okta-token",
        "okta api |okta client |okta ",
        "token",
        r"00[a-z0-9_-]{40}",
        "okta_api_token = '«00{w39}x»'",
        "okta: 00-the-first-application-of-the-company",
    ),
    _vendor(
        "algolia-key",
        "algolia api |algolia admin |algolia ",
        "key",
        r"[a-f0-9]{32}",
        "ALGOLIA_ADMIN_KEY=«{h32}»",
        "algolia index of 5f4dcc3b5aa765d61d8327deb882cf99",
    ),
    _vendor(
        "mistral-key",
        "mistral api |mistral ",
        "key",
        r"[a-z0-9]{32}",
        "MISTRAL_API_KEY=«{a32}»",
        "MISTRAL_API_KEY=your-mistral-key",
    ),
    _vendor(
        "cohere-key",
        "cohere api |cohere |co api ",
        "key",
        r"[a-z0-9]{40}",
        "COHERE_API_KEY=«{a40}»",
        "CO_API_KEY=${CO_API_KEY}",
    ),
    _vendor(
        "azure-openai-key",
        "azure openai api |azure openai |azure api ",
        "key",
        r"[a-z0-9]{32}(?:[a-z0-9]{52})?",
        "AZURE_OPENAI_API_KEY=«{h32}»",
        "AZURE_OPENAI_API_KEY=<key>",
    ),
)

_KEY_OF = after(
    *(
        "api ",
        "access ",
        "secret ",
        "private ",
        "auth ",
        "encryption ",
        "signing ",
        "account ",
        "master ",
        "preshared ",
    ),
    *("license ", "app ", "service ", "subscription "),
)

_ASSIGNMENTS = (
    Rule(
        "sshpass",
        ("pass",),
        r"(?<=ssh)pass\s{1,3}-p\s{0,3}[\"']?([^\s\"'$]{4,200})",
        "sshpass -p '«{a12}»' ssh deploy@host",
        "sshpass -p $PASS ssh deploy@host",
    ),
    Rule(
        "cli-secret",
        ("pass", "token", "secret", "key"),
        r"(?:(?<=--)(?:pass(?:word|wd|phrase)|token|secret)|"
        + after("--api-", "--auth-", "--access-", "--secret-", "--admin-")
        + r"(?:token|key))[ =]{1,2}"
        + value(6),
        "orchid login --token «{a24}»",
        "orchid login --token $TOKEN --password <password> --token-file a1b2 --key ~/.ssh/id_ed25519",
        2.0,
        Guard.VALUE,
    ),
    Rule(
        "env-secret",
        ("pass", "pwd", "secret", "token", "key"),
        r"(?-i:(?:PASSWORD|PASSWD|PASS|PWD|SECRET|TOKEN|(?<=_)KEY)" + ENV_TAIL + r")=(?!=)" + value(6),
        "export ORCHID_TOKEN=«{a24}»",
        "MAX_TOKENS=4096 TOKEN=$(cat f) SECRET_NAME=prod-db-2024 API_KEY=your-key PASSWORD=changeme",
        2.0,
        Guard.VALUE,
    ),
    Rule(
        "password",
        ("pass", "pwd"),
        r"(?:passw(?:or)?d|passwort|passphrase|passcode|pwd|(?<=[_-])pass)"
        + TAIL
        + r"(?:"
        + IS
        + r"|[ \t]{1,2}(?:is|was):?"
        r"[ \t]{1,2})" + value(6),
        '"password": "«{a12}»"',
        "password: string, password = getpass(), password: Optional[str], the password is correct, pass: 12 of 12",
        2.0,
        Guard.VALUE,
    ),
    Rule(
        "secret",
        ("secret",),
        r"secret" + TAIL + NEXT_TO + value(10),
        "client_secret: '«{a32}»'",
        "secret: true, secretName: orchid-db-2024, secret = load_secret_v2(name)",
        2.8,
        Guard.KEY,
    ),
    Rule(
        "api-key",
        ("key",),
        _KEY_OF + r"key" + TAIL + NEXT_TO + value(10),
        "x-api-key: «{a32}»",
        'apiKey: string, api_key=environ["K3Y"], access key: 12, "cache_key": "9f86d081884c7d65"',
        2.8,
        Guard.KEY,
    ),
    Rule(
        "token",
        ("token",),
        NO_CURSOR + r"token" + TAIL + NEXT_TO + r"(?!" + OPEN + UUID + r")" + value(10),
        "access_token=«{a40}»&expires_in=3600",
        "token: string; tokenizer = cl100k_base_v2x; next_token_id: 'a1b2c3d4e5f6a7'; max_tokens: 4096",
        2.8,
        Guard.KEY,
    ),
)

CONTEXTS: tuple[Rule, ...] = _ARMOURS + _URLS + _HEADERS + _VENDORS + _ASSIGNMENTS
