"""Keys and tokens that are known by their form: a prefix, an alphabet and a length that their maker publishes."""

import re
from collections.abc import Iterator, Sequence

from app.policy.detector import Span
from app.policy.features import kinds
from app.policy.linear_patterns import Pattern
from app.policy.placeholders import is_placeholder

FORMS = {
    # clouds
    "aws access key id": r"(?:AKIA|ASIA|ABIA|ACCA|AROA|AIDA)[A-Z0-9]{16}",
    "aws bedrock": r"ABSK[A-Za-z0-9+/]{100,}={0,2}|bedrock-api-key-[A-Za-z0-9+/=_-]{40,}",
    "alibaba": r"(?:LTAI[A-Za-z0-9]{12,26}|STS\.N[A-Za-z0-9]{20,40})",
    "tencent": r"AKID[A-Za-z0-9]{28,36}",
    "baidu": r"bce-v3/ALTAK-[A-Za-z0-9]{15,30}/[a-f0-9]{40}",
    "volcengine": r"AKLT[A-Za-z0-9_-]{32,64}={0,2}",
    "yandex": r"(?:AQVN[A-Za-z0-9_-]{30,44}|y[0-3]_[A-Za-z0-9_-]{50,80}|YC[A-Za-z0-9_-]{38}|t1\.[A-Za-z0-9_-]{2,}\.[A-Za-z0-9_-]{60,}={0,2})",
    "naver": r"ncp_iam_[A-Za-z0-9]{20,50}",
    "google api": r"AIza[A-Za-z0-9_-]{30,40}",
    "google oauth": r"(?:GOCSPX-[A-Za-z0-9_-]{20,40}|ya29\.[A-Za-z0-9_.-]{20,}|1//0[A-Za-z0-9_-]{20,})",
    "azure client secret": r"[A-Za-z0-9_~.-]{3}[78]Q~[A-Za-z0-9_~.-]{31,37}",
    "azure storage, service bus, search": r"[A-Za-z0-9+/]{76}\+ASt[A-Za-z0-9+/]{4,6}={2}|[A-Za-z0-9+/]{33,44}\+A(?:SbB|IoT|EhB|CRS)[A-Za-z0-9+/=]{5,8}|[A-Za-z0-9]{42}AzSe[A-Za-z0-9]{6}",
    "azure devops": r"[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}",
    "digitalocean": r"do[opr]_v1_[a-f0-9]{40,80}",
    "scaleway": r"SCW[A-Z0-9]{17}",
    "cloudflare": r"(?:v1\.0-[a-f0-9]{24}-[a-f0-9]{140,150}|cf(?:ut|at|k)_[A-Za-z0-9_-]{40,60})",
    "fly.io": r"(?:fo1_[A-Za-z0-9_-]{40,50}|fm[12][ar]?_[A-Za-z0-9+/_-]{60,}={0,3})",
    "vercel": r"(?:vercel_blob_rw_[A-Za-z0-9_]{20,60}|vc[pkrai]_[A-Za-z0-9]{20,60})",
    "netlify": r"nf[puc]_[A-Za-z0-9]{36,50}",
    "render": r"rnd_[A-Za-z0-9]{28,40}",
    "heroku": r"HRKU-[A-Za-z0-9_-]{30,80}",
    "supabase": r"sb[ps]_[a-f0-9]{40}|sb_secret_[A-Za-z0-9_-]{20,50}",
    "neon, upstash, turso, convex": r"(?:napi_[a-z0-9]{60,70}|neonctl_[A-Za-z0-9]{30,})",
    "prefect, clickhouse, confluent, cockroach": r"(?:pn[ub]_[A-Za-z0-9]{36}|4b1d[A-Za-z0-9]{38}|cflt[A-Za-z0-9+/]{60}|CCDB1_[A-Za-z0-9]{22}_[A-Za-z0-9]{40})",
    "databricks": r"(?:dapi[a-f0-9]{32}(?:-\d)?|dose[a-f0-9]{32})",
    # code and packages
    "github": r"(?:gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{22,})",
    "gitlab": r"(?:gl(?:pat|dt|rt|rtr|ptt|ft|soat|cbt|imt|agent|oas|ffct|wt)-[A-Za-z0-9_.=-]{18,}|GR1348941[A-Za-z0-9_-]{20})",
    "gitea, forgejo, gogs, codeberg": r"gta_[a-z0-9]{40}",
    "bitbucket, atlassian": r"(?:AT(?:ATT3|CTT3|BB)[A-Za-z0-9_=-]{24,}|BBDC-[A-Za-z0-9+/@_-]{40,50})",
    "npm": r"npm_[A-Za-z0-9]{30,50}",
    "pypi": r"pypi-[A-Za-z0-9_-]{50,}",
    "rubygems, nuget, clojars, crates": r"(?:rubygems_[a-f0-9]{48}|oy2[a-z0-9]{43}|CLOJARS_[a-z0-9]{60}|cio[A-Za-z0-9]{32})",
    "docker": r"dckr_(?:pat|oat)_[A-Za-z0-9_-]{20,60}",
    "jfrog": r"(?:AKCp[A-Za-z0-9]{60,80}|cmVmd[A-Za-z0-9]{59})",
    "circleci, buildkite, travis, codecov": r"(?:CCI(?:PAT|PRJ)_[A-Za-z0-9]{20,24}_[a-f0-9]{40}|bk(?:ua|aj|ct)_[a-f0-9]{40})",
    "sonar, snyk, semgrep": r"(?:sq[uap]_[a-f0-9]{40}|snyk_(?:uat|sat)\.[a-z0-9]{8}\.[A-Za-z0-9_.-]{20,})",
    "sourcegraph, gitguardian": r"(?:sgp_(?:[a-f0-9]{16}_|local_)?[a-f0-9]{40}|slk_[a-f0-9]{64})",
    "vault": r"hv[sbr]\.[A-Za-z0-9_-]{20,}",
    "terraform": r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_-]{50,80}",
    "pulumi, planetscale, doppler, postman": r"(?:pul-[a-f0-9]{40}|pscale_(?:tkn|pw|oauth|api)_[A-Za-z0-9_.=-]{30,70}"
    r"|dp\.(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9._-]{40,60}|PMAK-[A-Fa-f0-9]{24}-[A-Fa-f0-9]{34})",
    "infisical, 1password, bitwarden": r"(?:st\.[a-f0-9]{24}\.[a-f0-9]{32}\.[a-f0-9]{32}|A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})-[A-Z0-9]{5}-[A-Z0-9]{5}-[A-Z0-9]{5}|ops_eyJ[A-Za-z0-9+/_-]{100,}={0,3})",
    "tailscale, netmaker, ngrok, teleport": r"(?:tskey-(?:auth|api|client|webhook|scim)-[A-Za-z0-9]{8,24}-[A-Za-z0-9]{20,40}|2[A-Za-z0-9]{26}_[0-9][A-Za-z0-9]{20})",
    # models
    "openai, anthropic and others": r"sk-[A-Za-z0-9][A-Za-z0-9_-]{18,}",
    "hugging face": r"(?:hf|api_org)_[A-Za-z0-9]{28,50}",
    "groq, xai, replicate, perplexity, fireworks, together, nvidia": r"(?:gsk_|xai-|r8_|pplx-|fw_|tgp_v1_|csk-)[A-Za-z0-9]{24,}|nvapi-[A-Za-z0-9_-]{50,}",
    "langchain, wandb, pinecone, tavily, firecrawl, e2b, jina, elevenlabs": r"(?:lsv2_(?:pt|sk)_[a-f0-9]{32}_[a-f0-9]{10}|wandb_v1_[A-Za-z0-9_]{30,}"
    r"|pcsk_[A-Za-z0-9_]{40,80}|tvly-(?:dev-|prod-)?[A-Za-z0-9]{24,40}|fc-[a-f0-9]{32}|e2b_[a-f0-9]{40}|jina_[A-Za-z0-9_-]{50,70}|sk_[a-f0-9]{48})",
    "zhipu": r"[a-f0-9]{32}\.[A-Za-z0-9]{16}",
    # messages and mail
    "slack": r"(?:xox[abeoprsc]-[A-Za-z0-9-]{10,}|xapp-[A-Za-z0-9-]{20,}|xoxe\.[A-Za-z0-9.-]{20,})",
    "serverchan": r"SC[TU]\d{3,9}T?[A-Za-z0-9]{20,60}",
    "telegram": r"\d{8,10}:[A-Za-z0-9_-]{33,40}",
    "matrix": r"(?:sy[tr]_[A-Za-z0-9+/=_-]{2,120}_[A-Za-z]{20}|m[ac][trc]_[A-Za-z0-9]{30})_[A-Za-z0-9]{6}",
    "dingtalk": r"SEC[a-f0-9]{64}",
    "discord": r"[MNO][A-Za-z0-9_-]{22,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40}",
    "sendgrid": r"SG\.[A-Za-z0-9_-]{16,30}\.[A-Za-z0-9_-]{30,60}",
    "mailgun": r"key-[a-f0-9]{32}|[a-f0-9]{32}-[a-f0-9]{8}-[a-f0-9]{8}",
    "mailchimp": r"[a-f0-9]{32}-us\d{1,2}",
    "brevo, resend, mailersend": r"(?:xkeysib-[a-f0-9]{64}-[A-Za-z0-9]{16}|re_(?:[A-Za-z0-9]{6,12}_[A-Za-z0-9]{20,30}|[A-Za-z0-9]{28,40})|mlsn\.[a-f0-9]{64})",
    "twilio": r"(?:SK|AC)[a-f0-9]{32}",
    # money and shops
    "stripe": r"(?:sk|rk)_(?:live|test|prod)_[A-Za-z0-9]{10,}|whsec_[A-Za-z0-9+/=]{20,}",
    "mercado pago": r"(?:APP_USR|TEST)-\d{10,20}-\d{6}-[a-f0-9]{32}(?:__[A-Z]{2}_[A-Z]{2}__)?-\d{5,12}",
    "paystack, flutterwave, razorpay, paypal, adyen": r"(?:FLWSECK(?:_TEST)?-[A-Za-z0-9]{12,40}(?:-X)?|rzp_(?:live|test)_[A-Za-z0-9]{14}"
    r"|access_token\$(?:production|sandbox)\$[a-z0-9]{16}\$[a-f0-9]{32}|AQE[a-z][A-Za-z0-9+/=-]{80,})",
    "plaid": r"access-(?:sandbox|development|production)-[a-f0-9]{8}(?:-[a-f0-9]{4}){3}-[a-f0-9]{12}",
    "rapidapi": r"[a-f0-9]{10}msh[a-f0-9]{15}p1[a-f0-9]{5}jsn[a-f0-9]{12}",
    "shopify": r"shp(?:at|ca|pa|ss|tka)_[A-Fa-f0-9]{32}",
    "square": r"(?:EAAA[A-Za-z0-9_-]{50,80}|sq0(?:atp|csp|idp)-[A-Za-z0-9_-]{20,60})",
    "easypost, shippo, duffel": r"(?:EZ[AT]K[A-Za-z0-9]{54}|shippo_(?:live|test)_[a-f0-9]{40}|duffel_(?:live|test)_[A-Za-z0-9_=-]{40,50})",
    # watching
    "new relic": r"NR(?:AK|RA|JS|IQ|II|SP)-[A-Za-z0-9_-]{18,50}|[a-f0-9]{36}NRAL",
    "grafana": r"(?:glsa_[A-Za-z0-9]{32}_[A-Fa-f0-9]{8}|glc_[A-Za-z0-9+/=]{32,})",
    "sentry": r"sntr(?:ys|yu)_[A-Za-z0-9+/=_-]{40,}",
    "dynatrace": r"dt0[a-z]\d{2}\.[A-Z0-9]{8,24}\.[A-Z0-9]{64}",
    "datadog, honeycomb, posthog, launchdarkly": r"(?:hc[abxi][il][kc]_[a-z0-9]{58}|ph[xs]_[A-Za-z0-9]{40,50}|(?:api|sdk)-[a-f0-9]{8}-[a-f0-9]{4}-4[a-f0-9]{3}-[89ab][a-f0-9]{3}-[a-f0-9]{12})",
    # work
    "linear": r"lin_(?:api|oauth|wh)_[A-Za-z0-9]{30,70}",
    "notion": r"(?:secret_[A-Za-z0-9]{40,50}|ntn_[A-Za-z0-9]{40,60})",
    "frame.io": r"fio-u-[A-Za-z0-9_=-]{40,80}",
    "figma": r"fig[dour]h?_[A-Za-z0-9_-]{30,60}",
    "airtable": r"pat[A-Za-z0-9]{14}\.[a-f0-9]{64}",
    "asana, clickup, typeform, contentful": r"(?:[12]/\d{10,20}(?:/\d{10,20})?:[a-f0-9]{32}|pk_\d{5,12}_[A-Z0-9]{32}|tfp_[A-Za-z0-9_.=-]{40,70}|CFPAT-[A-Za-z0-9_-]{40,50})",
    "hubspot, intercom, zendesk, dropbox": r"(?:pat-(?:na|eu|ap)\d-[a-f0-9]{8}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{12}|sl\.[A-Za-z0-9_-]{50,})",
    "facebook": r"EAA[A-Za-z0-9]{60,}",
    "line": r"[A-Za-z0-9+/]{150,172}/?1O/w1cDnyilFU=",
    "mapbox": r"sk\.eyJ[A-Za-z0-9_-]{40,}\.[A-Za-z0-9_-]{20,}",
    "age": r"AGE-SECRET-KEY-(?:PQ-)?1[A-Z0-9]{50,}",
    "extended private key, nostr": r"(?:[xyztuv]prv[1-9A-HJ-NP-Za-km-z]{100,112}|nsec1[a-z0-9]{58})",
    "nats": r"S[UAONC][A-Z2-7]{54,56}",
    "json web token": r"eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]{0,}){1,3}",
}
"""Who gives it out, and its form."""

