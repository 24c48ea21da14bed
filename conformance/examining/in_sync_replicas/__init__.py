"""How does a puppet follow a leader as slowly as it must?"""
