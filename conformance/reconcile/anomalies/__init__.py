"""The classes that reconciliation sorts records into, one file each: DataFrame to DataFrame.

Each function marks the records of its class in a boolean column named after it; only ``diverged`` works on
replicas' logs. They state facts: whether one was predicted, or allowed by the settings, is judged elsewhere.
"""
