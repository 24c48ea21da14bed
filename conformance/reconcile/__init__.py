"""Reconciliation of what was produced with what is there, and with what was predicted, by Spark.

The only package that imports pyspark. ``job.read`` reads the topic from the brokers; ``job.reconcile_all`` counts and
samples facts, from run directories alone, and judges nothing.
"""
