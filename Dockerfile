# The package, warmed up for the pipeline that ships, for a user without rights:
#   docker build --tag spacy-decoders . && docker run --rm --interactive spacy-decoders < text.txt
FROM python:3.12-slim AS build
COPY . /source
RUN python -m venv /venv && /venv/bin/pip install --no-cache-dir /source
# code is kept for the processor of the machine that builds the image: build on one like those that run it
ENV NUMBA_CACHE_DIR=/code OMP_NUM_THREADS=1
RUN /venv/bin/python -m spacy decoders warmup --pipeline en

FROM python:3.12-slim
COPY --from=build /venv /venv
COPY --from=build /code /code
ENV NUMBA_CACHE_DIR=/code OMP_NUM_THREADS=1 PATH=/venv/bin:$PATH
RUN useradd --system spacy
USER spacy
ENTRYPOINT ["python", "-m", "spacy", "decoders"]
CMD ["demo", "--file", "-", "--page", "/dev/null"]
