"""The Kafka clients of the tester: the record format, a producer that sends one record per request, topics.

Clients talk to the brokers' client listeners only, never through the gate, and report what they were told
without interpreting it; what an answer means for a record is decided in ``conformance.clients.outcomes``.
"""
