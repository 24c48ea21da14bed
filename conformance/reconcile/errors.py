"""Which error is a failure of the reconciliation itself?"""


class ReconcileError(Exception):
    """The reconciliation could not be done: a harness failure, whose text says what was being done."""
