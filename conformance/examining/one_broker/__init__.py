"""What do puppets and one broker do to each other, act by act?"""
