"""Do the parts of a soak do what they say?"""
