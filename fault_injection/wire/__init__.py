"""The wire between brokers: frames are parsed, decoded, matched with protocol points and let through or held.

Everything but ``proxy`` and its parts is free of sockets, threads and clocks, so each rule of the gate
can be read and tested as a transcript. The original bytes always travel on unchanged; what is decoded is
a copy. The only bytes of its own that the gate ever sends are error answers it was asked for.
"""
