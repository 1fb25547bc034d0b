"""Keys and tokens that are known by their form: a prefix, an alphabet and a length that their maker publishes."""

from collections.abc import Iterator, Sequence

from app.policy.detector import Span
from app.policy.linear_patterns import Pattern
from app.policy.placeholders import is_placeholder

FORMS = {
    "aws access key id": r"(?:AKIA|ASIA|ABIA|ACCA|AROA|AIDA)[A-Z0-9]{16}",
    "alibaba": r"LTAI[A-Za-z0-9]{12,26}",
    "tencent": r"AKID[A-Za-z0-9]{28,36}",
    "google api": r"AIza[A-Za-z0-9_-]{30,40}",
    "google oauth": r"(?:GOCSPX-[A-Za-z0-9_-]{20,40}|ya29\.[A-Za-z0-9_.-]{20,}|1//0[A-Za-z0-9_-]{20,})",
    "azure client secret": r"[A-Za-z0-9_~.-]{3}8Q~[A-Za-z0-9_~.-]{31,37}",
    "github": r"(?:gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{22,})",
    "gitlab": r"gl(?:pat|dt|rt|ptt|ft|soat|cbt|imt|agent|oas|rtr|ffct)-[A-Za-z0-9_.=-]{18,}",
    "slack": r"(?:xox[abeoprs]-[A-Za-z0-9-]{10,}|xapp-[A-Za-z0-9-]{20,}|xoxe\.[A-Za-z0-9.-]{20,})",
    "stripe": r"(?:sk|rk)_(?:live|test|prod)_[A-Za-z0-9]{10,}|whsec_[A-Za-z0-9+/=]{20,}",
    "openai, anthropic and others": r"sk-[A-Za-z0-9][A-Za-z0-9_-]{18,}",
    "sendgrid": r"SG\.[A-Za-z0-9_-]{16,30}\.[A-Za-z0-9_-]{30,60}",
    "mailgun": r"key-[a-f0-9]{32}|[a-f0-9]{32}-[a-f0-9]{8}-[a-f0-9]{8}",
    "mailchimp": r"[a-f0-9]{32}-us\d{1,2}",
    "twilio": r"(?:SK|AC)[a-f0-9]{32}",
    "hugging face": r"(?:hf|api_org)_[A-Za-z0-9]{28,50}",
    "groq, xai, replicate, perplexity": r"(?:gsk_|xai-|r8_|pplx-)[A-Za-z0-9]{30,}",
    "npm": r"npm_[A-Za-z0-9]{30,50}",
    "pypi": r"pypi-[A-Za-z0-9_-]{50,}",
    "docker": r"dckr_(?:pat|oat)_[A-Za-z0-9_-]{20,60}",
    "digitalocean": r"do[opr]_v1_[a-f0-9]{40,80}",
    "heroku": r"HRKU-[A-Za-z0-9_-]{30,80}",
    "shopify": r"shp(?:at|ca|pa|ss|tka)_[A-Fa-f0-9]{32}",
    "square": r"(?:EAAA[A-Za-z0-9_-]{50,80}|sq0(?:atp|csp|idp)-[A-Za-z0-9_-]{20,60})",
    "telegram": r"\d{8,10}:[A-Za-z0-9_-]{33,40}",
    "discord": r"[MNO][A-Za-z0-9_-]{22,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40}",
    "new relic": r"NR(?:AK|RA|JS|IQ|II|SP)-[A-Za-z0-9_-]{18,50}|[a-f0-9]{36}NRAL",
    "vault": r"hv[sbr]\.[A-Za-z0-9_-]{20,}",
    "terraform": r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_-]{50,80}",
    "databricks": r"dapi[a-f0-9]{32}(?:-\d)?",
    "linear": r"lin_(?:api|oauth)_[A-Za-z0-9]{30,70}",
    "notion": r"(?:secret_[A-Za-z0-9]{40,50}|ntn_[A-Za-z0-9]{40,60})",
    "figma": r"fig[dou]_[A-Za-z0-9_-]{30,60}",
    "airtable": r"pat[A-Za-z0-9]{14}\.[a-f0-9]{64}",
    "atlassian": r"ATATT3[A-Za-z0-9_=-]{50,}|ATCTT3[A-Za-z0-9_=-]{50,}",
    "grafana": r"(?:glsa_[A-Za-z0-9]{32}_[A-Fa-f0-9]{8}|glc_[A-Za-z0-9+/=]{32,})",
    "sentry": r"sntr(?:ys|yu)_[A-Za-z0-9+/=_-]{40,}",
    "pulumi, planetscale, doppler, postman, rubygems": r"(?:pul-[a-f0-9]{40}|pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_.=-]{30,70}"
    r"|dp\.(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9._-]{40,60}|PMAK-[A-Fa-f0-9]{24}-[A-Fa-f0-9]{34}|rubygems_[a-f0-9]{48})",
    "facebook": r"EAA[A-Za-z0-9]{60,}",
    "dropbox": r"sl\.[A-Za-z0-9_-]{100,}",
    "supabase": r"sb[ps]_[a-f0-9]{40}",
    "zhipu": r"[a-f0-9]{32}\.[A-Za-z0-9]{16}",
    "age": r"AGE-SECRET-KEY-1[A-Z0-9]{50,62}",
    "json web token": r"eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]{0,}){1,3}",
}
"""Who gives it out, and its form."""

_KNOWN = Pattern(r"(?:^|[^A-Za-z0-9_])(?P<secret>" + "|".join(FORMS.values()) + ")")
_TELEGRAM = Pattern(r"/bot(?P<secret>\d{8,10}:[A-Za-z0-9_-]{30,40})/")
_TWILIO = Pattern(r"AC[a-f0-9]{32}[\"']?[,:;\s]{1,4}[\"']?(?P<secret>[a-f0-9]{32})")


def find(text: str) -> Iterator[Span]:
    """Keys and tokens of known makers; what goes on behind the form is another thing, such as a hash in a file name."""
    for start, end in _KNOWN.spans(text, "secret"):
        if not text[end : end + 1].isalnum() and not is_placeholder(text[start:end]):
            yield start, end
    yield from _TELEGRAM.spans(text, "secret")
    yield from _TWILIO.spans(text, "secret")


def signs() -> Sequence[Pattern]:
    """See `Detector`."""
    return (_KNOWN, _TELEGRAM, _TWILIO)
