"""What is done to a cluster from outside, one family of faults per file.

A fault has a name, says whether a cluster is ready for it, and is injected; what it did is told in words, for the
timeline. A fault that can be taken back has a ``heal`` as well; one on a disk has none: what is lost is lost.
"""
