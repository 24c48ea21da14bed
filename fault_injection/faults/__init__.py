"""What is done to a cluster from outside, one family of faults per file, and the account that is kept of it.

A fault has a name, says whether a cluster is ready for it and if not why, is injected, and is healed; what a disk lost
stays lost. ``FaultAccount`` stamps each fault when it is armed, has fired and is healed, heals whatever stands in
reverse order however a run ends, and finds the ones that never fired. ``CATALOGUE`` lists them all.
"""
