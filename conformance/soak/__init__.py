"""Volume runs: producers, faults, the prediction of every record from the wire, and the verdict."""
