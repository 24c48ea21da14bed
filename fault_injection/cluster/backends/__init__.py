"""The places that nodes can run in: child processes on loopback, or containers."""
