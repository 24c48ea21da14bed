"""Does a trace check notice what no rule allows, and nothing else?"""
