<<<<<<< HEAD
"""Faults of a soak: drawn, read from files, and carried out on brokers while records are produced."""
=======
"""Do the parts of a soak do what they say?"""
>>>>>>> s-producers
