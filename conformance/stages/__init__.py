"""The stages of one run beside its steps: foretold, begun, examined, evidence collected, judged, judged again."""
