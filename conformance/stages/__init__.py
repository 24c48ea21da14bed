"""The stages of one run beside its steps: predicted, begun, examined, evidence collected, judged, judged again."""
