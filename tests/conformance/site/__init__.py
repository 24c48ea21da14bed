"""Does the site for teaching say what catalogue, model and runs say, and nothing else?"""
