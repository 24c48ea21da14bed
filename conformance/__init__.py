"""Everything that compares real brokers with the model: scenarios, clients, probes, ledger and judge.

A scenario is interpreted twice, by the oracle and by the runner; what is here drives the real side,
writes down what was seen, and judges it against the prediction that was frozen before.
"""
