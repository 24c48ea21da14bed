"""How are brokers asked that no schedule can ask: in bytes, in transactions, from a rack?"""
