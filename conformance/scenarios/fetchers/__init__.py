"""How do the threads behave with which a follower fetches (document 004)?

How many connections they hold, who serves which partition, whose turn it is, which answers they throw away, and what
they say about their lag. Examinations share a cluster of three brokers with three fetchers to every leader.
"""
