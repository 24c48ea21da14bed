# The tester as an image: .ci/image builds it, docs/installation.md says how it is run.
#
# BASE has Python and may have Java; a base without Java gets Debian's. The wheels lie beside this file, so that nothing
# is fetched here but that.
ARG BASE
FROM ${BASE}
LABEL org.kafka-conformance.image=tester
RUN command -v java >/dev/null || { \
      apt-get update -qq && apt-get install -y -qq --no-install-recommends openjdk-17-jre-headless >/dev/null \
      && rm -rf /var/lib/apt/lists/*; }
COPY wheels /wheels
RUN python3 -m venv /opt/kafka-conformance \
    && /opt/kafka-conformance/bin/pip install --quiet --no-cache-dir --disable-pip-version-check --no-index --find-links /wheels \
       "kafka-conformance[spark,docker,cross-check]" \
    && rm -rf /wheels
ENV PATH=/opt/kafka-conformance/bin:$PATH LC_ALL=C.UTF-8 XDG_CACHE_HOME=/cache
WORKDIR /tester
ENTRYPOINT ["kafka-conformance"]
CMD ["--help"]
