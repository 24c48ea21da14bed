"""What was predicted against what was measured: numbers compared, races settled, two questions answered."""
