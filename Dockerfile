# One image for nodes (`moot serve`) and workers (`moot work`). Everything in it is pinned by the same locks
# as at set-up: package-lock.json for the page, constraints.txt for the rest. The wheel has the page and the manual
# inside; its build fails if one is missing.

FROM node:22-slim AS page
WORKDIR /moot
COPY package.json package-lock.json ./
RUN npm ci --silent --no-audit --no-fund --ignore-scripts
COPY scripts/vendor.js scripts/
COPY src/moot/web/static src/moot/web/static
RUN node scripts/vendor.js

FROM python:3.13-slim AS wheel
WORKDIR /moot
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
COPY constraints.txt ./
RUN python -m pip install -c constraints.txt pip build hatchling
COPY README.md ARCHITECTURE.md CONTRIBUTING.md CHANGELOG.md pyproject.toml LICENSE ./
COPY docs docs
COPY scripts/build_hook.py scripts/sync_client.py scripts/
COPY src src
COPY --from=page /moot/src/moot/web/vendor src/moot/web/vendor
RUN python -m build --wheel --no-isolation && python -m venv /opt/moot
# Without the extra `local` (half a gigabyte, not needed for model services). Add it to run local models.
RUN /opt/moot/bin/python -m pip install -c constraints.txt "$(ls dist/moot-*.whl)[cluster,mcp]"

FROM python:3.13-slim
RUN useradd --system --uid 10001 --home-dir /var/lib/moot --create-home moot
COPY --from=wheel /opt/moot /opt/moot
ENV PATH=/opt/moot/bin:$PATH MOOT_DATA=/var/lib/moot MOOT_LOG=json PYTHONUNBUFFERED=1
USER 10001
VOLUME /var/lib/moot
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s --retries=3 \
    CMD ["python", "-c", "from urllib.request import urlopen; urlopen('http://127.0.0.1:8000/health/live', timeout=2)"]
ENTRYPOINT ["moot"]
CMD ["serve", "--host", "0.0.0.0"]
