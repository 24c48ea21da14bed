"""How are the examinations of this area conducted?"""
