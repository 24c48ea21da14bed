"""What a broker does with the requests of a controller, and what its clients notice (RM-01 to RM-06).

The tester plays the controller, so that it can be replaced, repeat itself, or leave a request out.
"""
