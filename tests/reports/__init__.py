"""Do reports say what a run directory holds? Golden runs, built in a temporary folder."""
