"""Reconciliation of what was produced with what is there, and with what was predicted, by Spark.

The only package that imports pyspark. ``job.reconcile`` reads the topic from the brokers and judges nothing:
it counts and samples facts; ``job.reconcile_from_files`` repeats that from a run directory alone.
"""
