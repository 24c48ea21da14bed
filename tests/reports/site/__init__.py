"""Is a checkpoint drawn as it is?"""