_KNOWN = Pattern(r"(?:^|[^A-Za-z0-9_])(?P<secret>" + "|".join(FORMS.values()) + ")")
_TELEGRAM = Pattern(r"/bot(?P<secret>\d{8,10}:[A-Za-z0-9_-]{30,40})/")
_TWILIO = Pattern(r"AC[a-f0-9]{32}[\"']?[,:;\s]{1,4}[\"']?(?P<secret>[a-f0-9]{32})")

_AWS_PAIR = Pattern(
    r"(?:AKIA|ASIA)[A-Z0-9]{16}[^A-Za-z0-9/+](?:[^\n]|\n){0,80}?[^A-Za-z0-9/+](?P<secret>[A-Za-z0-9/+]{40})(?:$|[^A-Za-z0-9/+=])"
)
"""The secret half, whatever it is called."""
_DRAWN = re.compile("[a-z]{36}")


def find(text: str) -> Iterator[Span]:
    """Keys and tokens of known makers; what goes on behind the form is another thing, such as a hash in a file name."""
    for start, end in _KNOWN.spans(text, "secret"):
        value = text[start:end]
        if not text[end : end + 1].isalnum() and not _is_words(value) and not is_placeholder(value):
            yield start, end
    yield from _TELEGRAM.spans(text, "secret")
    yield from _TWILIO.spans(text, "secret")
    for start, end in _AWS_PAIR.spans(text, "secret"):
        if kinds(text[start:end]) >= 3 and not is_placeholder(text[start:end]):
            yield start, end


def _is_words(value: str) -> bool:
    """Whether the value is small letters and signs only: ``sk-loading-spinner`` is the name of a style. Some makers draw
    keys of small letters alone; no word is so long."""
    return not any(c.isdigit() or c.isupper() for c in value) and not _DRAWN.search(value)


def signs() -> Sequence[Pattern]:
    """See `Detector`."""
    return (_KNOWN, _TELEGRAM, _TWILIO, _AWS_PAIR)
