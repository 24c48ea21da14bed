"""What produces, breaks, predicts, counts and judges at scale: the parts of ``kafka-conformance soak``."""
