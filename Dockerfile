# syntax=docker/dockerfile:1
FROM python:3.11-slim AS build
WORKDIR /src
RUN python -m venv /venv && /venv/bin/pip install --no-cache-dir --disable-pip-version-check uv
COPY pyproject.toml README.md LICENSE ./
COPY app app
ARG EXTRAS=postgres,embed,encrypt
RUN /venv/bin/uv pip install --no-cache --compile-bytecode --python /venv/bin/python ".[${EXTRAS}]" && /venv/bin/uv pip uninstall --python /venv/bin/python uv pip

FROM python:3.11-slim
RUN useradd --system --uid 10001 --create-home --home-dir /data sidecar && chmod 700 /data
COPY --from=build /venv /venv
USER sidecar
WORKDIR /data
ENV PATH=/venv/bin:$PATH PYTHONUNBUFFERED=1 SIDECAR_DATA_DIR=/data SIDECAR_HOST=0.0.0.0 SIDECAR_PORT=8787
EXPOSE 8787
VOLUME /data
HEALTHCHECK --interval=10s --timeout=3s --start-period=5s --retries=3 \
    CMD ["python", "-c", "import os,urllib.request as u; u.urlopen(f'http://127.0.0.1:{os.environ[\"SIDECAR_PORT\"]}/healthz', timeout=2)"]
CMD ["openviking-sidecar", "serve"]
