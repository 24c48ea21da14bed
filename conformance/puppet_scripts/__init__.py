"""One script, two interpreters: a real broker among puppets is held against the model of its release.

A ``PuppetScript`` is a tuple of acts. Each act knows what the model's broker does (``predict``) and how it is done to
a real broker whose controller, followers and leaders the tester plays (``measure``); both give the same named facts.
"""
