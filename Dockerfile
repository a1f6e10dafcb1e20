# reducekit with z3, in the folder that is mounted at /work: see docs/ci.md.
FROM python:3.12-slim
RUN apt-get update -q && apt-get install -q -y --no-install-recommends gcc gdb libc6-dev z3 \
    && rm -rf /var/lib/apt/lists/*
COPY . /src
RUN pip install --no-cache-dir '/src[tui,zstd]' && rm -rf /src
WORKDIR /work
ENTRYPOINT ["reducekit"]
