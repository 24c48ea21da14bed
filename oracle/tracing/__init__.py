"""Is what the brokers did on the wire allowed by their release's rules? Observed events, replayed one by one."""
