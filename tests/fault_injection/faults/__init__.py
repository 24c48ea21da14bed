"""Do faults do what they say, to real brokers, and nothing else?"""
